/**
 * An agent segment: the turns of a model step, and their calls, follow one another in one activity.
 *
 * - A1 Between two turns what was done is kept: the step's frame, what was spent and the events, in one
 *      transaction under the next key of the segment. An attempt that follows a dead one goes on from there.
 * - A2 A turn is claimed and its answer kept before it ends. A call that writes to our store is journaled with what it
 *      wrote; one that acts on the world is claimed before, and its outcome kept (run-call.ts). So what was done after
 *      A1 is not done twice either.
 * - A3 Between two turns, and between calls that take long, it looks whether the run wants the step back (a pause, a
 *      stop, a message for the model). It looks after its first turn, never before, so every segment brings the step
 *      a turn further.
 * - A4 Events of a call that takes long are shown before it ends. An attempt that follows a dead one records them
 *      again, and they are written once.
 */
import type { AgentRequest } from '../../interpreter/contract.ts';
import { drive } from '../../interpreter/drive.ts';
import type { Usage, Halt } from '../../interpreter/effect.ts';
import type { AgentReport, RunInput } from '../../interpreter/host.ts';
import { converse } from '../../interpreter/models/model-step.ts';
import type { ModelFrame } from '../../interpreter/position.ts';
import { PART_SIZE } from '../../language/events/event-numbers.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Json } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { walkFrom } from '../segment/walk-from.ts';
import { AgentHost, type AgentParts } from './agent-host.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

/** What of a segment is kept between two turns. */
interface Kept {
  /** How often it was. */
  count: number;
  /** The events so far are numbered up to it. */
  seq: number;
  open: ModelFrame;
  steps: number;
  spent?: Usage;
  /** Events that were written since. */
  shown?: RunEvent[];
  /** Once it has ended. */
  halt?: Halt | null;
}

export interface AgentRun extends Pick<AgentParts, 'turn' | 'call' | 'signal'> {
  store: Pick<Store, 'journal' | 'session'>;
  /** Resolves when what the run recorded before is in the store. */
  recorded: (handle: string) => Promise<void>;
  /** Of the activity, from 1. */
  attempt: number;
  /** Says how far it is. */
  said(open: ModelFrame): void;
}

/** A turn and its calls may record so many. */
const eventsReserve = 256;

const handBackKey = (key: string): string => `hand back ${key}`;
const keptKey = (key: string, count: number | string): string => `agent ${key}.${count}`;

/** Tells the segment that begins at `key` to end before its next turn. */
export const tellToHandBack = (store: Pick<Store, 'journal'>, handle: string, key: string): Promise<void> =>
  store.journal.note(handle, handBackKey(key));

export async function runAgent(run: AgentRun, input: RunInput, request: AgentRequest): Promise<AgentReport> {
  const before = await keptOf(run, input, request);
  if (before?.halt !== undefined) return reportOf(before);
  crashPoint('agent.begun', { handle: input.handle, key: request.key });
  const segment = new AgentSegment(run, input, request, before);
  return reportOf(await segment.run());
}

async function keptOf({ store }: AgentRun, { handle }: RunInput, { key }: AgentRequest): Promise<Kept | null> {
  const latest = await store.journal.latest(handle, keptKey(key, ''));
  return (latest?.result ?? null) as unknown as Kept | null;
}

function reportOf({ open, halt = null, steps, spent }: Kept): AgentReport {
  return { open, halt, steps, ...defined({ spent }) };
}

class AgentSegment {
  readonly #run: AgentRun;
  readonly #input: RunInput;
  readonly #request: AgentRequest;
  readonly #host: AgentHost;
  readonly #at: Parameters<typeof converse>[0];
  /** Its events have the numbers after it, where no attempt before has kept any. */
  readonly #place: number;
  /** The last that was written. */
  #kept: Kept;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(run: AgentRun, input: RunInput, request: AgentRequest, before: Kept | null) {
    this.#run = run;
    this.#input = input;
    this.#request = request;
    this.#place = request.seq + ((run.attempt - 1) % request.places) * PART_SIZE;
    this.#kept = before ?? { count: 0, seq: this.#place, open: structuredClone(request.open), steps: 0 };
    const { shown = [] } = this.#kept;
    this.#host = new AgentHost({
      input,
      turn: run.turn,
      call: run.call,
      signal: run.signal,
      keep: (events) => this.#keep(events),
      show: (events) => this.#show(events),
      isWanted: () => this.#isWanted(),
      shown,
    });
    const { walk, strand } = walkFrom(input, { ...request, seq: shown.at(-1)?.seq ?? this.#kept.seq }, this.#host);
    walk.position.steps = this.#kept.steps;
    if (before?.spent !== undefined) walk.position.spent = before.spent;
    const { leftMs } = request;
    const since = Date.now();
    if (leftMs !== undefined) strand.leftMs = () => leftMs - (Date.now() - since);
    this.#at = { walk, strand, step: request.step, place: request.place, open: before?.open ?? request.open };
  }

  async run(): Promise<Kept> {
    await this.#run.recorded(this.#input.handle);
    const ended = await drive(converse(this.#at), () => undefined);
    const halt = 'flow' in ended && ended.flow.kind === 'yield' ? null : ended;
    return this.#commit(this.#host.takeEvents(), () => ({ ...this.#standing(), ...defined({ halt }) }));
  }

  async #keep(events: readonly RunEvent[]): Promise<boolean> {
    await this.#commit(events, () => this.#standing());
    this.#run.said(this.#at.open);
    if (this.#at.walk.position.seq % PART_SIZE > PART_SIZE - eventsReserve) return false;
    return !(await this.#isWanted());
  }

  async #isWanted(): Promise<boolean> {
    return (await this.#run.store.journal.find(this.#input.handle, handBackKey(this.#request.key))) !== null;
  }

  async #show(events: readonly RunEvent[]): Promise<void> {
    await this.#commit(events, ({ count: _count, ...kept }) => ({
      ...kept,
      shown: [...(kept.shown ?? []), ...events],
    }));
  }

  /** As the step stands now. */
  #standing(): Omit<Kept, 'count'> {
    const { position } = this.#at.walk;
    const { seq, steps, spent } = position;
    return { seq, open: structuredClone(this.#at.open), steps, ...defined({ spent }) };
  }

  /** One after the other: what a call shows may still be on its way. */
  #commit(events: readonly RunEvent[], next: (kept: Kept) => Omit<Kept, 'count'>): Promise<Kept> {
    const written = this.#writing.then(() => this.#write(events, { ...next(this.#kept), count: this.#kept.count + 1 }));
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(events: readonly RunEvent[], kept: Kept): Promise<Kept> {
    const { key } = this.#request;
    const { handle } = this.#input;
    const { count } = this.#kept;
    await this.#run.store.session().commit({
      handle,
      key: keptKey(key, kept.count),
      result: kept as unknown as Json,
      events: [...events],
      // Where its events stand is said once: no other segment has this place.
      ...(count === 0 ? { seq: this.#place, place: this.#place } : { forget: [keptKey(key, count)] }),
    });
    this.#kept = kept;
    crashPoint('agent.kept', { handle, key });
    return kept;
  }
}
