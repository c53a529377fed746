/**
 * `code/git` in the run's project. Values of a definition never become options of git: paths are
 * confined and stand after `--`, names that begin with a dash are refused, the message of a commit
 * goes in by stdin. In `full` git does what the repository's configuration says, hooks and all; in
 * the other modes no program of the repository's choice runs (../confinement/git-repository.ts).
 */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { Failure } from '../failures/failures.ts';
import { SHELL_BOUNDS } from '../shell/process/bounds.ts';
import { runShell, type ShellResult } from '../shell/run-shell.ts';
import { homesLeftOut, SECRETS_LEFT_OUT } from '../confinement/protected-places.ts';
import { findRepository, gitProgram, withReadOnlyView, withSafeConfiguration } from '../confinement/git-repository.ts';
import type { SandboxRequest } from '../confinement/sandbox.ts';
import { COMMAND_BOUNDS } from './bounds.ts';
import { type Command, type CommandContext, defineCommand } from './command.ts';
import { readStatus } from './git-status.ts';
import { accessOf, resolveInside } from '../confinement/confine.ts';

/** A dash would make an option of it, a colon git's own path syntax or a transport. */
const Name = z.string().regex(/^[^-:+\s][^:\s]*$/, 'must be a plain name: no leading "-" or "+", no ":" and no space');
const Path = z.string().regex(/^[^-:]/, 'must not begin with "-" or ":" (write "./-name" instead)');
const Paths = z.union([Path.transform((path) => [path]), z.array(Path).min(1)]);

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
]);
type Params = z.infer<typeof Params>;
type ParamsOf<Operation extends Params['operation']> = Extract<Params, { operation: Operation }>;

const ENVIRONMENT = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat', LC_ALL: 'C' };

interface GitRun {
  args: string[];
  stdin?: string;
  /** One process of a step writes the step's log: the one that does what the step asks for. */
  isLogged?: boolean;
}

function runGit({ args, stdin, isLogged = false }: GitRun, context: CommandContext): Promise<ShellResult> {
  const { project } = context.run;
  const mode = context.confinement?.mode;
  const run = (command: string, env: Record<string, string>, sandbox?: SandboxRequest): Promise<ShellResult> =>
    runShell(
      {
        command,
        args: ['--no-pager', '-c', 'color.ui=false', '-c', 'safe.bareRepository=explicit', ...args],
        env: { ...ENVIRONMENT, ...env },
        timeoutMs: context.timeoutMs,
        captureBytes: SHELL_BOUNDS.captureBytesMax,
        isLogged,
        ...(stdin === undefined ? {} : { stdin }),
        ...(sandbox === undefined ? {} : { sandbox }),
      },
      context,
    );
  if (mode === undefined) return run('git', agent());
  const repository = findRepository(project, mode);
  const program = gitProgram(project);
  return mode === 'readonly'
    ? withReadOnlyView(repository, (variables) => run(program, variables))
    : withSafeConfiguration(repository, (variables, written) => run(program, variables, { repository: written }));
}

/** Where remotes are reached by ssh; its name looks like a secret's. */
const agent = (): Record<string, string> => {
  const socket = process.env['SSH_AUTH_SOCK'];
  return socket === undefined ? {} : { SSH_AUTH_SOCK: socket };
};

async function git(run: GitRun, context: CommandContext): Promise<ShellResult> {
  const result = await runGit(run, context);
  if (result.success) return result;
  const said = (result.stderr.trim() || result.output.trim()).slice(0, 2000);
  throw new Failure(
    'GIT_FAILED',
    `git ${run.args[0] ?? ''} ended with ${result.exitCode}: ${said || 'no message'}; repair the repository's state or the step's params`,
    {
      details: { exitCode: result.exitCode, stderr: result.stderr.slice(-SHELL_BOUNDS.failureTailBytes) },
    },
  );
}

/** Paths as git takes them, without what is in a home of Sentinel. */
async function confined(paths: readonly string[], context: CommandContext): Promise<string[]> {
  for (const path of paths) resolveInside(context.run.project, path, accessOf(context));
  const secrets = context.confinement?.byModel === true ? SECRETS_LEFT_OUT : [];
  return [...paths, ...(await homesLeftOut(context.run.project)), ...secrets];
}

/** In a submodule git would ask the submodule's own configuration. */
const submodules = (context: CommandContext): string[] =>
  context.confinement?.mode === undefined ? [] : ['--ignore-submodules=all'];

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

async function head(context: CommandContext): Promise<string | null> {
  const result = await runGit({ args: ['rev-parse', '--verify', '--quiet', 'HEAD'] }, context);
  return result.success ? result.stdout.trim() : null;
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
    { args: [...options, ...(base === undefined ? [] : [base]), '--', ...limits] },
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

function runOperation(params: Params, context: CommandContext): Promise<JsonObject> {
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

export const gitCommands: Command[] = [
  defineCommand({
    name: 'code/git',
    description:
      'Runs a git operation in the project: status, diff, log, add, commit and others, each with fields of its own.',
    permission: 'write',
    operations: { diff: 'read', log: 'read', status: 'read', push: 'network' },
    speed: 'long',
    textField: 'output',
    textParams: ['message'],
    params: Params,
    result: Result,
    run: runOperation,
  }),
];
