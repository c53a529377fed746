/**
 * Watching a process that an earlier step started: waits until it has finished, prints its first
 * error, or prints a line that a rule matches. It is woken by what the process does, through the
 * store, so it does not matter which worker holds the process.
 *
 * The result is an object that is a list as well (language/expression/scope.ts): `lines`, and `length` of them.
 * What all lines together may take is bounded; lines that a rule matched go before the others, later
 * ones before earlier ones, and `dropped` says how many are missing.
 */
import { outermost } from '../../language/events/nested-runs.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Rule } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import type { Execution, ExecutionLine } from '../../prisma/store/contract/execution-contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { classifierOf, emitLines, type ClassifiedLine, type Classifier } from './output/classification.ts';

export type Until = 'finished' | 'error' | 'match';

export interface WatchRequest {
  executionId: string;
  /** Instead of those that the execution has. */
  rules?: Rule[];
  until?: Until;
  /** An `error` or `match` is looked for after this line: earlier ones have been told. */
  after?: number;
}

export interface WatchContext {
  run: RunContext;
  key: string;
  signal: AbortSignal;
  timeoutMs: number;
  store: Pick<Store, 'executions' | 'signals'>;
  heartbeat(details?: Json): void;
  now(): number;
}

export type Blamed = { code: string; message: string; details?: JsonObject };

export type WatchResult = {
  executionId: string;
  /** What the waiting ended with. A process may finish before anything matches. */
  reason: Until;
  lines: ClassifiedLine[];
  length: number;
  /** Those of the lines that a rule matched. */
  matches: ClassifiedLine[];
  /** Null while the process goes on. */
  exitCode: number | null;
  success: boolean;
  signal?: string;
  /** Why it was ended, where a bound of the definition ended it. */
  failure?: Blamed;
  dropped?: number;
};

interface Hit {
  reason: Until;
  execution: Execution;
  /** Lines up to here belong to the result. */
  upTo: number;
}

export async function watchExecution(request: WatchRequest, context: WatchContext): Promise<WatchResult> {
  const beat = setInterval(() => context.heartbeat(), SHELL_BOUNDS.heartbeatMs);
  const subscription = context.store.executions.listen(request.executionId);
  const timeout = AbortSignal.timeout(Math.min(context.timeoutMs, SHELL_BOUNDS.timeoutMsMax));
  const either = AbortSignal.any([context.signal, timeout]);
  try {
    const look = lookOf(request, context);
    for (;;) {
      context.signal.throwIfAborted();
      const hit = await look();
      if (hit !== null) return await resultOf(request, context, hit);
      if (timeout.aborted) throw timedOut(request, context);
      await subscription.next(either);
    }
  } finally {
    clearInterval(beat);
    subscription.close();
  }
}

/** Looks at what is new since the last time. */
function lookOf(
  { executionId, rules, until = 'finished', after = 0 }: WatchRequest,
  { store, run }: WatchContext,
): () => Promise<Hit | null> {
  const from = until === 'finished' ? 0 : after;
  let seen = from;
  let attempt = 0;
  return async () => {
    // Read first: when it had ended by then, all its lines are in what follows.
    const execution = await ownExecution(store, executionId, run);
    if (execution.attempt !== attempt) seen = from;
    attempt = execution.attempt;
    const classifier = classifierOf(rules ?? execution.rules ?? []);
    const ownRules = rules !== undefined && classifier.emits;
    if (until !== 'finished' || ownRules) {
      const fresh = await store.executions.lines(executionId, seen);
      if (ownRules) await emitLines(store, execution, classifier, fresh);
      const found = until === 'finished' ? undefined : fresh.find((line) => isHit(classifier, line, until));
      if (found !== undefined) return { reason: until, execution, upTo: found.n };
      seen = fresh.at(-1)?.n ?? seen;
    }
    return execution.isRunning ? null : { reason: 'finished', execution, upTo: Number.MAX_SAFE_INTEGER };
  };
}

function isHit(classifier: Classifier, line: ExecutionLine, until: Until): boolean {
  const { classification, rule } = classifier.classify(line);
  return until === 'error' ? classification === 'error' : rule !== undefined;
}

async function resultOf(
  request: WatchRequest,
  context: WatchContext,
  { reason, execution, upTo }: Hit,
): Promise<WatchResult> {
  const { executionId, rules, until = 'finished', after = 0 } = request;
  const classifier = classifierOf(rules ?? execution.rules ?? []);
  const from = until === 'finished' ? 0 : after;
  const kept = await context.store.executions.lines(executionId, from);
  const all = kept.filter((line) => line.n <= upTo).map((line) => classifier.classify(line));
  const lines = bounded(all);
  const dropped = Math.min(execution.lines, upTo) - Math.min(execution.lines, from) - lines.length;
  const { exitCode, signal, failure } = execution;
  return {
    executionId,
    reason,
    lines,
    length: lines.length,
    matches: lines.filter((line) => line.rule !== undefined),
    exitCode,
    success: exitCode === 0,
    ...(signal === null ? {} : { signal }),
    ...(failure === null ? {} : { failure: blamed(failure) }),
    ...(dropped > 0 ? { dropped } : {}),
  };
}

const blamed = ({ code, message, details }: Blamed): Blamed => ({
  code,
  message,
  ...defined({ details }),
});

function bounded(lines: ClassifiedLine[]): ClassifiedLine[] {
  let left: number = SHELL_BOUNDS.watchBytesMax;
  const chosen = new Set<number>();
  const choose = (line: ClassifiedLine, times: number): void => {
    left -= times * Buffer.byteLength(JSON.stringify(line));
    if (left >= 0) chosen.add(line.n);
  };
  const latestFirst = lines.toReversed();
  // A matched line is told twice.
  for (const line of latestFirst) if (line.rule !== undefined) choose(line, 2);
  for (const line of latestFirst) if (line.rule === undefined) choose(line, 1);
  return lines.filter((line) => chosen.has(line.n));
}

/**
 * A process is known to the run that started it, to those around that and to those nested in it; its id says nothing to
 * others, who could work it out.
 */
export async function ownExecution(
  store: Pick<Store, 'executions'>,
  id: string,
  run: Pick<RunContext, 'handle'>,
): Promise<Execution> {
  const execution = await store.executions.find(id);
  if (execution === null || outermost(execution.handle) !== outermost(run.handle)) throw unknown(id);
  return execution;
}

function unknown(executionId: string): Failure {
  return new Failure(
    'EXECUTION_NOT_FOUND',
    `there is no execution "${executionId}" of this run; start the process with code/shell/execute and "wait": false, and use the executionId it returns`,
  );
}

function timedOut({ executionId, until = 'finished' }: WatchRequest, { timeoutMs }: WatchContext): Failure {
  const awaited =
    until === 'finished'
      ? 'did not finish'
      : until === 'error'
        ? 'printed no error'
        : 'printed no line that a rule matches';
  return new Failure(
    'STEP_TIMEOUT',
    `the process ${executionId} ${awaited} within ${timeoutMs} ms; raise timeoutMs or look into its log`,
  );
}
