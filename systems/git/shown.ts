/**
 * What an operation of `code/git` would do as the repository is now, for the question about it: what is committed, with
 * the ids of its content, which files it changes, and the commits that names stand for.
 */
import type { Json, JsonObject } from '../../language/json.ts';
import { shownOf } from '../../operations/approved-action.ts';
import type { CommandContext } from '../../operations/command.ts';
import { confined, runGit } from './run-git.ts';

/** As the parameters of `code/git` have been read. */
export interface GitOperation {
  operation: string;
  paths?: string[] | undefined;
  branch?: string | undefined;
  name?: string | undefined;
  from?: string | undefined;
  remote?: string | undefined;
  untracked?: boolean | undefined;
}

/** Null for an operation that only looks. */
export async function shownGit(asked: GitOperation, context: CommandContext): Promise<Json> {
  const { operation, paths = [], branch, name, from, remote = 'origin' } = asked;
  const at = { branch: await said(['branch', '--show-current'], context), head: await commitOf('HEAD', context) };
  switch (operation) {
    case 'add':
    case 'unstage':
      return { ...at, changes: await changes([], paths, context) };
    case 'commit':
      return { ...at, changes: await staged(context) };
    case 'restore':
      return { ...at, from: await commitOf(from ?? 'HEAD', context), changes: await changes([], paths, context) };
    case 'stash':
      return { ...at, changes: await changes(asked.untracked === true ? ['--untracked-files=all'] : [], [], context) };
    case 'unstash':
      return { ...at, stash: await commitOf('stash@{0}', context) };
    case 'branch':
      return { ...at, from: await commitOf(from ?? 'HEAD', context) };
    case 'delete-branch':
      return { ...at, commit: await commitOf(name ?? '', context) };
    case 'switch':
    case 'merge':
      return { ...at, commit: await commitOf(branch ?? '', context) };
    case 'push':
      return { ...at, ...(await pushed(remote, branch ?? 'HEAD', context)) };
    case 'fetch':
    case 'pull':
      return { ...at, url: await urlOf(remote, context) };
    default:
      return null;
  }
}

/** Empty where git refuses: the operation says why. */
async function said(args: string[], context: CommandContext): Promise<string> {
  const { success, stdout } = await runGit({ args }, context);
  return success ? stdout.trim() : '';
}

const commitOf = (name: string, context: CommandContext): Promise<string> =>
  said(['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`], context);

const urlOf = (remote: string, context: CommandContext): Promise<string> =>
  said(['remote', 'get-url', '--push', '--end-of-options', remote], context);

/** With the ids of the content, so that other content under the same names is another action. */
async function staged(context: CommandContext): Promise<Json> {
  return lines(await said(['diff', '--cached', '--raw', '--abbrev=12', '--no-renames'], context));
}

async function changes(options: string[], paths: string[], context: CommandContext): Promise<Json> {
  const args = ['-c', 'core.quotePath=false', 'status', '--porcelain=v1', ...options, '--'];
  return lines(await said([...args, ...(await confined(paths, context))], context));
}

async function pushed(remote: string, branch: string, context: CommandContext): Promise<JsonObject> {
  const commit = await commitOf(branch, context);
  // What the remote is known to have is not pushed again.
  const range = ['log', '--max-count=1000', '--format=%h %s', commit, '--not', `--remotes=${remote}`];
  return {
    url: await urlOf(remote, context),
    commit,
    commits: lines(commit === '' ? '' : await said(range, context)),
  };
}

const lines = (text: string): Json => shownOf(text.split('\n').filter((line) => line !== ''));
