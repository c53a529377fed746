/** A published event as a run that waited for it sees it. Which names a pattern matches: event-glob.ts. */
import { isJsonObject, valueFault, type Json, type JsonObject, type ValueFault } from '../json.ts';
import { eventDataBytesMax } from '../limits.ts';

/** Names and patterns are indexed; what is longer belongs into the event's data. */
export const eventNameBytesMax = 500;

export interface PublishedEvent {
  /** Place in the order of delivery. */
  position: number;
  /** Who published it: the run and the step, so that a step tried again publishes nothing twice. */
  id: string;
  name: string;
  data: Json;
  /** Milliseconds since the epoch. */
  at: number;
}

/**
 * What a step reads of an event: `name`, `id`, `at`, `data`, and the fields of the data beside them,
 * which win: `$event.path` is what the publisher called path.
 */
export function valueOfEvent(event: Omit<PublishedEvent, 'position'>): JsonObject {
  const { name, id, at, data } = event;
  return { name, id, at, data, ...(isJsonObject(data) ? data : {}) };
}

/** Why no run could read an event with this data; null where it can. */
export function eventDataFault(data: Json, place: string, bytesMax: number = eventDataBytesMax): ValueFault | null {
  return valueFault(data, place, { around: 1, bytesMax });
}
