/** Fourteen operations of all kinds, on a folder that holds what they change and a person's own file. */
import { lstatSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Operation } from '../../../systems/cycle/changesets/changeset.ts';
import { writtenProject, type WrittenProject } from '../harness/written-project.ts';

const modified = [1, 2, 3, 4, 5];
const deleted = [1, 2, 3];

export const FOURTEEN: Operation[] = [
  ...modified.map((n): Operation => ({ operation: 'MODIFY', path: `m${n}.txt`, content: `changed ${n}\n` })),
  ...[1, 2, 3, 4].map((n): Operation => ({ operation: 'CREATE', path: `made/${n}/file.txt`, content: `made ${n}\n` })),
  ...deleted.map((n): Operation => ({ operation: 'DELETE', path: `d${n}.txt` })),
  { operation: 'CREATE', path: 'bin.dat', base64: Buffer.from([0, 1, 2]).toString('base64'), mode: '100755' },
  { operation: 'MODIFY', path: 'link', content: 'm2.txt' },
];

/** Of them, those that write something beside its place first. */
export const DRAFTS = FOURTEEN.filter(({ operation }) => operation !== 'DELETE').length;

const names = [...modified.map((n) => `m${n}.txt`), ...deleted.map((n) => `d${n}.txt`)];

export const BEFORE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(names.map((name) => [name, `${name} before\n`])),
  'own.txt': "a person's own\n",
};

export const linkBefore = (folder: string): void => symlinkSync('m1.txt', join(folder, 'link'));

export async function projectOfFourteen(): Promise<WrittenProject> {
  const written = await writtenProject(BEFORE);
  linkBefore(written.project);
  return written;
}

/** Of everything in a folder: its kind and all bits of its mode, its content, and where a link leads. */
export const treeOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => {
      const place = join(folder, path);
      const seen = lstatSync(place);
      const holds = seen.isSymbolicLink() ? readlinkSync(place) : seen.isFile() ? readFileSync(place, 'latin1') : '';
      return `${path} ${seen.mode.toString(8)} ${holds}`;
    })
    .toSorted();
