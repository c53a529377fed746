/** What `code/git` does with branches, commits and the work tree beside the everyday operations of git.ts. */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import {
  homesLeftOut,
  PACKAGES_LEFT_OUT,
  RUN_LATER_LEFT_OUT,
  SECRETS_LEFT_OUT,
} from '../../world/confinement/protected-places.ts';
import { Failure } from '../../world/failures/failures.ts';
import { shortMark, type CommandContext } from '../../operations/command.ts';
import {
  checkRemote,
  commitOf,
  confined,
  confinedToWrite,
  git,
  gitFailed,
  head,
  isByModel,
  Name,
  Path,
  Paths,
  revision,
  runGit,
  submodules,
} from './run-git.ts';
import { readStatus } from './status.ts';

const Message = z.string().trim().min(1);

export const BRANCH_OPERATIONS = [
  z.strictObject({
    operation: z.literal('show'),
    commit: Name.optional(),
    paths: Paths.optional(),
    file: Path.optional().describe('its content in that commit'),
  }),
  z.strictObject({ operation: z.literal('branches') }),
  z.strictObject({ operation: z.literal('branch'), name: Name, from: Name.optional() }),
  z.strictObject({ operation: z.literal('delete-branch'), name: Name }),
  z.strictObject({ operation: z.literal('switch'), branch: Name, create: z.boolean().optional() }),
  z.strictObject({ operation: z.literal('unstage'), paths: Paths }),
  z.strictObject({ operation: z.literal('restore'), paths: Paths, from: Name.optional() }),
  z.strictObject({ operation: z.literal('stash'), message: Message.optional(), untracked: z.boolean().optional() }),
  z.strictObject({ operation: z.literal('unstash') }),
  z.strictObject({ operation: z.literal('stashes') }),
  z.strictObject({ operation: z.literal('fetch'), remote: Name.optional() }),
  z.strictObject({ operation: z.literal('pull'), remote: Name.optional(), branch: Name.optional() }),
  z.strictObject({ operation: z.literal('merge'), branch: Name, message: Message.optional() }),
] as const;

export type BranchParams = z.infer<(typeof BRANCH_OPERATIONS)[number]>;
type ParamsOf<Operation extends BranchParams['operation']> = Extract<BranchParams, { operation: Operation }>;

const NAMES: ReadonlySet<string> = new Set(BRANCH_OPERATIONS.map(({ shape }) => shape.operation.value));

export const isBranchOperation = (params: { operation: string }): params is BranchParams => NAMES.has(params.operation);

export function runBranchOperation(params: BranchParams, context: CommandContext): Promise<JsonObject> {
  switch (params.operation) {
    case 'show':
      return params.file === undefined ? showCommit(params, context) : showFile(params.file, params, context);
    case 'branches':
      return branches(context);
    case 'branch':
      return createBranch(params, context);
    case 'delete-branch':
      return deleteBranch(params, context);
    case 'switch':
      return switchTo(params, context);
    case 'unstage':
      return unstage(params, context);
    case 'restore':
      return restore(params, context);
    case 'stash':
      return stash(params, context);
    case 'unstash':
      return unstash(context);
    case 'stashes':
      return stashes(context);
    case 'fetch':
      return fetch(params, context);
    case 'pull':
      return pull(params, context);
    case 'merge':
      return merge(params, context);
    default:
      return params satisfies never;
  }
}

/** Of a commit: the id of a file would show what it holds. */
async function showCommit({ commit = 'HEAD', paths }: ParamsOf<'show'>, context: CommandContext): Promise<JsonObject> {
  const options = ['show', '--no-ext-diff', '--no-textconv', '--no-show-signature', ...submodules(context)];
  const limits = await confined(paths ?? [], context);
  const named = `${await revision(commit, context)}^{commit}`;
  const { stdout, truncated } = await git({ args: [...options, '--end-of-options', named, '--', ...limits] }, context);
  return { operation: 'show', output: stdout, commit, ...(truncated === true ? { truncated } : {}) };
}

/** A file as a commit has it, by its path from the project. */
async function showFile(
  file: string,
  { commit = 'HEAD' }: ParamsOf<'show'>,
  context: CommandContext,
): Promise<JsonObject> {
  resolveInside(rootOf(context), file, accessOf(context));
  const plain = file.replace(/^(?:\.\/)+/, '');
  const args = ['show', '--no-textconv', '--end-of-options', `${await revision(commit, context)}:./${plain}`];
  const { stdout, truncated } = await git({ args }, context);
  return { operation: 'show', output: stdout, commit, file, ...(truncated === true ? { truncated } : {}) };
}

async function branches(context: CommandContext): Promise<JsonObject> {
  const format = '--format=%(HEAD)%09%(refname:short)%09%(objectname)%09%(upstream:short)';
  const { stdout } = await git({ args: ['for-each-ref', format, 'refs/heads'] }, context);
  const list = stdout.split('\n').filter(Boolean).map(readBranch);
  const current = list.find(({ isCurrent }) => isCurrent)?.name ?? null;
  return {
    operation: 'branches',
    output: list.map(({ name, isCurrent }) => `${isCurrent ? '*' : ' '} ${name}`).join('\n'),
    current,
    branches: list.map(({ name, commit, upstream }) => ({ name, commit, upstream })),
  };
}

function readBranch(line: string) {
  const [mark = '', name = '', commit = '', upstream = ''] = line.split('\t');
  return { isCurrent: mark === '*', name, commit, upstream: upstream === '' ? null : upstream };
}

/** One that is there already, at the same commit, was made by an attempt before. */
async function createBranch({ name, from }: ParamsOf<'branch'>, context: CommandContext): Promise<JsonObject> {
  const wanted = await commitOf(from ?? 'HEAD', context);
  const found = context.attempt > 1 ? await commitOf(`refs/heads/${name}`, context) : null;
  if (found === null || found !== wanted)
    await git(
      {
        args: ['branch', '--no-track', '--end-of-options', name, ...(from === undefined ? [] : [from])],
        isLogged: true,
      },
      context,
    );
  return { operation: 'branch', output: `branch ${name}`, branch: name, commit: wanted };
}

async function deleteBranch({ name }: ParamsOf<'delete-branch'>, context: CommandContext): Promise<JsonObject> {
  const commit = await commitOf(`refs/heads/${name}`, context);
  if (commit === null && context.attempt > 1)
    return { operation: 'delete-branch', output: 'deleted by an earlier attempt', branch: name, commit };
  const { output } = await git(
    { args: ['branch', '--delete', '--force', '--end-of-options', name], isLogged: true },
    context,
  );
  // Where it was, so that a person can make it again.
  return { operation: 'delete-branch', output, branch: name, commit };
}

async function switchTo({ branch, create }: ParamsOf<'switch'>, context: CommandContext): Promise<JsonObject> {
  const isThere = context.attempt > 1 && (await commitOf(`refs/heads/${branch}`, context)) !== null;
  const makes = create === true && !isThere;
  // Git takes a branch before a tag of that name here, and elsewhere the tag.
  const name = `refs/heads/${branch}`;
  if (!makes) await refuseProtected({ to: (await commitOf(name, context)) === null ? branch : name }, context);
  const args = ['switch', '--no-guess', ...(makes ? ['--create', branch] : ['--end-of-options', branch])];
  const { output } = await git({ args, isLogged: true }, context);
  return { operation: 'switch', output, branch, commit: await head(context) };
}

async function unstage({ paths }: ParamsOf<'unstage'>, context: CommandContext): Promise<JsonObject> {
  const { output } = await git(
    { args: ['restore', '--staged', '--', ...(await confined(paths, context))], isLogged: true },
    context,
  );
  return { operation: 'unstage', output, paths };
}

/** What the files hold now is gone. */
async function restore({ paths, from }: ParamsOf<'restore'>, context: CommandContext): Promise<JsonObject> {
  const limits = await confinedToWrite(paths, context);
  const source = from === undefined ? [] : ['--source', await revision(from, context)];
  const { output } = await git(
    { args: ['restore', ...source, '--worktree', '--', ...limits], isLogged: true },
    context,
  );
  return { operation: 'restore', output, paths };
}

const STASH = 'refs/stash';

/** A stash of an attempt before is known by its name. */
async function stash({ message, untracked }: ParamsOf<'stash'>, context: CommandContext): Promise<JsonObject> {
  const name = `${message ?? 'sentinel'} [${shortMark(context)}]`;
  const latest = await runGit({ args: ['log', '-1', '--walk-reflogs', '--format=%gs', STASH] }, context);
  const isDone = context.attempt > 1 && latest.success && latest.stdout.trim().endsWith(name);
  const before = await commitOf(STASH, context);
  if (!isDone) {
    const options = ['stash', 'push', ...(untracked === true ? ['--include-untracked'] : []), `--message=${name}`];
    await git({ args: [...options, '--', ...(await confinedToWrite([], context))], isLogged: true }, context);
  }
  const commit = await commitOf(STASH, context);
  const stashed = isDone || commit !== before;
  return { operation: 'stash', output: stashed ? name : 'nothing to stash', stashed, commit };
}

interface Unstashing {
  commit: string;
}

/** Which one is taken is noted before, so that an attempt after a crash does not take the next one. */
async function unstash(context: CommandContext): Promise<JsonObject> {
  const { journal } = context.store;
  const noteKey = `unstash ${context.key}`;
  const noted =
    context.attempt > 1 ? ((await journal.find(context.run.handle, noteKey)) as unknown as Unstashing | null) : null;
  const commit = await commitOf(STASH, context);
  if (noted !== null && noted.commit !== commit)
    return { operation: 'unstash', output: 'taken by an earlier attempt', commit: noted.commit };
  if (commit === null) throw new Failure('GIT_FAILED', 'there is no stash to take; "stash" makes one');
  await refuseProtected({ from: `${STASH}^1`, to: STASH }, context);
  // What git did not know when it was stashed is a commit of its own.
  const unknown = await commitOf(`${STASH}^3`, context);
  if (unknown !== null) await refuseProtected({ from: await emptyTree(context), to: unknown }, context);
  await journal.keep(context.run.handle, noteKey, { commit });
  const { output } = await git({ args: ['stash', 'pop', '--quiet'], isLogged: true }, context);
  return { operation: 'unstash', output, commit };
}

async function stashes(context: CommandContext): Promise<JsonObject> {
  if ((await commitOf(STASH, context)) === null) return { operation: 'stashes', output: '', stashes: [] };
  const args = ['log', '--walk-reflogs', '--format=%H%x09%gs', STASH];
  const { stdout } = await git({ args }, context);
  const list = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [commit = '', message = ''] = line.split('\t');
      return { commit, message };
    });
  return { operation: 'stashes', output: list.map(({ message }) => message).join('\n'), stashes: list };
}

async function fetch({ remote = 'origin' }: ParamsOf<'fetch'>, context: CommandContext): Promise<JsonObject> {
  await checkRemote(remote, context);
  const args = ['fetch', '--no-recurse-submodules', '--end-of-options', remote];
  const { output } = await git({ args, isLogged: true }, context);
  return { operation: 'fetch', output, remote };
}

/** Only forwards: what both sides have changed is for `merge`. */
async function pull({ remote = 'origin', branch }: ParamsOf<'pull'>, context: CommandContext): Promise<JsonObject> {
  const named = branch ?? (await git({ args: ['branch', '--show-current'] }, context)).stdout.trim();
  if (named === '') throw new Failure('GIT_FAILED', 'HEAD is at no branch, so there is none to pull; name a "branch"');
  await checkRemote(remote, context);
  await git({ args: ['fetch', '--no-recurse-submodules', '--end-of-options', remote, named] }, context);
  // By its id: what a name stands for may change between the look and the merge.
  const fetched = (await git({ args: ['rev-parse', '--verify', 'FETCH_HEAD^{commit}'] }, context)).stdout.trim();
  await refuseProtected({ to: fetched }, context);
  const { output } = await git({ args: ['merge', '--ff-only', fetched], isLogged: true }, context);
  return { operation: 'pull', output, remote, branch: named, commit: await head(context) };
}

/** Conflicts are a result: the files hold both sides, and a commit ends the merge. */
async function merge({ branch, message }: ParamsOf<'merge'>, context: CommandContext): Promise<JsonObject> {
  const merging = await revision(branch, context);
  await refuseProtected({ from: await mergeBase(merging, context), to: merging }, context);
  const said = message ?? (merging === branch ? undefined : `Merge branch '${branch}'`);
  const told = said === undefined ? ['--no-edit'] : ['-m', said];
  const run = { args: ['merge', ...told, '--end-of-options', merging], isLogged: true };
  const isUnderWay = context.attempt === 1 && (await conflictsIn(context)).length > 0;
  const merged = await runGit(run, context);
  const conflicts = merged.success || isUnderWay ? [] : await conflictsIn(context);
  if (!merged.success && conflicts.length === 0) throw gitFailed(run, merged);
  return { operation: 'merge', output: merged.output, merged: merged.success, conflicts, commit: await head(context) };
}

const UNMERGED = /U|^AA$|^DD$/;

async function conflictsIn(context: CommandContext): Promise<string[]> {
  const args = ['-c', 'core.quotePath=false', 'status', '--porcelain=v2', '--untracked-files=no'];
  const { files } = readStatus((await git({ args }, context)).stdout);
  return files.filter(({ index, workTree }) => UNMERGED.test(`${index}${workTree}`)).map(({ path }) => path);
}

const emptyTree = async (context: CommandContext): Promise<string> =>
  (await git({ args: ['hash-object', '-t', 'tree', '--stdin'], stdin: '' }, context)).stdout.trim();

/** Null where there is none: then what is there is compared. */
async function mergeBase(branch: string, context: CommandContext): Promise<string | null> {
  const found = await runGit({ args: ['merge-base', '--end-of-options', 'HEAD', branch] }, context);
  return found.success ? found.stdout.trim() : null;
}

/**
 * What would write a home of Sentinel is refused, to a sandboxed run what would write definitions, and to a model what
 * would write anything that it does not write: a commit may hold one, as it may hold any file. `from`: HEAD unless stated.
 */
async function refuseProtected(
  { from, to }: { from?: string | null; to: string },
  context: CommandContext,
): Promise<void> {
  const base = from ?? (await head(context)) ?? (await emptyTree(context));
  const refuse = async (
    places: readonly string[],
    { but = [], because }: { but?: readonly string[]; because: string },
  ): Promise<void> => {
    const options = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '--no-textconv', '--end-of-options'];
    // In a larger repository it writes outside the project as well.
    const sought = places.flatMap((path) => ['', 'top,'].map((magic) => path.replace('exclude,', magic)));
    const args = [...options, base, to, '--', ...sought, ...but];
    const place = (await git({ args }, context)).stdout.split('\n').find(Boolean);
    if (place !== undefined) throw new Failure('PATH_PROTECTED', `"${to}" would change ${place}${because}`);
  };
  await refuse(await homesLeftOut(rootOf(context)), {
    because: ' in a home of Sentinel, which no command writes; take it out of the commit',
  });
  const isSandboxed = context.confinement?.mode === 'sandboxed';
  if (isSandboxed)
    await refuse(RUN_LATER_LEFT_OUT, {
      but: PACKAGES_LEFT_OUT,
      because: ', which the command line runs later and no "sandboxed" run writes; do it yourself, or in a "full" run',
    });
  if (isByModel(context))
    await refuse([...SECRETS_LEFT_OUT, ...PACKAGES_LEFT_OUT, ...(isSandboxed ? [] : RUN_LATER_LEFT_OUT)], {
      but: (context.reach?.files ?? []).map((file) => `:(exclude,literal)${file}`),
      because: ', which no model writes; make it a step of the definition, or name the file in "safety.allowFiles"',
    });
}
