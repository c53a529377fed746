/**
 * What a walk carries with it, and the three ways it leaves a mark: an event, a variable, the end of
 * a step.
 */
import type { Json } from '../language/json.ts';
import type { RunEvent } from '../language/events/run-event.ts';
import { Masker, nothingHidden } from '../language/masking/masker.ts';
import { hiddenOf } from '../language/secrets.ts';
import type { Host, RunInput, Strand } from './host.ts';
import type { Position, BlockFrame } from './position.ts';

/** What a segment knows of the frames around its strand. */
export interface Anchor {
  /** The strand's path in its keys, and in the definition. */
  path: string;
  at: string;
  block: BlockFrame;
}

/** Lines of execution of a run that takes a place of its persona (places.ts). */
export interface Lines {
  /** Those that have not ended; one that waits for branches is none. */
  open: number;
  waiting: number;
  /** Those that cannot go on before the run has a place. */
  wanting: number;
  /** A place is being left. */
  leaving?: Promise<void>;
}

/** What one walk works with. `position` is moved in place. */
export interface Walk {
  input: RunInput;
  position: Position;
  host: Host;
  /** The field that stands for a variable where it is used as text, by variable. */
  textFields: ReadonlyMap<string, string>;
  /** Of a run that takes a place of its persona, where its host can wait for one. */
  lines?: Lines | undefined;
  /** Segments in flight. */
  segments?: number;
  /** Of a segment: where its strand stands. */
  anchor?: Anchor;
  /** It goes over what was performed before: nobody is asked, and nothing is looked at again. */
  isDecided?: true;
}

type Unstamped<Event> = Event extends RunEvent ? Omit<Event, 'seq' | 'at'> : never;

export function record(walk: Walk, event: Unstamped<RunEvent>): void {
  walk.position.seq += 1;
  walk.host.record({ seq: walk.position.seq, at: walk.host.now(), ...maskerFor(walk.input.env).json(event) });
}

const maskers = new WeakMap<object, Masker>();

/** What people read of a run shows no listed environment variable. */
function maskerFor(env: RunInput['env']): Masker {
  if (env === undefined) return nothingHidden;
  const masker = maskers.get(env) ?? new Masker(hiddenOf(env));
  maskers.set(env, masker);
  return masker;
}

/** Names of kept results (results.ts); variables of a run never begin like this. */
export const isResultKey = (name: string): boolean => name.startsWith('@');

/** Sets a variable of the strand, and notes it for the books of the pass. */
export function setVariable(walk: Walk, strand: Strand, name: string, value: Json): void {
  strand.own[name] = value;
  if (isResultKey(name)) return;
  if (strand.path === '' && !walk.position.tally.touched.includes(name)) walk.position.tally.touched.push(name);
}

/** The run's own steps. */
export function rootStrand(walk: Walk): Strand {
  const { loop, own } = walk.position;
  return { path: '', passes: [], frame: { loop }, own, outer: [], cancelled: false, within: null };
}

/** How long the run has been held so far, also while it is, waits for its place, or stands still. */
export function heldMs({ position: { pausedMs, paused, place, still }, host }: Walk): number {
  if (place?.since !== undefined) return (place.held ?? 0) + Math.max(0, host.now() - place.since);
  if (still !== undefined) return still.held + Math.max(0, host.now() - still.since);
  return pausedMs + (paused === null ? 0 : host.now() - paused.since);
}
