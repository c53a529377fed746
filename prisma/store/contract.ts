/**
 * The store as the rest of the project sees it. History is the truth of a run; these rows are what
 * people and commands read. Everything written here is idempotent: run events by (handle, seq),
 * definitions and payloads by content hash, journal rows and records by (handle, key).
 */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import type { RunEvent, RunOutcome, RunStatus } from '../../language/run-event.ts';

export interface StoredDefinition {
  hash: string;
  name: string;
  version: number;
  definition: Definition;
  createdAt: number;
}

export interface NewRun {
  handle: string;
  name: string;
  definitionHash: string;
  project: string;
  persona: string;
  parent: string | null;
  inputs: JsonObject;
  startedAt: number;
}

export interface Run extends NewRun {
  status: RunStatus;
  outcome: RunOutcome | null;
  limit: string | null;
  failure: FailureInfo | null;
  outputs: { [name: string]: Json } | null;
  iterations: number;
  finishedAt: number | null;
}

/** What an activity needs to know of its run; cached, because it never changes. */
export interface RunContext {
  handle: string;
  project: string;
  persona: string;
  definitionHash: string;
}

export interface LogChunk {
  handle: string;
  key: string;
  /** `stdout`, `stderr`; reading `combined` merges them in order of writing. */
  stream: string;
  /** Attempt of the activity; with `part` it makes appending idempotent. */
  attempt: number;
  /** Position within the step's log; writing the same part again replaces it. */
  part: number;
  text: string;
  /** Bytes left out just before this chunk because of the log's bound. */
  droppedBytes: number;
}

export interface DataRecord {
  id: string;
  collection: string;
  data: JsonObject;
  createdAt: number;
}

export interface RecordQuery {
  collection: string;
  /**
   * Field → value, or field → `{ $eq, $ne, $gt, $gte, $lt, $lte, $in, $contains }`; dots descend.
   * `id` and `createdAt` name the record's own, every other field is one of its `data`.
   */
  filter?: JsonObject;
  orderBy?: { field: string; direction: 'asc' | 'desc' }[];
  /** 1,000 unless told otherwise. */
  limit?: number;
  offset?: number;
}

/**
 * SQL of one quick command. Reads go to the pool until the first write opens a transaction; from
 * then on both go through it, so a segment reads its own writes and commits as one.
 */
export interface Session {
  read<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
  write<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

export interface OpenSession extends Session {
  /**
   * Commits the session's writes together with one journal row and the run's events, and forgets
   * the journal rows of the run named in `forget`. Rejects with `JournalConflict` when another
   * attempt already journaled `key`; then nothing of this session was kept.
   */
  commit(entry: { handle: string; key: string; result: Json; events: RunEvent[]; forget?: string[] }): Promise<void>;
  /** Undoes everything; safe to call after commit. */
  close(): Promise<void>;
}

export interface Store {
  definitions: {
    /** Saves by content hash; the same content again returns the version it already has. */
    save(definition: Definition): Promise<StoredDefinition>;
    /** By name (newest version) or by hash. */
    find(nameOrHash: string): Promise<StoredDefinition | null>;
    list(): Promise<StoredDefinition[]>;
  };
  runs: {
    /** False when the handle is taken. */
    create(run: NewRun): Promise<boolean>;
    /** Removes a run that never started (its workflow could not be started). */
    discard(handle: string): Promise<void>;
    find(handle: string): Promise<Run | null>;
    list(query: { status?: RunStatus; limit?: number; persona?: string }): Promise<Run[]>;
    context(handle: string): Promise<RunContext | null>;
  };
  events: {
    /** Upserts by (handle, seq) and keeps the run's row in step (started, paused, finished). */
    append(handle: string, events: readonly RunEvent[]): Promise<void>;
    /** Events after `seq`, in order, at most `limit` (1,000): go on from the last one's `seq`. */
    after(handle: string, seq: number, limit?: number): Promise<RunEvent[]>;
    /**
     * Stored and future events in order, until the run has finished or `signal` aborts. A parallel
     * branch's number that becomes visible late is yielded late; the run's last event comes last.
     */
    follow(handle: string, options: { after?: number; signal?: AbortSignal }): AsyncIterable<RunEvent>;
  };
  logs: {
    append(chunks: readonly LogChunk[]): Promise<void>;
    streams(handle: string): Promise<{ stream: string; bytes: number }[]>;
    /** Lines [offset, offset+limit) of a stream; `combined` merges stdout and stderr. */
    read(handle: string, stream: string, offset: number, limit: number): Promise<string[]>;
    tail(handle: string, stream: string, lines: number): Promise<string[]>;
    follow(handle: string, stream: string, options: { signal?: AbortSignal }): AsyncIterable<string>;
  };
  payloads: {
    /** Idempotent: the key is the content's SHA-256. */
    put(hash: string, content: Uint8Array): Promise<void>;
    get(hash: string): Promise<Uint8Array | null>;
  };
  records: {
    /** The id defaults to one derived from (handle, key), so that writing again changes nothing. */
    create(session: Session, collection: string, id: string, data: JsonObject): Promise<DataRecord>;
    list(session: Session, query: RecordQuery): Promise<DataRecord[]>;
  };
  /** Events published by `emit`: rows with a sequence, once per (handle, key). */
  signals: {
    publish(session: Session, event: { handle: string; key: string; name: string; data: Json }): Promise<void>;
  };
  journal: {
    find(handle: string, key: string): Promise<Json | null>;
    /** Removes the rows of runs that ended more than a day ago: no attempt of theirs can be alive. */
    sweep(): Promise<void>;
  };
  session(): OpenSession;
  /** Resolves when a trivial query answers; rejects with the driver's error. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
