/** The long steps that a worker is at: what it waits for when it is to end. */
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { StepUnderWay } from '../services/supervisor/worker-process.ts';
import { handleOf } from '../workflows/messages/messages.ts';

export class StepsUnderWay {
  readonly #steps = new Set<StepUnderWay>();

  list(): StepUnderWay[] {
    return [...this.#steps];
  }

  /** Quick steps are left out: they end by themselves, before anybody could read of them. */
  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => {
    if (info.isLocal) return {};
    const step = { handle: handleOf(info.workflowExecution?.workflowId ?? ''), key: info.activityId };
    return {
      inbound: {
        execute: async (input, next) => {
          this.#steps.add(step);
          try {
            return await next(input);
          } finally {
            this.#steps.delete(step);
          }
        },
      },
    };
  };
}
