/** The versions of the made-up workflow as bundles, and where the histories of two of its runs are. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import type { MadeUpStart } from './made-up-change.ts';

export type Version = 'before' | 'with-entry' | 'without-entry';

export async function bundleOf(version: Version): Promise<{ code: string }> {
  const workflowsPath = fileURLToPath(new URL(`version-${version}.ts`, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('WARN') });
}

/** The runs whose histories are recorded: by which version, and with what they start. */
export const RUNS = {
  'from-before': { version: 'before', start: {} },
  'from-today': { version: 'with-entry', start: { level: 1 } },
} as const satisfies Record<string, { version: Version; start: MadeUpStart }>;

export const historyFile = (run: keyof typeof RUNS): string =>
  fileURLToPath(new URL(`history-${run}.json`, import.meta.url));
