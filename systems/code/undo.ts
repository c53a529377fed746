/** `code/undo`: takes back what this run did to the files of its project. */
import * as z from 'zod';
import type { Json } from '../../language/json.ts';
import type { Undone } from '../../operations/checkpoints/undo.ts';
import { undoFromStep, undoRun } from '../../operations/checkpoints/undo-run.ts';
import { accessOf, rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { changedAction, refuseChanged, shownOf } from '../../operations/approved-action.ts';
import { refuseForce } from '../../operations/brought.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';

const Params = z.strictObject({
  key: z.string().min(1).optional(),
  only: z.boolean().optional(),
  force: z.boolean().optional(),
});

const Finding = z.strictObject({ path: z.string(), why: z.string() });
const Result = z.strictObject({
  files: z.array(z.strictObject({ path: z.string(), done: z.enum(['restored', 'removed']) })),
  conflicts: z.array(Finding),
  left: z.array(Finding),
  gaps: z.array(z.strictObject({ key: z.string(), why: z.string() })),
});

const shownMax = 20;

/** As what was done is told, but as a look, and from outside of the step. */
async function shownUndo({ key, only, force }: z.infer<typeof Params>, context: CommandContext): Promise<Json> {
  const { run, store } = context;
  const access = accessOf(context, { writes: true });
  return planned(await undoRun(store.checkpoints, { handle: run.handle, key, only, force, access, dryRun: true }));
}

const planned = ({ files, conflicts }: Undone): Json => ({
  files: shownOf(files.map(({ path, done }) => `${done}: ${path}`)),
  conflicts: shownOf(conflicts.map(({ path, why }) => `${path}: ${why}`)),
});

async function undo({ key, only, force }: z.infer<typeof Params>, context: CommandContext) {
  const { run, store, checkpoints } = context;
  refuseForce(force, context);
  if (checkpoints === undefined)
    throw new Failure('UNDO_REFUSED', 'this worker takes no checkpoints; start it without SENTINEL_CHECKPOINTS=false');
  const trees = await checkpoints.treesOf(rootOf(context));
  const request = { handle: run.handle, key, only, force, access: accessOf(context, { writes: true }) };
  const own = { handle: run.handle, key: context.key };
  const look = async (): Promise<Json> =>
    planned(await undoFromStep(store.checkpoints, trees, own, { ...request, dryRun: true }));
  await refuseChanged(context, look, changedAction('code/undo'));
  context.checkAttempt?.();
  const undone = await undoFromStep(store.checkpoints, trees, own, request);
  const { files, conflicts, left, gaps } = undone;
  if (undone.done) return { files, conflicts, left, gaps };
  const shown = conflicts.slice(0, shownMax).map(({ path, why }) => `${path}: ${why}`);
  const more = conflicts.length > shownMax ? ` and ${conflicts.length - shownMax} more` : '';
  throw new Failure(
    'UNDO_CONFLICT',
    `nothing was restored, because ${conflicts.length === 1 ? 'a file is' : 'files are'} not as the run left them (${shown.join('; ')}${more}); look at them, or say "force": true, which keeps their present content in a checkpoint`,
    { details: { conflicts: conflicts.slice(0, 100).map(({ path, why }) => ({ path, why })) } },
  );
}

export const undoCommands: Command[] = [
  defineCommand({
    name: 'code/undo',
    description:
      'Takes back what this run did to the files of the project: all of it, or from the step "key" on. Files that somebody else changed meanwhile are never overwritten.',
    // Files that the run has made are removed.
    permission: 'delete',
    speed: 'long',
    secrets: 'values',
    failures: {
      UNDO_CONFLICT: { title: 'Files that an undo would restore were changed by somebody else', retryable: false },
    },
    params: Params,
    result: Result,
    run: undo,
    predict: ({ key }) => ({
      text: `takes back what the run changed${typeof key === 'string' ? ` from ${key} on` : ''}`,
      source: 'assumed',
      result: { files: [], conflicts: [], left: [], gaps: [] },
    }),
    resolves: true,
    resolve: shownUndo,
  }),
];
