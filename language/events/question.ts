/**
 * What a run asks of its persona, and what it is told. A question is part of the run's position: it
 * is asked once, whatever happens to workers meanwhile, and answered once.
 */
import type { Json, JsonObject } from '../json.ts';
import type { EscalationRule } from '../settings.ts';

/**
 * approval: an approval step. action: a step that may not act without approval. The others are the
 * conditions of `escalateOn` rules; a limit that holds the run is `timeout`.
 */
export type QuestionKind = 'approval' | 'action' | EscalationRule['condition'];

export type Choice = 'approve' | 'reject' | 'retry' | 'skip' | 'edit' | 'abort' | 'extend' | 'stop';
export const CHOICES: readonly Choice[] = ['approve', 'reject', 'retry', 'skip', 'edit', 'abort', 'extend', 'stop'];

/** Answers after which something happens that the question showed. */
const ACTING: ReadonlySet<Choice> = new Set(['approve', 'edit', 'retry']);

export const isActing = (choice: Choice): boolean => ACTING.has(choice);

/** After these the run does what it asked about, or more than it was allowed. */
export const letsAct = (choice: Choice): boolean => isActing(choice) || choice === 'extend';

export type Priority = NonNullable<EscalationRule['priority']>;

/** Answers that a run remembers, so that whoever answers again is told the first one. */
export const answersKeptMax = 100;

/** Several who are asked one question, persons or groups: `atLeast` of them have to approve, each a different person. */
export interface Approvers {
  of: string[];
  atLeast: number;
}

/** One of several approvals that a question needs. */
export interface Approval {
  by: string;
  /** Whose approval it is: `by`, or who has `by` answer in their place; and by which of the names that are asked. */
  person: string;
  among: string;
  note: string | null;
  data: Json;
  at: number;
}

export interface Question {
  /** The step's key; `limit.timeoutMs` and the like for questions of the run itself. */
  id: string;
  kind: QuestionKind;
  message: string;
  /** The choices that apply. */
  choices: Choice[];
  /** What the persona needs to see; of an action that waits for approval, the action. */
  show: Json;
  /** A JSON Schema of the data an answer must carry. */
  form: JsonObject | null;
  /** Who is asked; of several, their names. */
  assignee: string;
  /** Several who are asked together, and who of them have approved so far. */
  approvers?: Approvers;
  approvals?: Approval[];
  priority: Priority;
  askedAt: number;
  expiresAt: number | null;
  /** How long it is open before the first reminder; each further one takes twice as long as the one before. Absent: there are none. */
  remindAfterMs?: number;
  /** When the next reminder is due; time that the run is held is added to it. Absent: there is none. */
  remindAt?: number;
  /** How many reminders there were; absent: none. */
  reminders?: number;
  /** How long the run had been held when it was asked, in milliseconds; absent: not at all. Time that it is held afterwards is added to `expiresAt` and to reminders. */
  held?: number;
  /** SHA-256 over the canonical text of exactly what is asked: an answer to anything else is refused. */
  digest: string;
}

export interface Answer {
  choice: Choice;
  note: string | null;
  data: Json;
  /** Who answered; of several, the last. */
  by: string;
  at: number;
  /** Of a question to several: all that were given. */
  approvals?: Approval[];
}

export interface Settled {
  id: string;
  digest: string;
  answer: Answer;
}

/** How a question ended. `withdrawn`: the run no longer needs to know. */
export type QuestionState = 'open' | 'answered' | 'expired' | 'withdrawn';

/** Why a run is held that has come to a limit; who reports to somebody asks about it next. */
export const reasonAtLimit = (limit: string): string => `the limit ${limit} is reached`;
export const isAtLimit = (reason: string): boolean => /^the limit \S+ is reached$/.test(reason);

/** Why a nested run is held that goes on when the run around it does. */
export const HELD_WITH_PARENT = 'the run that started this one is paused';
