/** A process that writes a changeset as a worker does: `node writer.ts FOLDER HOME FILE`. */
import { readFileSync } from 'node:fs';
import { applyFiles } from '../../../systems/cycle/changesets/apply.ts';
import type { Operation } from '../../../systems/cycle/changesets/changeset.ts';
import { checkChangeset } from '../../../systems/cycle/changesets/check.ts';
import { placeOf, ShadowGit } from '../../../world/git/trees/shadow-git.ts';

const [root = '', home = '', file = ''] = process.argv.slice(2);
const operations = JSON.parse(readFileSync(file, 'utf8')) as Operation[];
const git = await ShadowGit.open(placeOf(home, root), root);
const { files } = await checkChangeset({ operations }, { root, access: { writes: true }, git });
applyFiles({ root, place: git.place, check: () => undefined }, files, 'killed');
