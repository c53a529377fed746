/** `sentinel/deploy`: a person has a saved sentinel, and all that it names, found by its name in another project. */
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import * as z from 'zod';
import { changedAction } from '../../operations/approved-action.ts';
import type { Context } from '../../operations/command.ts';
import { savingOf } from '../../operations/brought-definition.ts';
import type { Saving } from '../../prisma/store/contract/sentinel-contract.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { Failure } from '../../world/failures/failures.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import { foundIn, neededBy } from './export.ts';
import { Name } from './load.ts';
import { Change, changesFor } from './plan.ts';

export const DeployParams = z.strictObject({
  sentinelId: Name.describe('the name of a saved sentinel, or the id of a version'),
  project: z.string().refine(isAbsolute, 'must be the absolute path of a folder'),
  preview: z.boolean().optional().describe('says what would be done, and does nothing'),
  expects: z
    .string()
    .optional()
    .describe('"digest" of a preview: where it would be something else by now, nothing is done'),
});

export const DeployResult = z.strictObject({
  name: z.string(),
  id: z.string(),
  project: z.string(),
  changes: z.array(Change),
  /** That they name, and that the other project has to have. */
  commands: z.array(z.string()),
  digest: z.string(),
  done: z.boolean(),
});

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

export async function deploy(
  { sentinelId, project: given, preview = false, expects }: z.infer<typeof DeployParams>,
  context: Context,
): Promise<z.infer<typeof DeployResult>> {
  const { store, session, run } = context;
  if (!isFolder(given)) throw new Failure('PATH_NOT_USABLE', `"${given}" is no folder; name that of a project`);
  const project = realOf(given);
  const found = await foundIn(sentinelId, context);
  const { library, commands } = await neededBy([found.definition], context);
  const definitions = [found.definition, ...library];
  const owner = { persona: run.persona, project };
  const changes = await changesFor(definitions, owner, context);
  const { name, hash: id, tags, isPublic, persona: parentPersona } = found;
  const plan = { name, id, project, changes, commands, digest: contentHash({ id, project, changes }) };
  if (preview) return { ...plan, done: false };
  if (expects !== undefined && expects !== plan.digest) throw changedAction('sentinel/deploy');
  const by: Saving = { ...savingOf(context), ...owner, origin: { project: found.project, owner: parentPersona, id } };
  // In the order of names, in which every writer takes them.
  for (const definition of definitions.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const said = definition === found.definition ? { tags, isPublic, parentPersona } : {};
    await store.sentinels.save(session, definition, { ...by, ...said });
  }
  return { ...plan, done: true };
}
