/**
 * A query is answered when no local activity of the run is under way. The worker core ends a workflow
 * task with the answer to a query, and hands over what a local activity resolved meanwhile in the next
 * one, where a replay will not see it: looking at a run at the wrong moment would break it.
 *
 * That goes for the SDK's own queries, too, which the Web UI asks whenever somebody opens a run.
 */
import { getActivator } from '@temporalio/workflow/lib/global-attributes.js';
import type { Walk } from './interpreter/ledger.ts';
import { asksLocally, whenNothingLocal } from './local-activity.ts';

/** To be called once every query has its handler. */
export function answerBetweenLocalActivities(walk: Walk): void {
  for (const entry of getActivator().queryHandlers.values()) {
    const { handler } = entry;
    entry.handler = (...args: unknown[]) => (asksLocally(walk) ? later(walk, () => handler(...args)) : handler(...args));
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
