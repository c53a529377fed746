/** A project with one commit, whose workspaces lie in a cache of the test file's own, and a worker that serves it. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '../../../language/json.ts';
import type { Harness } from './harness.ts';
import { commitAll, git } from './models/broken-project.ts';
import { useHarness } from './use-harness.ts';

export interface WorkspaceProject {
  cache: string;
  harness: () => Harness;
  /** What git says in the project itself. */
  inProject: (...args: string[]) => string;
}

/** For all tests of a file; `text`: of `a.txt`. */
export function useWorkspaceProject(text: string): WorkspaceProject {
  const cache = mkdtempSync(join(tmpdir(), 'sentinel-cache-'));
  const harness = useHarness(
    async (opened) => {
      opened.variables = { SENTINEL_CACHE: cache };
      writeFileSync(join(opened.project, 'a.txt'), text);
      writeFileSync(join(opened.project, '.gitignore'), '.sentinel\n');
      commitAll(opened.project);
      await opened.startWorker();
    },
    [cache],
  );
  return { cache, harness, inProject: (...args) => git(harness().project, ...args).trim() };
}

export const rootOf = (workspace: JsonObject | undefined): string =>
  typeof workspace?.['root'] === 'string' ? workspace['root'] : '';

/** Of the variable `workspace`. */
export const rootIn = ({ workspace }: JsonObject): string =>
  rootOf(typeof workspace === 'object' && workspace !== null && !Array.isArray(workspace) ? workspace : undefined);
