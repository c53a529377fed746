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

/** Where an event is from. What its data say of that is no proof. */
export interface EventOrigin {
  type: 'person' | 'run' | 'webhook' | 'engine';
  /** The outermost run that published it, or that the engine says it of; of a webhook, its source in `sentinel.config`. */
  id: string | null;
}

const SOURCES: { readonly [source: string]: EventOrigin } = {
  '@emit': { type: 'person', id: null },
  '@step': { type: 'run', id: null },
  '@webhook': { type: 'webhook', id: null },
  '@file': { type: 'engine', id: null },
  '@follow': { type: 'engine', id: null },
};

/** A source of `sentinel.config` is behind it. */
const WEBHOOK_SOURCE = '@webhook:';

/** An event's id begins with who published it: a source outside of runs, or a run, whose word about itself is the engine's. */
export function originOf(id: string): EventOrigin {
  const [first = '', ...rest] = id.split('/');
  const source = Object.hasOwn(SOURCES, first) ? SOURCES[first] : undefined;
  if (source !== undefined) return source;
  if (first.startsWith(WEBHOOK_SOURCE)) return { type: 'webhook', id: first.slice(WEBHOOK_SOURCE.length) };
  // In a simulation: of a step, or of the script.
  if (rest.length === 0) return { type: first.includes('@') ? 'run' : 'person', id: null };
  return { type: rest.at(-1)?.startsWith('@') === true ? 'engine' : 'run', id: first };
}

/**
 * What a step reads of an event: `name`, `id`, `at`, `data`, `origin`, and the fields of the data beside them:
 * `$event.path` is what the publisher called path. The five are the event's own, whatever its data call so.
 */
export function valueOfEvent(event: Omit<PublishedEvent, 'position'>): JsonObject {
  const { name, id, at, data } = event;
  return { ...(isJsonObject(data) ? data : {}), name, id, at, data, origin: { ...originOf(id) } };
}

/** Why no run could read an event with this data; null where it can. */
export function eventDataFault(data: Json, place: string, bytesMax: number = eventDataBytesMax): ValueFault | null {
  return valueFault(data, place, { around: 1, bytesMax });
}
