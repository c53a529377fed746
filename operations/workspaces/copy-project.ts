/** A copy of a project as it is, with a repository of its own: its history where it has one, and what is in no commit. */
import { constants, type Stats } from 'node:fs';
import { cp, lstat, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { findProtectedPlaces } from '../../world/confinement/protected-places.ts';
import { gitProgram } from '../../world/confinement/repositories/git-repository.ts';
import type { OwnRepository } from '../../world/git/repository/find-own.ts';
import { commitAll } from '../../world/git/worktrees/commit-all.ts';
import { refOf, RepositoryGit } from '../../world/git/worktrees/repository-git.ts';
import { Failure } from '../../world/failures/failures.ts';
import { runHelper } from '../../world/own-programs/helper-programs.ts';
import { refused } from './refusals.ts';

export interface CopyAsked {
  /** The whole work tree, where the project is in a repository. */
  source: string;
  repository: OwnRepository | null;
  to: string;
  branch: string;
}

export const COPY_BOUNDS = { filesMax: 200_000, bytesMax: 4 * 1024 ** 3 } as const;

/** The commit that the copy begins with: of all that it holds. */
export async function copyProject({ source, repository, to, branch }: CopyAsked): Promise<string> {
  const { homes, repositories } = await findProtectedPlaces(source);
  const left = new Set([...homes, ...repositories.filter((place) => basename(place) === '.git')]);
  await refuseLarge(source, left);
  await mkdir(to, { recursive: true, mode: 0o700 });
  await runInit(to);
  const git = new RepositoryGit({ workTree: to, gitFolder: join(to, '.git'), commonFolder: join(to, '.git') });
  const head = repository === null ? null : await historyOf(git, repository);
  await git.run(['symbolic-ref', 'HEAD', refOf(branch)]);
  if (head !== null) {
    await git.run(['update-ref', refOf(branch), head]);
    await git.run(['read-tree', 'HEAD']);
  }
  await cp(source, to, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
    filter: async (path) => !left.has(path) && isCopied(await lstat(path)),
  });
  if (head === null)
    await git.run(['commit', '--quiet', '--allow-empty', '-m', 'Empty'], { env: await git.committer() });
  return (await commitAll(git, 'The project as it was when it was copied\n')).commit;
}

const isCopied = (found: Stats): boolean => found.isFile() || found.isDirectory() || found.isSymbolicLink();

export const removeCopy = (folder: string): Promise<void> => rm(folder, { recursive: true, force: true });

async function runInit(to: string): Promise<void> {
  const { exitCode, stderr } = await runHelper(gitProgram(to), ['init', '--quiet', '--template=', to]);
  if (exitCode !== 0) throw new Failure('GIT_FAILED', `git init ended with ${exitCode}: ${stderr.trim()}`);
}

/** The commit of the source's HEAD, with all that it stands on; null before its first. */
async function historyOf(git: RepositoryGit, repository: OwnRepository): Promise<string | null> {
  const head = await new RepositoryGit(repository).commitOf('HEAD');
  if (head === null) return null;
  await fetchCommit(git, repository.commonFolder, head);
  return head;
}

/** From a repository on this host. */
export async function fetchCommit(git: RepositoryGit, from: string, commit: string): Promise<void> {
  const serve = 'git -c uploadpack.allowAnySHA1InWant=true upload-pack';
  await git.run(['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', `--upload-pack=${serve}`, from, commit]);
}

async function refuseLarge(source: string, left: ReadonlySet<string>): Promise<void> {
  let [files, bytes] = [0, 0];
  const waiting = [source];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (left.has(path)) continue;
      if (entry.isDirectory()) waiting.push(path);
      else {
        files += 1;
        if (entry.isFile()) bytes += (await stat(path)).size;
      }
      if (files > COPY_BOUNDS.filesMax || bytes > COPY_BOUNDS.bytesMax)
        throw refused(
          `${source} holds more than ${COPY_BOUNDS.filesMax} files or ${COPY_BOUNDS.bytesMax / 1024 ** 3} GiB, which no copy is made of; use the isolationType "worktree"`,
        );
    }
  }
}
