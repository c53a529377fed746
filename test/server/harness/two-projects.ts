/** A project that a worker serves, and another one beside it, with what the user of this machine decides in a folder of the test file's own. */
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Harness } from './harness.ts';
import { useHarness } from './use-harness.ts';

/** For all tests of a file. */
export function useTwoProjects(): { harness: () => Harness; other: string } {
  const other = realpathSync(mkdtempSync(join(tmpdir(), 'sentinel-other-')));
  const decisions = mkdtempSync(join(tmpdir(), 'sentinel-state-'));
  const harness = useHarness(
    async (opened) => {
      opened.variables = { XDG_STATE_HOME: decisions };
      await opened.startWorker({ SENTINEL_PROJECT: opened.project });
    },
    [other, decisions],
  );
  return { harness, other };
}
