/** Commits what a work tree holds, and says what of it is in no commit. */
import { dirname, relative, sep } from 'node:path';
import { findProtectedPlaces, homesLeftOut, SECRETS_LEFT_OUT } from '../../confinement/protected-places.ts';
import { realOf } from '../../own-programs/helper-programs.ts';
import type { RepositoryGit } from './repository-git.ts';

export interface Committed {
  /** Of the work tree, from then on. */
  commit: string;
  /** Whether there was anything to commit. */
  isNew: boolean;
  /** Paths that are in no commit. */
  leftOut: string[];
}

/** Homes of Sentinel and files that hold secrets by their names are never committed, nor what is in a repository of its own. */
export async function commitAll(git: RepositoryGit, message: string): Promise<Committed> {
  const root = git.at.workTree;
  if ((await changedPaths(git)).length > 0) {
    const left = [...(await homesLeftOut(root)), ...SECRETS_LEFT_OUT, ...(await nestedLeftOut(root))];
    await git.run(['add', '--all', '--', '.', ...left]);
    const isStaged = (await git.run(['diff', '--cached', '--quiet'], { codes: [0, 1] })).exitCode === 1;
    if (isStaged) {
      const env = await git.committer();
      await git.run(['commit', '--quiet', '--no-verify', '--file=-'], { stdin: message, env });
      return { commit: await headOf(git), isNew: true, leftOut: await changedPaths(git) };
    }
  }
  return { commit: await headOf(git), isNew: false, leftOut: await changedPaths(git) };
}

const headOf = (git: RepositoryGit): Promise<string> => git.text(['rev-parse', '--verify', 'HEAD']);

/** Paths that differ from the commit of the work tree, and that no .gitignore names. */
export async function changedPaths(git: RepositoryGit, { untracked = true } = {}): Promise<string[]> {
  const listed = await git.run([
    'status',
    '--porcelain=v1',
    '-z',
    '--no-renames',
    '--ignore-submodules=all',
    `--untracked-files=${untracked ? 'all' : 'no'}`,
  ]);
  return listed.stdout
    .split('\0')
    .filter((entry) => entry.length > 3)
    .map((entry) => entry.slice(3));
}

/** Git would look into these, and do what their own settings say. */
async function nestedLeftOut(root: string): Promise<string[]> {
  const real = realOf(root);
  const { repositories, bare } = await findProtectedPlaces(real);
  const folders = [...repositories.map((place) => dirname(place)), ...bare];
  return [...new Set(folders)]
    .map((folder) => relative(real, folder).split(sep).join('/'))
    .filter((path) => path !== '')
    .map((path) => `:(exclude,literal)${path}`);
}
