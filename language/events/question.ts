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
  /** The persona that is asked. */
  assignee: string;
  priority: Priority;
  askedAt: number;
  expiresAt: number | null;
  /** How long the run had been held when it was asked, in milliseconds; absent: not at all. Time that it is held afterwards is added to `expiresAt`. */
  held?: number;
  /** SHA-256 over the canonical text of exactly what is asked: an answer to anything else is refused. */
  digest: string;
}

export interface Answer {
  choice: Choice;
  note: string | null;
  data: Json;
  /** The persona that answered. */
  by: string;
  at: number;
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
