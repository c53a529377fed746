/** Walks one history again with today's workflow code, in this process and without a server. */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import {
  DefaultLogger,
  makeTelemetryFilterString,
  Runtime,
  Worker,
  type InjectedSinks,
  type ReplayWorkerOptions,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import type { Sinks } from '@temporalio/workflow';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { payloadStorage } from '../../prisma/store/values/payload-driver.ts';

export interface ReplayParts {
  bundle: WorkflowBundleOption;
  /** Where large values are; a history that refers to none needs none. */
  store: Store | null;
}

/** Null when it went the same way, else what the SDK says of the first place where it did not. */
export async function replayHistory(
  parts: ReplayParts,
  { history, workflowId }: { history: History; workflowId: string },
  sinks: InjectedSinks<Sinks>,
): Promise<Error | null> {
  for await (const { error } of Worker.runReplayHistories(replayOptions(parts, sinks), [{ history, workflowId }]))
    return error ?? null;
  return null;
}

/** For one history or many; quiets the runtime of this process. */
export function replayOptions({ bundle, store }: ReplayParts, sinks: InjectedSinks<Sinks>): ReplayWorkerOptions {
  keepQuiet();
  return {
    workflowBundle: bundle,
    replayName: 'sentinel',
    sinks,
    ...(store === null ? {} : { dataConverter: { externalStorage: payloadStorage(store) } }),
  };
}

/** A divergence is a finding here, not a fault to warn of. A process that has its own runtime keeps that. */
function keepQuiet(): void {
  try {
    const logging = { filter: makeTelemetryFilterString({ core: 'ERROR' }) };
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'IllegalStateError') throw error;
  }
}
