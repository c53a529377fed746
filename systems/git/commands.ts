/**
 * `code/git` in the run's project. Values of a definition never become options of git: paths are
 * confined and stand after `--`, names that begin with a dash are refused, the message of a commit
 * goes in by stdin. In `full` git does what the repository's configuration says, hooks and all; in
 * the other modes no program of the repository's choice runs (../confinement/repositories/git-repository.ts).
 */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { changedAction, refuseChanged } from '../../operations/approved-action.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { type Predicted, type SimulatedWorld, simulatedText } from '../../operations/predicted.ts';
import { BRANCH_OPERATIONS, isBranchOperation, runBranchOperation } from './branches.ts';
import { checkRemote, confined, git, head, Name, Paths, revision, runGit, submodules } from './run-git.ts';
import { shownGit } from './shown.ts';
import { readStatus } from './status.ts';

const Params = z.discriminatedUnion('operation', [
  z.strictObject({ operation: z.literal('add'), paths: Paths }),
  z.strictObject({ operation: z.literal('commit'), message: z.string().trim().min(1) }),
  z.strictObject({
    operation: z.literal('diff'),
    base: Name.optional(),
    staged: z.boolean().optional(),
    paths: Paths.optional(),
  }),
  z.strictObject({
    operation: z.literal('log'),
    format: z.string().optional(),
    count: z.number().int().positive().max(COMMAND_BOUNDS.commitsMax).optional(),
  }),
  z.strictObject({ operation: z.literal('push'), remote: Name.optional(), branch: Name.optional() }),
  z.strictObject({ operation: z.literal('status'), paths: Paths.optional() }),
  ...BRANCH_OPERATIONS,
]);
type Params = z.infer<typeof Params>;
type ParamsOf<Operation extends Params['operation']> = Extract<Params, { operation: Operation }>;

async function add({ paths }: ParamsOf<'add'>, context: CommandContext): Promise<JsonObject> {
  const { output } = await git({ args: ['add', '--', ...(await confined(paths, context))], isLogged: true }, context);
  return { operation: 'add', output, paths };
}

async function commit({ message }: ParamsOf<'commit'>, context: CommandContext): Promise<JsonObject> {
  const staged = await runGit({ args: ['diff', '--cached', '--quiet'] }, context);
  if (staged.success) return nothingToCommit(message, context);
  const { output } = await git({ args: ['commit', '--file=-'], stdin: message, isLogged: true }, context);
  return { operation: 'commit', output, committed: true, commit: await head(context) };
}

/** An earlier attempt may have committed before its worker died: then this is its commit. */
async function nothingToCommit(message: string, context: CommandContext): Promise<JsonObject> {
  const last = await runGit({ args: ['log', '-1', '--format=%B'] }, context);
  const committed = context.attempt > 1 && last.success && last.stdout.trim() === message.trim();
  const output = committed ? 'committed by an earlier attempt' : 'nothing to commit';
  return { operation: 'commit', output, committed, commit: await head(context) };
}

async function diff({ base, staged, paths }: ParamsOf<'diff'>, context: CommandContext): Promise<JsonObject> {
  const options = [
    'diff',
    '--no-ext-diff',
    '--no-textconv',
    ...submodules(context),
    ...(staged === true ? ['--cached'] : []),
    '--end-of-options',
  ];
  const limits = await confined(paths ?? [], context);
  const { stdout, truncated } = await git(
    { args: [...options, ...(base === undefined ? [] : [await revision(base, context)]), '--', ...limits] },
    context,
  );
  // Like the text that it stands for, the result says whether there is anything in it.
  return {
    operation: 'diff',
    output: stdout,
    diff: stdout,
    length: stdout.length,
    ...(truncated === true ? { truncated } : {}),
  };
}

const FIELD = '\u001f';
const RECORD = '\u001e';
const COMMIT_FORMAT = `--format=${['%H', '%an', '%ae', '%aI', '%s', '%b'].join('%x1f')}%x1e`;

async function log({ format, count = 20 }: ParamsOf<'log'>, context: CommandContext): Promise<JsonObject> {
  const raw = await git({ args: ['log', `--max-count=${count}`, COMMIT_FORMAT] }, context);
  const commits = raw.stdout
    .split(RECORD)
    .map((text) => text.trimStart())
    .filter((text) => text !== '')
    .map(readCommit);
  const output =
    format === undefined
      ? commits.map((entry) => `${entry.hash.slice(0, 7)} ${entry.subject}`).join('\n')
      : (await git({ args: ['log', `--max-count=${count}`, `--format=${format}`] }, context)).stdout;
  return { operation: 'log', output, commits };
}

function readCommit(text: string) {
  const [hash = '', author = '', email = '', date = '', subject = '', body = ''] = text.split(FIELD);
  return { hash, author, email, date, subject, body: body.trim() };
}

async function push(
  { remote = 'origin', branch = 'HEAD' }: ParamsOf<'push'>,
  context: CommandContext,
): Promise<JsonObject> {
  await checkRemote(remote, context);
  const { output } = await git(
    { args: ['push', '--porcelain', '--end-of-options', remote, branch], isLogged: true },
    context,
  );
  return { operation: 'push', output, remote, branch };
}

async function status({ paths }: ParamsOf<'status'>, context: CommandContext): Promise<JsonObject> {
  const options = ['--porcelain=v2', '--branch', '--untracked-files=all', ...submodules(context)];
  const { stdout } = await git(
    { args: ['-c', 'core.quotePath=false', 'status', ...options, '--', ...(await confined(paths ?? [], context))] },
    context,
  );
  const found = readStatus(stdout);
  const output = found.files.map(({ index, workTree, path }) => `${index}${workTree} ${path}`).join('\n');
  return { operation: 'status', output, ...found, clean: found.files.length === 0 };
}

async function runOperation(params: Params, context: CommandContext): Promise<JsonObject> {
  await refuseChanged(context, () => shownGit(params, context), changedAction(`"${params.operation}" of code/git`));
  if (isBranchOperation(params)) return runBranchOperation(params, context);
  switch (params.operation) {
    case 'add':
      return add(params, context);
    case 'commit':
      return commit(params, context);
    case 'diff':
      return diff(params, context);
    case 'log':
      return log(params, context);
    case 'push':
      return push(params, context);
    case 'status':
      return status(params, context);
    default:
      return params satisfies never;
  }
}

const Result = z.looseObject({ operation: z.string(), output: z.string() }) as unknown as z.ZodType<JsonObject>;

/** As a command line, it is taken to succeed. */
function predict({ operation, paths = [] }: JsonObject, { files }: SimulatedWorld): Predicted {
  for (const path of Array.isArray(paths) ? paths : [paths]) files.check(simulatedText(path));
  return {
    text: `git ${simulatedText(operation)}`,
    source: 'assumed',
    result: { success: true, exitCode: 0, stdout: '', stderr: '', output: '' },
  };
}

export const gitCommands: Command[] = [
  defineCommand({
    name: 'code/git',
    description:
      'Runs a git operation in the project: status, diff, log, show, add, commit, switch, restore and others, each with fields of its own.',
    permission: 'write',
    operations: {
      diff: 'read',
      log: 'read',
      status: 'read',
      show: 'read',
      branches: 'read',
      stashes: 'read',
      restore: 'delete',
      'delete-branch': 'delete',
      push: 'network',
      fetch: 'network',
      pull: 'network',
    },
    speed: 'long',
    secrets: 'values',
    writesFiles: ({ operation }) => operation === 'pull',
    textField: 'output',
    textParams: ['message'],
    params: Params,
    result: Result,
    run: runOperation,
    predict,
    resolves: true,
    resolve: shownGit,
  }),
];
