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
import type { PayloadSeal } from '../../services/seal/payload-seal.ts';

export interface ReplayParts {
  bundle: WorkflowBundleOption;
  /** Where large values are; a history that refers to none needs none. */
  store: Store | null;
  /** Opens the values; a history that is not sealed needs none. */
  viewer: PayloadSeal | null;
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
export function replayOptions(
  { bundle, store, viewer }: ReplayParts,
  sinks: InjectedSinks<Sinks>,
): ReplayWorkerOptions {
  keepQuiet();
  const dataConverter = {
    ...(store === null ? {} : { externalStorage: payloadStorage(store) }),
    ...(viewer === null ? {} : { payloadCodecs: [viewer] }),
  };
  return {
    workflowBundle: bundle,
    replayName: 'sentinel',
    sinks,
    dataConverter,
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
