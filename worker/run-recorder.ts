/**
 * Takes the events that workflow code hands over and writes them to the store in batches.
 *
 * The sink is called again for the same events whenever a run is replayed, and appending is
 * idempotent by (handle, seq), so nothing is lost with a worker and nothing is written twice. What this
 * worker handed over before, in tasks that history has, is left out while replaying. The worker waits for
 * `run-finished`, for the start of a nested run, for what makes a run wait for somebody, and for everything
 * before a run continues as new, before it answers the workflow task: a run that has ended in Temporal has
 * ended in the store, a step finds its run there, and a question that nothing would replay is in the inbox.
 * A schedule's run has no row before its start is written, so that is waited for, too. A run's batches are
 * written one after another, and its segments, which write their events themselves, wait for those before.
 * Of a copy of a run nothing is written (seal/own-executions.ts).
 *
 * A store that is away is waited for. What it refuses it would refuse for ever, and the workflow task with
 * it: the run is ended then.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { InjectedSinks } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import type { Json, JsonObject } from '../language/json.ts';
import { inlineBytesMax } from '../language/limits.ts';
import type { Definition } from '../language/model.ts';
import type { RunEvent, RunStarted } from '../language/events/run-event.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import { isAway } from '../prisma/store/connection/unavailable.ts';
import type { RunContext, Store } from '../prisma/store/contract/contract.ts';
import { ownMasker } from '../world/own-keys/own-keys.ts';
import { tellToHandBack } from '../activities/turns/run-agent.ts';
import { previewOf } from '../language/events/preview.ts';
import { LostRecords, type StandingOf } from './lost-records.ts';
import type { Executions } from './own-executions.ts';
import type { RunSinks } from '../workflows/host/recording.ts';
import { crashPoint } from '../world/crash-points/crash-point.ts';

/** What a worker was handed of a run. */
interface Taken {
  /** The highest number that another attempt cannot give out otherwise. */
  inHistory: number;
  latest: number;
  /** The task, by the length of history at its start. */
  task: number;
}

interface At {
  isReplaying: boolean;
  /** In events, when the task began. */
  historyLength: number;
  /** What has this number, or a higher one, is to be taken back first. */
  lostFrom?: number | undefined;
}

/** From an event to its write; the events of a busy worker come in larger batches, this long apart. */
const batchMs = 100;
const busyMs = 250;
/** The start of a run of its own can wait: its row is there already, and short runs write it with their end. */
const startMs = 1_000;
const retryMs = 500;
const handlesKeptMax = 10_000;

/** Ends a run whose record the store refuses; `start`: its first event, where that was among what was refused. */
export type EndRefused = (handle: string, error: unknown, start: RunStarted | undefined) => Promise<void>;

/** Told of each step whose result is in history. */
type StepEnded = (handle: string, key: string) => void;

export interface RecorderParts {
  endRefused?: EndRefused;
  executions?: Executions;
  stepEnded?: StepEnded;
  /** Absent: what an attempt that was lost has recorded stays until somebody goes on with the run. */
  standingOf?: StandingOf;
}

const ALL_OWN: Executions = { walks: () => undefined, isCopy: () => Promise.resolve(false) };

export class RunRecorder {
  private readonly pending = new Map<string, RunEvent[]>();
  /** From which number on a run's rows are of an attempt that was lost, and how long history was. */
  private readonly lost = new Map<string, { from: number; history: number }>();
  private readonly taken = new LRUCache<string, Taken>({ max: handlesKeptMax });
  /** The latest write of each run that is under way. */
  private readonly writing = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  /** When the timer fires, and when it last did: `performance.now()`. */
  private dueAt = Number.POSITIVE_INFINITY;
  private flushedAt = Number.NEGATIVE_INFINITY;
  private flushing: Promise<void> = Promise.resolve();
  private closed = false;
  /** Runs that were ended because of what they recorded; nothing more of them is written. */
  private readonly refused = new LRUCache<string, true>({ max: handlesKeptMax });
  private readonly store: Store;
  private readonly endRefused: EndRefused;
  private readonly executions: Executions;
  private readonly stepEnded: StepEnded;
  private readonly lostRecords: LostRecords | undefined;

  constructor(store: Store, parts: RecorderParts = {}) {
    this.store = store;
    this.endRefused = parts.endRefused ?? ((_handle, error) => Promise.reject(error));
    this.executions = parts.executions ?? ALL_OWN;
    this.stepEnded = parts.stepEnded ?? ((): void => undefined);
    this.lostRecords = parts.standingOf === undefined ? undefined : new LostRecords(store, parts.standingOf);
  }

  sinks(): InjectedSinks<RunSinks> {
    return {
      recorder: {
        append: {
          callDuringReplay: true,
          fn: (info, handle, events, definition, lostFrom) => {
            this.executions.walks(info);
            for (const event of events) if (event.type === 'step-finished') this.stepEnded(handle, event.key);
            return this.append(handle, ownMasker().json(named(events, definition)), {
              isReplaying: info.unsafe.isReplaying,
              historyLength: info.historyLength,
              lostFrom,
            });
          },
        },
        settle: {
          callDuringReplay: false,
          fn: (_info, handle) => this.write(handle),
        },
        handBack: {
          callDuringReplay: false,
          // Where it is not heard the segment goes on to its end, as it would without a word.
          fn: (_info, handle, key) => tellToHandBack(this.store, handle, key).catch(() => undefined),
        },
      },
    };
  }

  async append(handle: string, events: RunEvent[], { isReplaying, historyLength, lostFrom }: At): Promise<void> {
    if (this.refused.has(handle)) return;
    for (const event of events) if (event.type === 'run-started') this.store.runs.remember(contextOf(handle, event));
    if (!isReplaying) this.lostRecords?.goesOn(handle);
    else this.lostRecords?.replayed(handle, events.at(-1)?.seq ?? 0);
    const known = isReplaying ? (this.taken.get(handle)?.inHistory ?? -1) : -1;
    const fresh = events.filter((event) => event.seq > known);
    if (fresh.length === 0) return;
    if (!isReplaying) this.note(handle, fresh.at(-1)?.seq ?? 0, historyLength, lostFrom);
    const waiting = this.pending.get(handle) ?? [];
    this.pending.set(handle, [...waiting.filter(({ seq }) => lostFrom === undefined || seq < lostFrom), ...fresh]);
    crashPoint('recorder.taken', { handle });
    if (lostFrom !== undefined) this.lost.set(handle, { from: lostFrom, history: historyLength });
    if (fresh.some(mustBeWritten)) return this.write(handle);
    this.flushWithin(fresh.every((event) => event.type === 'run-started') ? startMs : batchMs);
  }

  /** Resolves when what was taken of the run so far is in the store; its start alone can wait. */
  async written(handle: string): Promise<void> {
    const waiting = this.pending.get(handle) ?? [];
    if (waiting.some((event) => event.type !== 'run-started')) return this.write(handle);
    return this.writing.get(handle);
  }

  private flushWithin(ms: number): void {
    const now = performance.now();
    const dueAt = Math.max(now + ms, this.flushedAt + busyMs);
    if (dueAt >= this.dueAt) return;
    clearTimeout(this.timer);
    this.dueAt = dueAt;
    this.timer = setTimeout(() => this.flush(), dueAt - now);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.dueAt = Number.POSITIVE_INFINITY;
    this.flushedAt = performance.now();
    const handles = [...this.pending.keys()];
    this.flushing = Promise.all(handles.map((handle) => this.write(handle))).then(() => undefined);
  }

  /** Returns when everything of the run is in the store; waits for a store that is away. */
  private async write(handle: string): Promise<void> {
    const before = this.writing.get(handle)?.catch(() => undefined) ?? Promise.resolve();
    const writing = before.then(() => this.writePending(handle));
    this.writing.set(handle, writing);
    try {
      await writing;
    } finally {
      if (this.writing.get(handle) === writing) this.writing.delete(handle);
    }
  }

  private async writePending(handle: string): Promise<void> {
    const events = this.pending.get(handle);
    if (events === undefined) return;
    this.pending.delete(handle);
    const lost = this.lost.get(handle);
    this.lost.delete(handle);
    if (await this.executions.isCopy(handle)) return;
    crashPoint('recorder.writing', { handle });
    for (;;) {
      try {
        const slim = await Promise.all(events.map((event) => this.slim(event)));
        if (lost === undefined) await this.store.events.append(handle, slim);
        // Somebody else goes on with the run.
        else if (!(await this.store.events.takeBack(handle, lost.from, lost.history, slim))) return;
        crashPoint('recorder.written', { handle });
        break;
      } catch (error) {
        if (this.closed) throw error;
        if (!isAway(error)) return this.end(handle, events, error);
        await sleep(retryMs);
      }
    }
  }

  private async end(handle: string, events: readonly RunEvent[], error: unknown): Promise<void> {
    this.refused.set(handle, true);
    this.pending.delete(handle);
    await this.endRefused(
      handle,
      error,
      events.find((event) => event.type === 'run-started'),
    );
  }

  /** A run that comes to a longer history has it from the tasks before; one whose task was lost begins anew. */
  private note(handle: string, latest: number, task: number, lostFrom: number | undefined): void {
    const before = this.taken.get(handle);
    const isLater = before !== undefined && lostFrom === undefined && task > before.task;
    const inHistory = isLater
      ? before.latest
      : Math.min(before?.inHistory ?? -1, (lostFrom ?? Number.POSITIVE_INFINITY) - 1);
    this.taken.set(handle, { inHistory, latest, task });
  }

  /** Values too large for a row are kept by content hash; the event holds a reference and a preview. */
  private async slim(event: RunEvent): Promise<RunEvent> {
    if (event.type === 'run-finished') return { ...event, outputs: await this.references(event.outputs) };
    if (event.type === 'run-started') return { ...event, inputs: await this.references(event.inputs) };
    return event;
  }

  private async references(values: JsonObject): Promise<JsonObject> {
    const slim = await Promise.all(
      Object.entries(values).map(async ([name, value]) => [name, await this.reference(value)] as const),
    );
    return Object.fromEntries(slim);
  }

  private async reference(value: Json): Promise<Json> {
    const content = Buffer.from(JSON.stringify(value));
    if (content.length <= inlineBytesMax) return value;
    const hash = createHash('sha256').update(content).digest('hex');
    await this.store.payloads.put(hash, content);
    return { $payload: hash, bytes: content.length, preview: previewOf(value) } satisfies JsonObject;
  }

  async close(): Promise<void> {
    this.flush();
    this.closed = true;
    await this.flushing;
    await this.lostRecords?.close();
  }
}

/** A run's start, with the hash of what it runs: history, where each byte counts, has the definition itself. */
function named(events: RunEvent[], definition: Definition | undefined): RunEvent[] {
  if (definition === undefined) return events;
  return events.map((event) =>
    event.type === 'run-started' && event.definitionHash === ''
      ? { ...event, definitionHash: contentHash(definition) }
      : event,
  );
}

const contextOf = (handle: string, { project, persona, definitionHash }: RunStarted): RunContext => ({
  handle,
  project,
  persona,
  definitionHash,
});

function mustBeWritten(event: RunEvent): boolean {
  if (event.type === 'asked' || event.type === 'paused') return true;
  return (
    event.type === 'run-finished' ||
    (event.type === 'run-started' && (event.parent !== null || event.origin?.type === 'schedule'))
  );
}
