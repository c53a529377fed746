/** What the store keeps of processes that steps started and did not wait for: executions. */
import type { FailureInfo } from '../../../language/failure.ts';
import type { Json } from '../../../language/json.ts';
import type { Rule } from '../../../language/model.ts';
import type { Subscription } from './subscription.ts';

export interface ExecutionLine {
  /** Counts from 1, over both streams, in order of arrival. */
  n: number;
  stream: 'stdout' | 'stderr';
  text: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface NewExecution {
  id: string;
  handle: string;
  /** Key of the step that started it. */
  key: string;
  request: Json;
  /** Marker of the worker that holds the process. */
  worker: string;
}

export interface Execution extends NewExecution {
  /** How often it was started: once more for every worker that died with it. */
  attempt: number;
  rules: Rule[] | null;
  pid: number | null;
  isRunning: boolean;
  exitCode: number | null;
  signal: string | null;
  /** Why it was ended by what watches over it; null where it ended by itself or with its run. */
  failure: FailureInfo | null;
  /** Lines printed so far; the store keeps the first and the latest of them. */
  lines: number;
}

export interface ExecutionEnd {
  exitCode: number;
  signal: string | null;
  failure?: FailureInfo;
}

/** One start of an execution. Whoever holds an older one can write nothing any more. */
export type Holding = Pick<Execution, 'id' | 'attempt'>;

export interface RunningExecution extends Execution {
  /** Since its worker last said that it holds it. */
  silentMs: number;
  hasRunEnded: boolean;
}

export interface Executions {
  /** The execution of that id when there is one already. */
  begin(execution: NewExecution): Promise<{ execution: Execution; isNew: boolean }>;
  find(id: string): Promise<Execution | null>;
  /** Forgets one whose process could not be started. */
  discard(holding: Holding): Promise<void>;
  /** False when another worker holds it now. */
  started(holding: Holding, pid: number): Promise<boolean>;
  /** Writing the same lines again changes nothing. Answers with the rules in force; null when another worker holds it. */
  append(holding: Holding, lines: readonly ExecutionLine[]): Promise<{ rules: Rule[] } | null>;
  finish(holding: Holding, how: ExecutionEnd): Promise<void>;
  /** Null when there is no such execution. */
  setRules(id: string, rules: readonly Rule[]): Promise<Execution | null>;
  /** Kept lines after the n-th, in order. */
  lines(id: string, after: number): Promise<ExecutionLine[]>;
  /** Says that the worker holds them; answers with those it does hold. */
  renew(holdings: readonly Holding[]): Promise<Holding[]>;
  running(): Promise<RunningExecution[]>;
  /** Starts over for another worker: its lines are forgotten. Null when somebody else was quicker. */
  takeOver(holding: Holding, worker: string): Promise<Execution | null>;
  /** Its worker lets go of it: any other may take it over at once. */
  release(holding: Holding): Promise<void>;
  hasRunEnded(handle: string): Promise<boolean>;
  listen(id: string): Subscription;
  /** Hears of what the run does, its end among it. */
  listenToRun(handle: string): Subscription;
  /** Removes what runs that ended more than a day ago have left. */
  sweep(): Promise<void>;
}
