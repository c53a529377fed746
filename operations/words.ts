/**
 * The words of a command's context for runs, models and processes. Each is a call of the command that does the work, so
 * that there is one implementation, with the rights of that command, for whoever says it: a command of ours, one of a
 * project (runs/own/port-to-worker.ts), a step and a model.
 */
import { defined } from '../language/defined.ts';
import type { Approvers } from '../language/events/question.ts';
import type { Json, JsonObject } from '../language/json.ts';

export interface Abortable {
  /** Ends what it has begun, and this alone. */
  signal?: AbortSignal | undefined;
}

export interface RunTold {
  handle: string;
  status: string;
  /** Why it is held. */
  reason: string | null;
  /** From then on until it has ended. */
  ending: boolean;
}

export interface RunQuestion {
  id: string;
  kind: string;
  message: string;
  choices: string[];
  show: Json;
  form: JsonObject | null;
  assignee: string;
  approvers?: Approvers | undefined;
  expiresAt: number | null;
  digest: string;
}

export interface RunStanding {
  handle: string;
  name: string;
  status: string;
  hasEnded: boolean;
  outcome: string | null;
  limit: string | null;
  outputs: { [name: string]: Json } | null;
  failure: { code: string; message: string; details: JsonObject | null } | null;
  /** What it asks now; empty once it has ended. */
  questions: RunQuestion[];
}

export interface RunAnswer {
  choice: string;
  note?: string;
  data?: Json;
  /** Of the question that was seen. */
  digest?: string;
}

export interface RunAwaited extends Abortable {
  /** `asked`: it has ended, or asks something. */
  until?: 'ended' | 'asked';
  /** How long at most; then it says how the run stands. */
  timeoutMs?: number;
  /** A run that this command has started is cancelled where the command is, or its time is over. */
  cancels?: boolean;
}

export type StepChange =
  | { op: 'add'; index: number | string; step: JsonObject; note?: string }
  | { op: 'update'; index: number | string; step: JsonObject; note?: string }
  | { op: 'update'; index: number | string; params: JsonObject; note?: string }
  | { op: 'remove'; index: number | string; note?: string };

/** Of other runs, and of the one that the command is in. */
export interface Runs {
  /** Once for the step: the next attempt finds the run that the first has started. */
  start(what: JsonObject): Promise<{ handle: string; workflowId: string }>;
  status(handle: string): Promise<JsonObject>;
  pause(handle: string, said?: { reason?: string }): Promise<RunTold>;
  resume(handle: string): Promise<RunTold>;
  stop(handle: string): Promise<RunTold>;
  cancel(handle: string): Promise<RunTold>;
  steps(handle: string): Promise<JsonObject>;
  edit(handle: string, change: StepChange): Promise<JsonObject>;
  answer(handle: string, question: string, answer: RunAnswer): Promise<JsonObject>;
  tell(handle: string, text: string, at?: { step?: string }): Promise<JsonObject>;
  /** Waits. */
  result(handle: string, awaited?: RunAwaited): Promise<RunStanding>;
}

export interface ModelAsked {
  prompt?: string;
  system?: string;
  messages?: { role: 'user' | 'assistant'; content: string }[];
  images?: string[];
  schema?: JsonObject;
  model?: string;
  temperature?: number;
  maxTokens?: number;
  thinking?: string;
}

export interface ModelAnswer {
  text: string;
  /** What the text holds where it is JSON, else the text. */
  data: Json;
  stopReason: string;
  /** That answered. */
  model: string;
  usage: JsonObject;
}

export interface Spawned extends Abortable {
  /** Without them, a shell reads the command. */
  args?: readonly (string | number | boolean)[];
  /** In the project. */
  cwd?: string;
  env?: { readonly [name: string]: string | number | boolean };
  stdin?: string;
  timeoutMs?: number;
}

export interface ProcessEnd {
  exitCode: number;
  signal?: string;
  stdout: string;
  stderr: string;
  /** Both, in order of arrival. */
  output: string;
  durationMs: number;
  success: boolean;
  truncated?: boolean;
}

export interface Words {
  runs: Runs;
  /** One answer of a model. A text is its prompt. */
  ask(what: string | ModelAsked, options?: Abortable): Promise<ModelAnswer>;
  /** A process of the step, held in as its shell lines are: what it prints is in the log of the step, and it ends with it. */
  spawn(command: string, options?: Spawned): Promise<ProcessEnd>;
}

export type CallWord = (command: string, params: JsonObject, options?: Abortable) => Promise<Json>;

/** What a command states that does what a word says (`word`). */
export type Word = Exclude<keyof Runs, 'edit'> | 'add' | 'update' | 'remove' | 'ask' | 'spawn';
/** The command behind each word. */
export type WordCommands = { readonly [word in Word]?: string };

export const wordCommands = (commands: Iterable<{ name: string; word?: Word }>): WordCommands =>
  Object.fromEntries([...commands].flatMap(({ name, word }) => (word === undefined ? [] : [[word, name]])));

export function wordsOver(call: CallWord, names: WordCommands): Words {
  const said = async <Result>(word: Word, params: object, options: Abortable = {}): Promise<Result> =>
    (await call(names[word] ?? word, defined(params) as JsonObject, defined(options))) as Result;
  return {
    runs: {
      start: (what) => said('start', what),
      status: (handle) => said('status', { handle }),
      pause: (handle, { reason } = {}) => said('pause', { handle, reason }),
      resume: (handle) => said('resume', { handle }),
      stop: (handle) => said('stop', { handle }),
      cancel: (handle) => said('cancel', { handle }),
      steps: (handle) => said('steps', { sentinelId: handle }),
      edit: (handle, { op, ...change }) => said(op, { sentinelId: handle, ...change }),
      answer: (handle, question, answer) => said('answer', { handle, question, ...answer }),
      tell: (handle, text, { step } = {}) => said('tell', { handle, text, step }),
      result: (handle, { signal, ...awaited } = {}) => said('result', { handle, ...awaited }, { signal }),
    },
    ask: (what, { signal } = {}) => said('ask', typeof what === 'string' ? { prompt: what } : what, { signal }),
    spawn: (command, { signal, ...options } = {}) => said('spawn', { command, ...options }, { signal }),
  };
}
