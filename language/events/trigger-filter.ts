/** Whether an event starts a run: what the filter of a trigger says of it. */
import { isTruthy, tryEvaluate } from '../expression/evaluate.ts';
import { scopeOf } from '../expression/scope.ts';
import { valueOfEvent, type PublishedEvent } from './published-event.ts';

/** `fault`: why the filter has no value for this event. */
export type FilterVerdict = { holds: boolean } | { fault: string };

export function filterVerdict(filter: string, event: Omit<PublishedEvent, 'position'>): FilterVerdict {
  const result = tryEvaluate(filter, scopeOf({ event: valueOfEvent(event) }));
  return result.ok ? { holds: isTruthy(result.value) } : { fault: result.message };
}
