/** How `code/git` runs git: in the run's project, held in as the run's mode says, with values that are never options. */
import * as z from 'zod';
import { accessOf, resolveInside, rootOf } from '../../world/confinement/confine.ts';
import {
  findRepository,
  gitProgram,
  withReadOnlyView,
  withSafeConfiguration,
} from '../../world/confinement/repositories/git-repository.ts';
import {
  homesLeftOut,
  PACKAGES_LEFT_OUT,
  RUN_LATER_LEFT_OUT,
  SECRETS_LEFT_OUT,
} from '../../world/confinement/protected-places.ts';
import { repositoryBehind } from '../../world/git/worktrees/places.ts';
import { realOf } from '../../world/own-programs/helper-programs.ts';
import type { SandboxRequest } from '../../world/confinement/sandbox.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { runShell, type ShellResult } from '../../operations/shell/run-shell.ts';
import type { CommandContext } from '../../operations/command.ts';
import { defined } from '../../language/defined.ts';

/** A dash would make an option of it, a colon git's own path syntax or a transport. */
export const Name = z
  .string()
  .regex(/^[^-:+\s][^:\s]*$/, 'must be a plain name: no leading "-" or "+", no ":" and no space');
export const Path = z.string().regex(/^[^-:]/, 'must not begin with "-" or ":" (write "./-name" instead)');
export const Paths = z.union([Path.transform((path) => [path]), z.array(Path).min(1)]);

const ENVIRONMENT = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', GIT_PAGER: 'cat', LC_ALL: 'C' };

/** Programs that git starts for a look, too, where the repository's configuration names them. */
const UNASKED = ['-c', 'core.fsmonitor=false', '-c', 'log.showSignature=false'];

/** A model sees of a submodule which commit it is at: what is in it has no names of this repository. */
const CLOSED = ['-c', 'diff.submodule=short', '-c', 'submodule.recurse=false'];

export interface GitRun {
  args: string[];
  stdin?: string;
  /** One process of a step writes the step's log: the one that does what the step asks for. */
  isLogged?: boolean;
}

export async function runGit({ args, stdin, isLogged = false }: GitRun, context: CommandContext): Promise<ShellResult> {
  const project = rootOf(context);
  const { mode, asksForPrograms } = context.confinement ?? {};
  const told = [...(asksForPrograms === true ? UNASKED : []), ...(isByModel(context) ? CLOSED : [])];
  const run = (command: string, env: Record<string, string>, sandbox?: SandboxRequest): Promise<ShellResult> =>
    runShell(
      {
        command,
        args: ['--no-pager', '-c', 'color.ui=false', '-c', 'safe.bareRepository=explicit', ...told, ...args],
        env: { ...ENVIRONMENT, ...env },
        timeoutMs: context.timeoutMs,
        captureBytes: SHELL_BOUNDS.captureBytesMax,
        isLogged,
        ...defined({ stdin, sandbox }),
      },
      context,
    );
  if (mode === undefined) return run('git', agent());
  const program = gitProgram(project);
  const behind = mode === 'sandboxed' ? repositoryBehind(realOf(project)) : null;
  if (behind !== null)
    return withReadOnlyView(behind, (variables) => {
      const { GIT_DIR: view = '' } = variables;
      return run(program, variables, { readable: [view, behind.commonFolder] });
    });
  const repository = await findRepository(project, mode);
  return mode === 'readonly'
    ? withReadOnlyView(repository, (variables) => run(program, variables))
    : withSafeConfiguration(repository, (variables, written) => run(program, variables, { repository: written }));
}

/** Where remotes are reached by ssh; its name looks like a secret's. */
const agent = (): Record<string, string> => {
  const socket = process.env['SSH_AUTH_SOCK'];
  return socket === undefined ? {} : { SSH_AUTH_SOCK: socket };
};

export async function git(run: GitRun, context: CommandContext): Promise<ShellResult> {
  const result = await runGit(run, context);
  if (result.success) return result;
  throw gitFailed(run, result);
}

export function gitFailed(run: GitRun, result: ShellResult): Failure {
  const said = (result.stderr.trim() || result.output.trim()).slice(0, 2000);
  const remedy = said.includes('Read-only file system')
    ? 'a sandboxed run writes nothing to the repository behind its workspace; what it did is committed when it ends'
    : "repair the repository's state or the step's params";
  return new Failure(
    'GIT_FAILED',
    `git ${run.args[0] ?? ''} ended with ${result.exitCode}: ${said || 'no message'}; ${remedy}`,
    {
      details: { exitCode: result.exitCode, stderr: result.stderr.slice(-SHELL_BOUNDS.failureTailBytes) },
    },
  );
}

/** A path of a definition is the path of a file or a folder, whatever characters it holds: never a pattern of git's. */
const literal = (path: string): string => `:(literal)${path}`;

/** Paths as git takes them: of the project alone, without what is in a home of Sentinel, and what a model does not read. */
export async function confined(paths: readonly string[], context: CommandContext): Promise<string[]> {
  for (const path of paths) resolveInside(rootOf(context), path, accessOf(context));
  const secrets = isByModel(context) ? SECRETS_LEFT_OUT : [];
  return [...(paths.length === 0 ? ['.'] : paths.map(literal)), ...(await homesLeftOut(rootOf(context))), ...secrets];
}

/** The same, where git changes files: they are ones that the step may write. */
export async function confinedToWrite(paths: readonly string[], context: CommandContext): Promise<string[]> {
  for (const path of paths) resolveInside(rootOf(context), path, accessOf(context, { writes: true }));
  const isForbidden = isByModel(context) || context.confinement?.mode === 'sandboxed';
  const runLater = isForbidden ? RUN_LATER_LEFT_OUT : [];
  return [...(await confined(paths, context)), ...runLater, ...(isByModel(context) ? PACKAGES_LEFT_OUT : [])];
}

export const isByModel = ({ confinement }: CommandContext): boolean => confinement?.byModel === true;

/** By its name in the configuration: git takes any other text for the path of a repository. */
export async function checkRemote(remote: string, context: CommandContext): Promise<void> {
  const names = (await git({ args: ['remote'] }, context)).stdout.split('\n').filter(Boolean);
  if (names.includes(remote)) return;
  const there = names.length === 0 ? 'there is none' : `there are ${names.join(', ')}`;
  throw new Failure('GIT_FAILED', `the repository has no remote "${remote}" (${there}); "git remote add" makes one`);
}

/** In a submodule git would ask the submodule's own configuration. */
export function submodules({ confinement }: CommandContext): string[] {
  if (confinement === undefined) return [];
  if (confinement.mode !== undefined) return ['--ignore-submodules=all'];
  return confinement.byModel === true || confinement.asksForPrograms === true ? ['--ignore-submodules=dirty'] : [];
}

/** The id of the commit that a name stands for; null where it stands for none. */
export async function commitOf(name: string, context: CommandContext): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`];
  const found = await runGit({ args }, context);
  return found.success ? found.stdout.trim() : null;
}

/**
 * What git is given for the commit, or the two commits (`a..b`, `a...b`), that somebody names. A model's are ids of
 * commits: in a folder, which has an id as well, files have other names than those by which they are protected.
 */
export async function revision(name: string, context: CommandContext): Promise<string> {
  if (!isByModel(context)) return name;
  const [, left = name, dots = '', right = ''] = /^(.*?)(\.{2,3})(.*)$/.exec(name) ?? [];
  const idOf = async (side: string): Promise<string> => {
    const id = await commitOf(side === '' ? 'HEAD' : side, context);
    if (id !== null && /^[\da-f]+$/.test(id)) return id;
    throw new Failure('GIT_FAILED', `"${name}" names no commit of this repository; name a branch, a tag or an id`);
  };
  return dots === '' ? idOf(left) : `${await idOf(left)}${dots}${await idOf(right)}`;
}

/** Where HEAD is; null before the first commit. */
export async function head(context: CommandContext): Promise<string | null> {
  const result = await runGit({ args: ['rev-parse', '--verify', '--quiet', 'HEAD'] }, context);
  return result.success ? result.stdout.trim() : null;
}
