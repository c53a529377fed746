/**
 * A query is answered when no local activity of the run is under way. The worker core ends a workflow
 * task with the answer to a query, and hands over what a local activity resolved meanwhile in the next
 * one, where a replay will not see it: looking at a run at the wrong moment would break it.
 *
 * That goes for the SDK's own queries, too, which the Web UI asks whenever somebody opens a run.
 *
 * One that comes without a task of the run's own cannot wait: its answer would come with commands, which
 * makes the worker shut down. It fails, and may be asked again (task-boundaries.ts).
 */
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { Walk } from '../../interpreter/walk-state.ts';
import type { Admission } from '../seal/admission.ts';
import { isOfTemporal } from '../messages/sent-message.ts';
import { asksLocally, whenNothingLocal } from './local-activity.ts';
import { NOT_YET } from '../messages/messages.ts';
import { QueryRefusal } from '../messages/query-refusal.ts';

/** The id of a query that comes without a task. */
const DIRECT = 'legacy_query';

/** To be called once every query has its handler. */
export function answerBetweenLocalActivities(walk: Walk, admission: Admission): void {
  const { queryHandlers, interceptors } = getActivator();
  for (const [name, entry] of queryHandlers) {
    const { handler } = entry;
    entry.handler = (...received: unknown[]) => {
      const args = isOfTemporal(name) ? received : admitted(admission, name, received);
      return asksLocally(walk) ? later(walk, () => handler(...args)) : handler(...args);
    };
  }
  interceptors.internals.push({
    activate(input, next) {
      const isDirect = (input.activation.jobs ?? []).some(({ queryWorkflow }) => queryWorkflow?.queryId === DIRECT);
      if (isDirect && asksLocally(walk)) throw new QueryRefusal(NOT_YET);
      next(input);
    },
  });
}

function admitted(admission: Admission, name: string, received: readonly unknown[]): readonly unknown[] {
  try {
    return admission.read(name, received);
  } catch (error) {
    throw new QueryRefusal(error instanceof Error ? error.message : String(error));
  }
}

/** The SDK refuses promises of query handlers, because workflow code must not wait in them; what it is handed is awaited all the same. */
function later(walk: Walk, answer: () => unknown): PromiseLike<unknown> {
  const answered = new Promise<unknown>((resolve, reject) => {
    whenNothingLocal(walk, () => {
      try {
        resolve(answer());
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  });
  // oxlint-disable-next-line unicorn/no-thenable -- the SDK awaits what a handler returns, and refuses promises by their class
  return { then: (done, failed) => answered.then(done, failed) };
}
