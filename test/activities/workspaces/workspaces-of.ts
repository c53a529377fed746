/** A project with one commit, its workspaces in a cache of the test's own, and what runs do with them. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { mergeInto, sourcesOf, targetOf, type Merged } from '../../../operations/workspaces/merge-branches.ts';
import { openWorkspace, type WorkspaceAsked } from '../../../operations/workspaces/open-workspace.ts';
import { type Workspace, workspaceAt } from '../../../operations/workspaces/records.ts';
import { realOf } from '../../../world/own-programs/helper-programs.ts';
import { repository } from '../harness/repository.ts';

/** For all tests of a file. */
export function useCache(): void {
  const before = process.env['SENTINEL_CACHE'];
  const cache = mkdtempSync(join(tmpdir(), 'sentinel-cache-'));
  beforeAll(() => {
    process.env['SENTINEL_CACHE'] = cache;
  });
  afterAll(() => {
    if (before === undefined) delete process.env['SENTINEL_CACHE'];
    else process.env['SENTINEL_CACHE'] = before;
    rmSync(cache, { recursive: true, force: true });
  });
}

export const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

export function write(folder: string, files: { [path: string]: string | Uint8Array }): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

export const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');

export interface ProjectOfWorkspaces {
  project: string;
  /** Handles of runs that go on. */
  running: Set<string>;
  open: (asked: Partial<WorkspaceAsked>, by?: { handle?: string; key?: string }) => Promise<Workspace>;
  /** Files that a run writes in its workspace, committed. */
  work: (workspace: Workspace, files: { [path: string]: string | Uint8Array | null }) => void;
  /** Into the branch of the workspace, or the one that is named. */
  merge: (branches: string[], how?: { at?: Workspace; into?: string; resolved?: string[] }) => Promise<Merged>;
}

let runs = 0;

export async function projectOfWorkspaces(
  files: { [path: string]: string | Uint8Array } = {},
): Promise<ProjectOfWorkspaces> {
  const project = realOf(await repository());
  write(project, files);
  git(project, 'add', '--all');
  git(project, 'commit', '--quiet', '--allow-empty', '--message=as it was');
  const running = new Set<string>();
  const isRunning = (of: string): Promise<boolean> => Promise.resolve(running.has(of));
  return {
    project,
    running,
    open(asked, { handle = `run-${(runs += 1)}`, key = 'steps.0@1' } = {}) {
      return openWorkspace(
        project,
        { isolationType: 'worktree', branch: 'work', ...asked },
        { handle, key, isRunning },
      );
    },
    work(workspace, changed) {
      for (const [path, content] of Object.entries(changed))
        if (content === null) git(workspace.folder, 'rm', '--quiet', path);
        else write(workspace.folder, { [path]: content });
      git(workspace.folder, 'add', '--all');
      git(workspace.folder, 'commit', '--quiet', '--message=work');
    },
    async merge(branches, { at, into, resolved } = {}) {
      const target = await targetOf(project, at === undefined ? null : await workspaceAt(at.folder), into);
      const sources = await sourcesOf(target.git, project, branches);
      return mergeInto(target, { sources, by: 'merger', resolved: resolved ?? [] });
    },
  };
}
