/**
 * The store as the rest of the project sees it. History is the truth of a run; these rows are what
 * people and commands read. Everything written here is idempotent: run events by (handle, seq),
 * definitions and payloads by content hash, journal rows and records by (handle, key).
 */
import type { FailureInfo } from '../../../language/failure.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import type {
  Answer,
  Approval,
  Approvers,
  Choice,
  Priority,
  QuestionKind,
  QuestionState,
} from '../../../language/events/question.ts';
import type { RunEvent, RunOutcome, RunStatus, StepStarted, Warning } from '../../../language/events/run-event.ts';
import type { Calls } from './models/call-contract.ts';
import type { Checkpoints } from './checkpoint-contract.ts';
import type { Cassettes } from './models/cassette-contract.ts';
import type { Conversations } from './models/conversation-contract.ts';
import type { SystemTables } from './system-contract.ts';
import type { Evaluations } from '../evaluations/evaluation-contract.ts';
import type { EventCursors } from './cursor-contract.ts';
import type { Signals } from './event-contract.ts';
import type { Executions } from './execution-contract.ts';
import type { PersonaDayStore, PersonaLimitStore } from './persona-contract.ts';
import type { LeaseStore } from './lease-contract.ts';
import type { Incidents } from './incident-contract.ts';
import type { LostSteps } from './lost-steps-contract.ts';
import type { LimitStore } from './models/limit-contract.ts';
import type { NotificationStore } from './notification-contract.ts';
import type { OpenSession, Session } from './session-contract.ts';
import type { Subscription } from './subscription.ts';
import type { Records } from './record-contract.ts';
import type { Saving, Seeker, Sentinels } from './sentinel-contract.ts';
import type { RawAnswers } from './models/raw-answer-contract.ts';
import type { SpendingStore } from './models/spending-contract.ts';
import type { TriggerStore } from './trigger-contract.ts';
import type { WebhookStore } from './webhook-contract.ts';

export type { OpenSession, Session } from './session-contract.ts';

/** Of a definition that is kept by its hash alone. */
export const KEPT_VERSION = 0;

export interface StoredDefinition {
  hash: string;
  name: string;
  version: number;
  definition: Definition;
  createdAt: number;
}

/** Who starts a run: `agent` over MCP, `step` a step of another run, `person` at the command line or by a program of theirs. */
export type RunStarter = 'person' | 'agent' | 'step' | 'trigger' | 'schedule' | 'background';

export interface NewRun {
  handle: string;
  name: string;
  definitionHash: string;
  project: string;
  persona: string;
  parent: string | null;
  inputs: JsonObject;
  startedAt: number;
  /** Default: `person`. */
  startedBy?: RunStarter;
}

export interface Run extends NewRun {
  startedBy: RunStarter;
  status: RunStatus;
  outcome: RunOutcome | null;
  limit: string | null;
  failure: FailureInfo | null;
  outputs: { [name: string]: Json } | null;
  iterations: number;
  finishedAt: number | null;
}

/** Which runs; all where nothing is said. */
export interface RunQuery {
  status?: RunStatus;
  outcome?: RunOutcome;
  persona?: string;
  name?: string;
  project?: string;
  /** Started from then on, in milliseconds since the epoch. */
  since?: number;
  /** `false`: only those that no step started. */
  isNested?: false;
  startedBy?: RunStarter;
  limit?: number;
}

/** Which of them have asked models; all where nothing is said. */
export interface AskedRuns {
  /** These, and the runs nested in them. */
  handles?: readonly string[];
  outcomes?: readonly RunOutcome[];
  name?: string;
  /** Started from then on, in milliseconds since the epoch. */
  since?: number;
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
  /** `stdout`, `stderr`, or one of what models say (language/models/model-streams.ts); reading `combined` merges them in order of writing. */
  stream: string;
  /** Attempt of the activity; with `part` it makes appending idempotent. */
  attempt: number;
  /** Position within the step's log; writing the same part again replaces it. */
  part: number;
  text: string;
  /** Bytes left out just before this chunk because of the log's bound. */
  droppedBytes: number;
  /** How many bytes of what the process wrote to the stream the log stands for with it; absent where nobody would go on with the log. */
  readBytes?: number;
}

/** What another worker needs in order to go on with a log. */
export type BegunChunk = Pick<LogChunk, 'stream' | 'part' | 'droppedBytes'> & {
  bytes: number;
  readBytes: number | null;
};

/** What was added to a log by one writer. */
export type LogPiece = Pick<LogChunk, 'key' | 'stream' | 'attempt' | 'text' | 'droppedBytes'>;

export interface LogLine {
  /** The run whose step wrote the line: the one that was asked for, or one nested in it. */
  handle: string;
  key: string;
  stream: string;
  /** When the chunk in which the line begins was written, in milliseconds since the epoch. */
  at: number;
  text: string;
}

export interface LogQuery {
  stream: string;
  /** Lines of nested runs too. */
  nested?: boolean;
  /**
   * Lines of this step alone, and of what is inside it: `steps.2@1`, `steps.2` in every pass, `steps.2@1/steps.0@1`
   * in a nested run.
   */
  step?: string;
}

/** Something a persona is asked (`open` until it is settled) or was told. */
export interface InboxItem {
  handle: string;
  id: string;
  persona: string;
  kind: QuestionKind;
  message: string;
  priority: Priority;
  choices: Choice[];
  show: Json;
  form: JsonObject | null;
  /** Names exactly what is asked; null for what is only told. */
  digest: string | null;
  askedAt: number;
  expiresAt: number | null;
  state: QuestionState | 'told' | 'seen';
  answer: Answer | null;
  /** How often whoever is asked was reminded. */
  reminders: number;
  /** Where several are asked, and who of them have approved; `persona` holds their names. */
  approvers?: Approvers;
  approvals?: Approval[];
}

export interface InboxListQuery {
  /** One, or any of several. */
  persona?: string | readonly string[];
  handle?: string;
  id?: string;
  all?: boolean;
  /** Only of runs that work there. */
  project?: string;
  /** The most pressing first, of these the oldest; the newest first where it is left out. */
  order?: 'next';
  limit?: number;
}

export interface Store {
  definitions: {
    /** Saves by content hash; the same content again returns the version it already has. Without `by` it is nobody's. */
    save(definition: Definition, by?: Saving): Promise<StoredDefinition>;
    /** Saves it as the one that its name finds, whatever was saved before. */
    publish(definition: Definition, by?: Saving): Promise<StoredDefinition>;
    /** Keeps it by its hash, under no name: what a step or a model starts or stores. Saved under its name already, it stays what it is. */
    keep(definition: Definition): Promise<StoredDefinition>;
    /** By name (what it finds for who asks) or by hash. */
    find(nameOrHash: string, seeker?: Seeker): Promise<StoredDefinition | null>;
    /** The same among what has been saved and not forgotten: nothing that is kept by its hash alone. */
    findSaved(nameOrHash: string, seeker?: Seeker): Promise<StoredDefinition | null>;
    /** What each name finds, by name. */
    list(seeker?: Seeker): Promise<StoredDefinition[]>;
    /** All that have been saved as what a name finds, the newest version first. */
    versions(name: string, seeker?: Seeker): Promise<StoredDefinition[]>;
    /** From then on the name does not find it; runs and triggers keep theirs, which they know by hash. False where it found nothing. */
    forget(name: string, seeker?: Seeker, session?: Session): Promise<boolean>;
  };
  sentinels: Sentinels;
  runs: {
    /** False when the handle is taken. A run sees the events after `sinceSeq`, or after its creation. */
    create(run: NewRun, sinceSeq?: number): Promise<boolean>;
    /** Removes a run that never started (its workflow could not be started). */
    discard(handle: string): Promise<void>;
    find(handle: string): Promise<Run | null>;
    /** Newest first. */
    list(query: RunQuery): Promise<Run[]>;
    /** Handles of runs that no step started and that begin so, newest first. */
    beginningWith(beginning: string, limit: number): Promise<string[]>;
    /** Runs that have asked models, the oldest first, page by page. */
    asked(query: AskedRuns): AsyncGenerator<Run>;
    /** Handles of the runs that steps of this one started, or one of its steps, in the order they began. */
    nested(handle: string, key?: string): Promise<string[]>;
    /** Handles of the runs below this one, at any depth, that have not ended. */
    underWayBelow(handle: string): Promise<string[]>;
    /** Runs that are paused below any of these, newest first, each with the one that it is below of. */
    pausedBelow(handles: readonly string[]): Promise<{ handle: string; name: string; around: string }[]>;
    /**
     * Makes this execution the run, where none has been and the run has not ended: the first one counts. A
     * nested run is not claimed so: whose it is, its parent says. Null where there is no such run.
     */
    claim(handle: string, execution: string): Promise<{ execution: string | null; parent: string | null } | null>;
    /** Makes this execution the nested run, also in place of one before it: a parent that was reset starts it again. */
    claimNested(handle: string, execution: string): Promise<void>;
    /** Projects with a run that has not ended, or that an event is to start. */
    projectsAtWork(): Promise<string[]>;
    context(handle: string): Promise<RunContext | null>;
    /** What the run itself said at its start: it need not be read here any more. */
    remember(context: RunContext): void;
  };
  events: {
    /** Upserts by (handle, seq) and keeps the run's row in step (started, paused, finished). */
    append(handle: string, events: readonly RunEvent[]): Promise<void>;
    /**
     * Takes back what an attempt that was lost had recorded of the workflow's own from this number on,
     * and what came of it: the run's status and end, and what stood in the inbox. False where a later
     * attempt has gone on with the run: then nothing of this one counts. `history`: its length then.
     * `instead`: what whoever goes on has recorded, written with it: nobody finds the one without the other.
     */
    takeBack(handle: string, from: number, history: number, instead?: readonly RunEvent[]): Promise<boolean>;
    /** The latest number of the workflow's own; 0 where there is none. */
    latestOwn(handle: string): Promise<number>;
    /** Events after `seq`, in order, at most `limit` (1,000): go on from the last one's `seq`. */
    after(handle: string, seq: number, limit?: number): Promise<RunEvent[]>;
    /** The newest of these types; null where there is none. */
    newest<Type extends RunEvent['type']>(
      handle: string,
      types: readonly Type[],
    ): Promise<Extract<RunEvent, { type: Type }> | null>;
    /** The latest of these types, at most `limit`, in order. */
    latest<Type extends RunEvent['type']>(
      handle: string,
      types: readonly Type[],
      limit: number,
    ): Promise<Extract<RunEvent, { type: Type }>[]>;
    /** What steps that have not ended are said to wait for at that time (milliseconds since the epoch), in order. */
    waits(handle: string, now: number): Promise<Warning[]>;
    /** Of the steps that began last, those that have not ended, in order. */
    underWay(handle: string): Promise<StepStarted[]>;
    /** Whether a step has begun, and has not ended. */
    isUnderWay(handle: string, key: string): Promise<boolean>;
    /**
     * Stored and future events in order, until the run has finished or `signal` aborts. A parallel
     * branch's number that becomes visible late is yielded late; the run's start comes first, and its end last.
     */
    follow(handle: string, options: { after?: number; signal?: AbortSignal }): AsyncIterable<RunEvent>;
  };
  inbox: {
    /** Newest first; without `all` what waits for an answer or has not been seen. `handle` includes nested runs, `id` is a question's own. */
    list(query: InboxListQuery, session?: Session): Promise<InboxItem[]>;
    /** Ids of the questions that the run itself has open: all of them, in order. */
    open(handle: string): Promise<string[]>;
    /** Marks what was only told as seen: to a persona, by a run itself, under an id; how many. */
    clear(told: { persona?: string; handle?: string; id?: string }, session?: Session): Promise<number>;
  };
  logs: {
    /** `fence`: they are left out where the step has a log of a later attempt. */
    append(chunks: readonly LogChunk[], fence?: number): Promise<void>;
    /** Appends with the session's commit; called back once it is made, it tells those who follow. */
    add(session: Session, chunks: readonly LogChunk[]): () => void;
    /** What there is of a log, in order of its parts. */
    begun(log: Pick<LogChunk, 'handle' | 'key' | 'attempt'>): Promise<BegunChunk[]>;
    streams(handle: string): Promise<{ stream: string; bytes: number }[]>;
    /** Lines [offset, offset+limit) of a stream; `combined` merges stdout, stderr and what models said, `model` is the last alone. */
    read(handle: string, stream: string, offset: number, limit: number): Promise<string[]>;
    tail(handle: string, query: LogQuery, lines: number): Promise<LogLine[]>;
    /** Whether more than one step has written what the query asks for. */
    isOfSeveralSteps(handle: string, query: LogQuery): Promise<boolean>;
    /** Lines as they come, until the run has ended or `signal` aborts. */
    follow(handle: string, query: LogQuery, options: { signal?: AbortSignal }): AsyncIterable<LogLine>;
    /** The same in pieces, for whoever looks again and again. */
    reader(handle: string, stream: string): { read(): Promise<LogPiece[]>; readonly hasMore: boolean };
    /** Hears of every writing to the run's logs, and of its end. */
    listen(handle: string): Subscription;
  };
  payloads: {
    /** Idempotent: the key is the content's SHA-256. */
    put(hash: string, content: Uint8Array): Promise<void>;
    get(hash: string): Promise<Uint8Array | null>;
  };
  records: Records;
  /** Values of secret environment variables, by the token that stands for them in a run. */
  secrets: {
    /** `namespace`: whose schedule they are sealed for, by its id in Temporal. */
    keep(handle: string, values: ReadonlyMap<string, string>, namespace?: string): Promise<void>;
    /** Those that are kept, by token. */
    find(tokens: readonly string[]): Promise<Map<string, string>>;
    /** What is kept for a run, or for a schedule (`scheduleOwner`). */
    tokensOf(handle: string): Promise<string[]>;
    /**
     * Nothing starts with them any more: they are removed at once, or by `sweep` where a run that goes
     * on holds one, or may hold one without its row being there yet.
     */
    retire(tokens: readonly string[], how: { mayBeHeld: boolean }): Promise<void>;
    /** Sealed for schedules of the namespace a day ago or earlier and not retired: a page of them, in the order of schedules, behind one. */
    ofSchedules(namespace: string, after: string): Promise<{ schedule: string; tokens: string[] }[]>;
    /** Removes the values of runs that ended more than a day ago, retired ones, and those of starts that came to nothing. */
    sweep(): Promise<void>;
  };
  conversations: Conversations;
  cassettes: Cassettes;
  evaluations: Evaluations;
  rawAnswers: RawAnswers;
  calls: Calls;
  checkpoints: Checkpoints;
  systems: SystemTables;
  spending: SpendingStore;
  incidents: Incidents;
  lostSteps: LostSteps;
  limits: LimitStore;
  leases: LeaseStore;
  personaLimits: PersonaLimitStore;
  personaDays: PersonaDayStore;
  notifications: NotificationStore;
  signals: Signals;
  cursors: EventCursors;
  executions: Executions;
  triggers: TriggerStore;
  webhooks: WebhookStore;
  journal: {
    find(handle: string, key: string): Promise<Json | null>;
    /** The row whose key begins so and that is not forgotten. */
    latest(handle: string, prefix: string): Promise<{ key: string; result: Json } | null>;
    /** Results of the keys that begin with a prefix and end with a number, in the order of the numbers. */
    rows(handle: string, prefix: string): Promise<Json[]>;
    /** Notes a word for whoever asks for it; once is enough. */
    note(handle: string, key: string): Promise<void>;
    /** Keeps a value for whoever asks for it; the latest counts. */
    keep(handle: string, key: string, value: Json): Promise<void>;
    /** Whether the run has a segment whose events are numbered from `seq` or further on. */
    isBeyond(handle: string, seq: number): Promise<boolean>;
    /** Removes the rows of runs that ended more than a day ago: no attempt of theirs can be alive. */
    sweep(): Promise<void>;
  };
  session(): OpenSession;
  /** Names this database: whoever shares it is of one installation, and nobody else is. */
  installation(): Promise<string>;
  /** The key that seals what goes to Temporal, for those who share this database; the first one to ask makes it. */
  sealKey(made: string): Promise<string>;
  /** Resolves when a trivial query answers; rejects with the driver's error. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
