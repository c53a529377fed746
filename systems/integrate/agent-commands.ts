/**
 * `integrate/edit` and `integrate/put`: what a model changes files with. It changes only what the snapshot holds, so that
 * all that it did is judged, and taken back where it has to be: no packages, no ignored files, no evidence.
 */
import { sep } from 'node:path';
import * as z from 'zod';
import type { Json, JsonObject } from '../../language/json.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { orNotJudged, placeIn } from './place.ts';
import { UNJUDGED, UNSEEN } from './stated-failures.ts';
import { isEvidence } from './tree-changes.ts';

const Path = z.string().min(1).describe('a file, from the root of the project');

async function checkSeen(path: string, context: Context): Promise<void> {
  const { root, trees } = await placeIn(context);
  const place = resolveInside(rootOf(context), path, accessOf(context, { writes: true }))
    .slice(root.length + 1)
    .split(sep)
    .join('/');
  const names = place.split('/');
  const isOut =
    isEvidence(place) || names.some((name) => name === 'node_modules' || /^\.(?:git|sentinel)$/i.test(name));
  const isIgnored = async (): Promise<boolean> => {
    const said = await trees.git.text(['check-ignore', '--no-index', '-z', '--stdin'], {
      stdin: `./${place}\0`,
      isPatterned: true,
      codes: [0, 1],
    });
    return said !== '';
  };
  if (isOut || (await orNotJudged(isIgnored)))
    throw new Failure(
      'INTEGRATION_UNSEEN',
      `"${path}" is in no state of the project, so a change of it could not be judged; change the code itself`,
    );
}

const performed = async (command: string, params: JsonObject & { path: string }, context: Context): Promise<Json> => {
  await checkSeen(params.path, context);
  return context.call(command, params);
};

export const agentCommands: Command[] = [
  defineCommand({
    name: 'integrate/edit',
    description: 'Replaces a passage of a file by another.',
    permission: 'write',
    speed: 'long',
    textParams: ['old', 'new'],
    failures: { ...UNSEEN, ...UNJUDGED },
    params: z.strictObject({
      path: Path,
      old: z.string().min(1).describe('the passage as it stands in the file, with enough around it to be there once'),
      new: z.string().describe('what comes in its place'),
    }),
    result: z.json(),
    run: (params, context) => performed('code/edit', params, context),
  }),
  defineCommand({
    name: 'integrate/put',
    description: 'Writes a file as a whole.',
    permission: 'write',
    speed: 'long',
    textParams: ['content'],
    failures: { ...UNSEEN, ...UNJUDGED },
    params: z.strictObject({ path: Path, content: z.string() }),
    result: z.json(),
    run: (params, context) => performed('code/write', params, context),
  }),
];
