/**
 * How a run ends, and what its parent sees of it.
 *
 * A nested run's value is `{success, iterations, results, failureCount, average…, …named outputs}`.
 * A pass failed when one of the outputs it set says so: `success: false`, or `grade.score` (or
 * `score` of an output called grade) below passingScore. `average<X>` is the mean over all passes of
 * every numeric output x or xScore. `success`: the run completed and its last pass did not fail.
 */
import type { FailureInfo } from '../language/failure.ts';
import { isJsonObject, valueFault, type Json, type JsonObject } from '../language/json.ts';
import { passingScore, valueBytesMax } from '../language/limits.ts';
import { isSafeName } from '../language/expression/scope.ts';
import type { RunOutcome } from '../language/events/run-event.ts';
import type { Flow, Usage, Variables, NestedEffect, Reply } from './effect.ts';
import { usageOf } from './budget.ts';
import { givenBy } from './declared-outputs.ts';
import { openIn, type LoopFrame, type Tally } from './position.ts';
import { entriesFor } from '../language/catalogue.ts';
import type { SentinelStep, Step } from '../language/model.ts';
import { defined } from '../language/defined.ts';
import { isCancelled, shieldOf, type RunInput, type Strand } from './host.ts';
import type { Walk } from './walk-state.ts';
import { limitsOf, runningMs } from './limits.ts';
import type { Allowed } from './verdict.ts';

const resultsKeptMax = 100;

export interface RunResult {
  outcome: RunOutcome;
  status: 'completed' | 'failed' | 'cancelled';
  limit?: string;
  failure?: FailureInfo;
  iterations: number;
  durationMs: number;
  outputs: Variables;
  /** Present for nested runs only. */
  tally?: Tally;
  /** Present for nested runs: what it used, with the runs nested in it. */
  spent?: Usage;
}

export function passFailed(name: string, value: Json): boolean {
  if (!isJsonObject(value)) return false;
  if (value['success'] === false) return true;
  const grade = name === 'grade' ? value : value['grade'];
  return isJsonObject(grade) && typeof grade['score'] === 'number' && grade['score'] < passingScore;
}

/** The numbers of one output that averages are taken of: the value itself, or its `…Score` fields. */
function numbersOf(name: string, value: Json): [string, number][] {
  if (typeof value === 'number') return [[name, value]];
  if (!isJsonObject(value)) return [];
  // A nested run has averages of its own, and no mean is taken of those.
  return Object.entries(value).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && !/^average[A-Z]/.test(entry[0]),
  );
}

/** Closes the books on a pass. */
export function tallyPass(tally: Tally, own: Variables, keepResults: boolean): void {
  const outputs: Variables = {};
  let failed = false;
  for (const name of tally.touched) {
    const value = own[name];
    if (value === undefined) continue;
    failed ||= passFailed(name, value);
    if (!keepResults) continue;
    outputs[name] = value;
    for (const [field, number] of numbersOf(name, value)) {
      const known = Object.hasOwn(tally.numbers, field) ? tally.numbers[field] : undefined;
      const { sum, count } = known ?? { sum: 0, count: 0 };
      if (isSafeName(field)) tally.numbers[field] = { sum: sum + number, count: count + 1 };
    }
  }
  tally.lastPassed = !failed;
  if (failed) tally.failureCount += 1;
  if (keepResults) tally.results = bounded([...tally.results, outputs].slice(-resultsKeptMax));
  tally.touched = [];
}

/** The newest results that together stay within the bound of one value. */
function bounded(results: Variables[]): Variables[] {
  let bytes = 0;
  const first = results.findLastIndex((result) => {
    bytes += JSON.stringify(result).length;
    return bytes > valueBytesMax;
  });
  return results.slice(first + 1);
}

function averages(tally: Tally): JsonObject {
  const means: JsonObject = {};
  for (const [name, { sum, count }] of Object.entries(tally.numbers)) {
    const base = name.endsWith('Score') ? name.slice(0, -'Score'.length) : name;
    if (base !== '') means[`average${base[0]?.toUpperCase()}${base.slice(1)}`] = sum / count;
  }
  return means;
}

/** What an awaited nested run is to its parent. */
export function valueOfNestedRun(result: RunResult): JsonObject {
  const tally = result.tally;
  return {
    ...(tally ? averages(tally) : {}),
    ...result.outputs,
    success: result.outcome === 'completed' && (tally?.lastPassed ?? true),
    outcome: result.outcome,
    iterations: result.iterations,
    results: tally?.results ?? [],
    failureCount: tally?.failureCount ?? 0,
  };
}

/** A pass that was ended before its first step had ended does not count; one in which a step failed does, whichever it was. */
function passesMade(loop: LoopFrame, { kind }: Flow): number {
  const isUntouched = kind !== 'failed' && !loop.between && loop.block.at === 0 && openIn(loop.block) === undefined;
  return isUntouched ? loop.pass - 1 : loop.pass;
}

export function resultOf(walk: Walk, ending: Flow, at: number): RunResult {
  const { position, input } = walk;
  const { outputs, flow } = givenBy(walk, ending);
  const common = {
    iterations: passesMade(position.loop, flow),
    durationMs: at - input.startedAt,
    outputs,
    ...(input.parent === null ? {} : { tally: tallyFor(walk), spent: usageOf({ position }) }),
  };
  switch (flow.kind) {
    case 'done':
      return { outcome: 'completed', status: 'completed', ...common };
    case 'failed':
      return { outcome: 'failed', status: 'failed', failure: flow.failure, ...common };
    case 'stopped':
      return {
        outcome: 'stopped',
        status: flow.limit === 'stop' ? 'cancelled' : 'failed',
        limit: flow.limit,
        ...defined({ failure: flow.failure }),
        ...common,
      };
    case 'cancelled':
      return { outcome: 'cancelled', status: 'cancelled', ...common };
    case 'yield':
    case 'segment':
      throw new Error(`bug: a run cannot end with "${flow.kind}"`);
    default:
      return flow satisfies never;
  }
}

/** What a definition declares stands in place of the averages, too. */
function tallyFor({ input: { definition }, position: { tally } }: Walk): Tally {
  return definition.outputs === undefined ? tally : { ...tally, numbers: {} };
}

/** A nested run seen from its parent: what it starts with, and what its end means to the step. */

export function nestedInput(walk: Walk, strand: Strand, effect: NestedEffect): RunInput {
  const { input } = walk;
  const library = { ...effect.library, ...input.library };
  // It is at work in the place of the run around it.
  const { unset: _unset, root: _root, forks: _forks, places: _places, awaited: _awaited, ...own } = input;
  const isAwaited = effect.wait && shieldOf(strand) === null;
  return {
    ...own,
    ...defined({ unset: effect.unset, root: effect.root, forks: effect.forks }),
    ...(isAwaited ? { awaited: true } : {}),
    handle: `${input.handle}/${effect.key}`,
    definition: effect.definition,
    definitionHash: '',
    library,
    // What this run knows a command as, it is to the runs in it.
    catalogue: entriesFor({ ...effect.catalogue, ...input.catalogue }, [effect.definition, ...Object.values(library)]),
    base: effect.base,
    limits: limitsOf(effect.definition, effect.limits),
    depth: effect.depth,
    parent: input.handle,
    startedAt: walk.host.now(),
  };
}

/** A nested run that failed fails the step; one that a limit or a stop ended has a result to look at. */
export function nestedReply(key: string, result: RunResult): Reply {
  const reply = endOf(key, result);
  return result.spent === undefined ? reply : { ...reply, usage: result.spent };
}

function endOf(key: string, result: RunResult): Reply {
  const fault = valueFault(result.outputs, `${key}: what the nested run returns`);
  if (fault !== null) return { ok: false, failure: { ...fault, retryable: false } };
  if (result.outcome === 'completed') return { ok: true, value: valueOfNestedRun(result) };
  if (result.outcome === 'stopped')
    return { ok: true, value: valueOfNestedRun(result), stoppedBy: result.limit ?? 'stop' };
  if (result.outcome === 'cancelled') {
    return {
      ok: false,
      failure: { code: 'CHILD_FAILED', message: `${key}: the nested run was cancelled`, retryable: false },
    };
  }
  const finding = result.failure?.message ?? 'it failed';
  const details = { code: result.failure?.code ?? 'CHILD_FAILED' };
  return {
    ok: false,
    failure: { code: 'CHILD_FAILED', message: `${key}: the nested run failed: ${finding}`, retryable: true, details },
  };
}

/** Whether the step's own time ends it. A nested run that nobody waits for has that time as a limit. */
export function isTimed(step: SentinelStep): boolean {
  return step.timeoutMs !== undefined && step.await !== false;
}

/**
 * Performs an effect, a nested run within the `timeoutMs` of its step: when that has passed, the run
 * is cancelled and cleans up, and then the step has failed. Limits of the nested run itself end it as
 * they do any run. Time that the run around it is held does not count.
 */
export function performInTime(walk: Walk, strand: Strand, step: Step, allowed: Allowed): Promise<Reply> {
  const { timeoutMs } = step;
  const { effect } = allowed;
  if (effect.type !== 'sentinel' || step.type !== 'sentinel' || timeoutMs === undefined || !isTimed(step))
    return walk.host.perform(strand, allowed);
  const since = runningMs(walk);
  // Not a clean-up of its own, which only its own time would end: one around it holds for it, too.
  const { shield: _shield, ...plain } = strand;
  const inner: Strand = { ...plain, cancelled: false, within: strand };
  let reply: Reply = { ok: false, cancelled: true };
  const perform = async (): Promise<Flow> => {
    reply = await walk.host.perform(inner, allowed);
    return { kind: 'done' };
  };
  return walk.host
    .bound(inner, () => timeoutMs - (runningMs(walk) - since), perform)
    .then(() => {
      const isLate = !reply.ok && 'cancelled' in reply && inner.cancelled && !isCancelled(strand);
      return isLate ? tooLate(effect.key, timeoutMs, reply) : reply;
    });
}

function tooLate(key: string, timeoutMs: number, { usage }: Reply): Reply {
  const message = `${key}: the nested run did not end within the step's timeoutMs ${timeoutMs} and was cancelled; raise timeoutMs, or do less in it`;
  return {
    ok: false,
    failure: { code: 'STEP_TIMEOUT', message, retryable: true },
    ...defined({ usage }),
  };
}
