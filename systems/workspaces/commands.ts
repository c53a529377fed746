/** `workspace/…`: a run works in a work tree or a copy of its own, and its branch is merged when somebody says so. */
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { commitWork } from '../../operations/workspaces/end-workspace.ts';
import { type Merged, mergeInto, sourcesOf, targetOf } from '../../operations/workspaces/merge-branches.ts';
import { openWorkspace, type Owner } from '../../operations/workspaces/open-workspace.ts';
import { type Workspace, workspaceAt, workspacesOf } from '../../operations/workspaces/records.ts';
import { gone, notFound } from '../../operations/workspaces/refusals.ts';
import { removeWorkspace, standingOf } from '../../operations/workspaces/remove-workspace.ts';
import { CONFLICT_KINDS } from '../../world/git/worktrees/merge-commits.ts';
import { Failure } from '../../world/failures/failures.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import { existsSync } from 'node:fs';

/** A dash would make an option of it, and a colon a path of git's own. */
const Branch = z
  .string()
  .regex(/^[^-:+\s\0][^:\s\0]*$/, 'must be the name of a branch: no leading "-" or "+", no ":" and no space')
  .max(200);
const Name = z.string().min(1).max(300);

const Opened = z.strictObject({
  workspace: z.string().nullable(),
  isolationType: z.string(),
  branch: z.string().nullable(),
  base: z.string().nullable(),
  root: z.string().nullable(),
});

const CreateParams = z
  .strictObject({
    isolationType: z.enum(['worktree', 'copy', 'sandbox', 'project']).default('worktree'),
    branch: Branch.optional().describe('its branch; without it, one named after the run'),
    from: Branch.optional().describe(
      'the branch, tag or commit that it begins with; HEAD of the project unless stated',
    ),
    reuse: z.boolean().optional().describe('goes on with the branch, or the workspace, that there is'),
  })
  .refine(({ isolationType, branch, from }) => isolationType !== 'project' || (branch ?? from) === undefined, {
    message: 'with "project" the run works in the project itself, on the branch that is checked out there',
    path: ['branch'],
  });

async function create(params: z.infer<typeof CreateParams>, context: Context): Promise<z.infer<typeof Opened>> {
  const { isolationType: asked, branch = `sentinel/${context.run.handle.replaceAll(/[^\w.-]+/g, '.')}` } = params;
  await commitOwn(context);
  if (asked === 'project') return { workspace: null, isolationType: asked, branch: null, base: null, root: null };
  const isolationType = asked === 'sandbox' ? 'copy' : asked;
  const { from, reuse } = params;
  const made = await openWorkspace(context.run.project, { isolationType, branch, from, reuse }, ownerIn(context));
  return { workspace: made.name, isolationType, branch: made.branch, base: made.base, root: made.root };
}

const ownerIn = ({ run, key, store }: Context): Owner => ({
  handle: run.handle,
  key,
  isRunning: async (handle) => (await store.runs.find(handle))?.finishedAt === null,
});

/** A run leaves nothing uncommitted where it goes on elsewhere. */
async function commitOwn(context: Context): Promise<void> {
  const own = await currentIn(context);
  if (own !== null && own.handle === context.run.handle && existsSync(own.root))
    await commitWork(own, { title: 'Work of a run', by: own.handle });
}

/** The workspace that the step works in. */
const currentIn = async ({ confinement }: Context): Promise<Workspace | null> =>
  confinement?.root === undefined ? null : workspaceAt(confinement.root);

const Conflict = z.strictObject({
  branch: z.string(),
  path: z.string(),
  kind: z.enum(CONFLICT_KINDS),
  message: z.string(),
  hunks: z.array(z.strictObject({ line: z.number(), ours: z.string(), base: z.string(), theirs: z.string() })),
  hunksLeftOut: z.number(),
});
type Conflict = z.infer<typeof Conflict>;

const MergeResult = z.strictObject({
  into: z.string(),
  commit: z.string(),
  merged: z.array(z.strictObject({ branch: z.string(), commit: z.string() })),
  conflicts: z.array(Conflict),
});

const branchesMax = 100;

const MergeParams = z.strictObject({
  branches: z.union([Branch.transform((branch) => [branch]), z.array(Branch).min(1).max(branchesMax)]),
  into: Branch.optional().describe('a branch other than that of the workspace, also one that is checked out'),
  resolved: z
    .array(z.string().min(1))
    .max(1000)
    .optional()
    .describe('files that are in the workspace as they are to be, whatever was in conflict in them'),
});

async function merge({ branches, into, resolved }: z.infer<typeof MergeParams>, context: Context) {
  const { run, caller } = context;
  const workspace = await currentIn(context);
  if (context.confinement?.root !== undefined && workspace !== null && !existsSync(workspace.root))
    throw gone(workspace);
  if (into !== undefined && caller.kind === 'step' && caller.byModel)
    throw new Failure(
      'RIGHTS_EXCEEDED',
      'a model merges into the branch of its workspace alone; leave out "into", or make it a step of the definition',
    );
  const project = realOf(run.project);
  const target = await targetOf(project, workspace, into);
  const sources = await sourcesOf(target.git, project, [...new Set(branches)]);
  const below = target.workspace === null || target.workspace.below === '' ? '' : `${target.workspace.below}/`;
  const merged = await mergeInto(target, {
    sources,
    by: run.handle,
    resolved: (resolved ?? []).map((path) => `${below}${path}`),
  });
  const conflicts = shown(merged.conflicts).map((conflict) => ({
    ...conflict,
    path: withoutPrefix(conflict.path, below),
  }));
  return { into: target.branch, commit: merged.commit, merged: merged.merged, conflicts };
}

/** As the steps of the run name it, which may work in a folder of the repository. */
const withoutPrefix = (path: string, below: string): string =>
  path.startsWith(below) ? path.slice(below.length) : path;

/** Of the passages of all conflicts together; a model reads them, and history holds them. */
const hunksCharsMax = 100_000;

function shown(conflicts: Merged['conflicts']): Conflict[] {
  let left = hunksCharsMax;
  return conflicts.map(({ hunks, ...conflict }) => {
    const kept = hunks.filter(({ ours, base, theirs }) => {
      left -= ours.length + base.length + theirs.length;
      return left >= 0;
    });
    return { ...conflict, hunks: kept, hunksLeftOut: hunks.length - kept.length };
  });
}

const Row = z.strictObject({
  workspace: z.string(),
  branch: z.string(),
  isolationType: z.string(),
  path: z.string(),
  run: z.string(),
  isRunning: z.boolean(),
  isThere: z.boolean(),
  commit: z.string().nullable(),
  parent: z.string().nullable(),
  uncommitted: z.number(),
  unmerged: z.number(),
  unresolved: z.array(z.string()),
  madeAt: z.number(),
});

async function list(context: Context): Promise<z.infer<typeof Row>[]> {
  const { isRunning } = ownerIn(context);
  const rows: z.infer<typeof Row>[] = [];
  for (const one of await workspacesOf(realOf(context.run.project))) {
    const { isThere, commit, uncommitted, unmerged } = await standingOf(one);
    rows.push({
      workspace: one.name,
      branch: one.branch,
      isolationType: one.isolationType,
      path: one.root,
      run: one.handle,
      isRunning: await isRunning(one.handle),
      isThere,
      commit,
      parent: one.parent,
      uncommitted: uncommitted.length,
      unmerged,
      unresolved: one.unresolved.map(({ branch }) => branch),
      madeAt: one.madeAt,
    });
  }
  return rows;
}

const RemoveParams = z.strictObject({
  workspace: Name.optional().describe('its name, its branch or its folder; that of the run unless stated'),
  force: z.boolean().optional().describe('also what is in no commit, or on no other branch'),
  keepBranch: z.boolean().optional(),
});

const Removed = z.strictObject({
  workspace: z.string(),
  branch: z.string(),
  commit: z.string().nullable(),
  isBranchDeleted: z.boolean(),
});
/** Of the run's own workspace: the run goes on in the project. */
const RemoveResult = z.union([Removed, Removed.extend({ root: z.null() })]);

async function remove({ workspace: asked, force, keepBranch }: z.infer<typeof RemoveParams>, context: Context) {
  const { run, caller } = context;
  if (force === true && caller.kind === 'step' && caller.byModel)
    throw new Failure(
      'RIGHTS_EXCEEDED',
      'no model forces the removal of a workspace; make it a step of the definition',
    );
  const own = await currentIn(context);
  const found = asked === undefined ? own : await named(asked, context);
  if (found === null) throw notFound('the run works in no workspace; name the one to remove as "workspace"');
  const isOwn = found.folder === own?.folder;
  if (force !== true && found.handle !== run.handle && (await ownerIn(context).isRunning(found.handle)))
    throw new Failure(
      'WORKSPACE_UNMERGED',
      `the run ${found.handle} works in the workspace "${found.name}"; wait for its end, or say "force": true`,
    );
  const { commit, isBranchDeleted } = await removeWorkspace(found, { force, keepBranch });
  const removed = { workspace: found.name, branch: found.branch, commit, isBranchDeleted };
  return isOwn ? { ...removed, root: null } : removed;
}

async function named(asked: string, { run }: Context): Promise<Workspace> {
  const all = await workspacesOf(realOf(run.project));
  const found = all.find(({ name, branch, folder, root }) => [name, branch, folder, root].includes(asked));
  if (found !== undefined) return found;
  const there =
    all.length === 0
      ? 'there is none'
      : `there are ${all
          .map(({ name }) => name)
          .slice(0, 20)
          .join(', ')}`;
  throw notFound(`the project has no workspace "${asked}" (${there})`);
}

const LONG_MS = 900_000;

export const workspaceCommands: Command[] = [
  defineCommand({
    name: 'workspace/create',
    description:
      'Makes a work tree or a copy of the project for the run, with a branch of its own, in which its steps work from then on.',
    permission: 'write',
    speed: 'long',
    timeoutMs: LONG_MS,
    movesRun: true,
    doors: ['step'],
    textField: 'branch',
    params: CreateParams,
    result: Opened,
    run: create,
    predict({ isolationType = 'worktree', branch }) {
      const root = isolationType === 'project' ? null : undefined;
      const result = {
        workspace: simulatedText(branch),
        isolationType: simulatedText(isolationType),
        branch: simulatedText(branch),
        base: null,
      };
      return {
        text: `makes a workspace (${simulatedText(isolationType)}) on ${simulatedText(branch)}`,
        source: 'assumed',
        result: root === null ? { ...result, root } : result,
      };
    },
  }),
  defineCommand({
    name: 'workspace/merge',
    description:
      'Merges branches into that of the workspace, each as a whole or not at all, and lists what is in conflict.',
    permission: 'write',
    speed: 'long',
    timeoutMs: LONG_MS,
    params: MergeParams,
    result: MergeResult,
    run: merge,
    predict: ({ branches }) => ({
      text: `merges ${Array.isArray(branches) ? branches.map((one) => simulatedText(one)).join(', ') : simulatedText(branches)}`,
      source: 'assumed',
      result: { into: '', commit: '', merged: [], conflicts: [] },
    }),
  }),
  defineCommand({
    name: 'workspace/list',
    description: 'Lists the workspaces of the project on this host, with what in them is in no commit or not merged.',
    permission: 'read',
    speed: 'long',
    params: z.strictObject({}),
    result: z.array(Row),
    run: (_params, context) => list(context),
  }),
  defineCommand({
    name: 'workspace/remove',
    description: 'Removes a workspace with its branch; refuses where work would be lost.',
    permission: 'delete',
    speed: 'long',
    timeoutMs: LONG_MS,
    movesRun: true,
    params: RemoveParams,
    result: RemoveResult,
    run: remove,
  }),
];
