/** The workflow code of this version, as its workers run it. */
import type { WorkflowBundleOption } from '@temporalio/worker';
import { loadBundle } from '../../worker/bundle.ts';
import { readConfig } from '../../services/config/config.ts';

export const ownBundle = (): Promise<WorkflowBundleOption> => loadBundle(readConfig().packageRoot);
