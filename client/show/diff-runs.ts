/**
 * Two runs compared step by step. Steps are matched by their key (path and passes), those of nested
 * runs by the keys that lead to them, so the runs may belong to different versions of a definition.
 * Which edit a key came after makes no difference, as long as it stays the only one of its place.
 *
 * A step differs in what it is (type or label), its outcome, its failure's code, or the preview of its
 * value. How long it took makes no difference, and neither do the parts of a value that no two runs
 * share: times, and ids that are derived from the run. What a run did before another was forked from
 * it is part of both.
 */
import type { StepType } from '../../language/model.ts';
import type { RunEvent, StepOutcome } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import { comparePlaces, placeOf } from './step-keys.ts';

export interface RunSide {
  /** Tells whether the other is a fork of this one. */
  handle?: string;
  events: readonly RunEvent[];
  /** How long the run took, where its row is at hand, as its report says it; its last event counts from where the workflow began. */
  durationMs?: number;
  /** The run is held, or waits for an answer. */
  isPaused?: boolean;
  /** Events of nested runs, by what their handle adds to the run's own. */
  nested?: ReadonlyMap<string, readonly RunEvent[]>;
}

export interface SeenStep {
  step: StepType;
  label: string;
  /** `running` while it has not ended. */
  outcome: StepOutcome | 'running';
  durationMs: number | null;
  preview?: string;
  failure?: string;
}

export type Difference = 'step' | 'outcome' | 'failure' | 'value';

export interface StepDiff {
  key: string;
  /** `shared`: done before the fork, and so not done again. */
  status: 'same' | 'different' | 'shared' | 'only-a' | 'only-b';
  differs: Difference[];
  a?: SeenStep;
  b?: SeenStep;
}

export interface RunEnd {
  outcome: string;
  iterations: number;
  durationMs: number | null;
}

export interface RunDiff {
  same: boolean;
  run: { a: RunEnd; b: RunEnd };
  steps: StepDiff[];
}

export function diffRuns(a: RunSide, b: RunSide): RunDiff {
  const called = namesIn(a, b);
  const [left, right] = [stepsOf(a, called.a), stepsOf(b, called.b)];
  const keys = [...new Set([...left.keys(), ...right.keys()])].toSorted(compareKeys);
  const shared = new Set([...sharedWith(a, b, called.a), ...sharedWith(b, a, called.b)]);
  const steps = keys.map((key) => diffStep(key, left.get(key), right.get(key), shared.has(key.split('/')[0] ?? '')));
  const run = { a: endOf(a), b: endOf(b) };
  const sameEnd = run.a.outcome === run.b.outcome && run.a.iterations === run.b.iterations;
  return { same: sameEnd && steps.every(({ status }) => status === 'same' || status === 'shared'), run, steps };
}

type Called = (key: string) => string;

function stepsOf({ events, nested = new Map() }: RunSide, called: Called): Map<string, SeenStep> {
  const steps = new Map<string, SeenStep>();
  const add = (under: string, own: readonly RunEvent[]): void => {
    for (const event of own) {
      if (event.type !== 'step-started' && event.type !== 'step-finished') continue;
      const key = called(under === '' ? event.key : `${under}/${event.key}`);
      if (event.type === 'step-finished') steps.set(key, seen(event));
      else if (!steps.has(key))
        steps.set(key, { step: event.step, label: event.label, outcome: 'running', durationMs: null });
    }
  };
  add('', events);
  for (const [under, below] of nested) add(under, below);
  return steps;
}

/**
 * Keys without the revisions they began in. Where two of a run would be one, the later one keeps them,
 * and where the other run has just that key, too, both call it the same.
 */
function namesIn(a: RunSide, b: RunSide): { a: Called; b: Called } {
  const [left, right] = [keysOf(a), keysOf(b)];
  const kept = new Set<string>();
  const own = { a: namesOf(left, kept), b: namesOf(right, kept) };
  for (const key of left) if (right.has(key) && own.a.get(key) !== own.b.get(key)) kept.add(key);
  const names = kept.size === 0 ? own : { a: namesOf(left, kept), b: namesOf(right, kept) };
  return { a: (key) => names.a.get(key) ?? key, b: (key) => names.b.get(key) ?? key };
}

function keysOf({ events, nested = new Map() }: RunSide): Set<string> {
  const own = events.flatMap(({ key }) => (key === '' ? [] : [key]));
  return new Set([
    ...own,
    ...[...nested].flatMap(([under, below]) => below.flatMap(({ key }) => (key === '' ? [] : [`${under}/${key}`]))),
  ]);
}

function namesOf(keys: ReadonlySet<string>, kept: ReadonlySet<string>): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const key of keys) {
    const plain = key.replaceAll(/~\d+/g, '');
    const name = kept.has(key) || taken.has(plain) ? key : plain;
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

/** Names of the steps of a run that had begun when the other was forked from it. */
function sharedWith({ handle, events }: RunSide, fork: RunSide, called: Called): string[] {
  const origin = fork.events.find((event) => event.type === 'run-started')?.origin;
  if (origin?.type !== 'fork' || origin.of !== handle) return [];
  const at = events.find(({ key }) => key === origin.at)?.seq ?? Number.POSITIVE_INFINITY;
  return events.flatMap((event) => (event.key !== '' && event.seq < at ? [called(event.key)] : []));
}

function seen({
  step,
  label,
  outcome,
  durationMs,
  preview,
  failure,
}: Extract<RunEvent, { type: 'step-finished' }>): SeenStep {
  return {
    step,
    label,
    outcome,
    durationMs,
    ...defined({ preview }),
    ...(failure === undefined ? {} : { failure: failure.code }),
  };
}

function diffStep(key: string, a: SeenStep | undefined, b: SeenStep | undefined, isShared: boolean): StepDiff {
  if (a === undefined || b === undefined) {
    return {
      key,
      status: isShared ? 'shared' : a === undefined ? 'only-b' : 'only-a',
      differs: [],
      ...defined({ a, b }),
    };
  }
  const differs: Difference[] = a.step === b.step && a.label === b.label ? [] : ['step'];
  if (a.outcome !== b.outcome) differs.push('outcome');
  if (a.failure !== b.failure) differs.push('failure');
  if (!samePreview(a.preview, b.preview)) differs.push('value');
  return { key, status: differs.length === 0 ? 'same' : 'different', differs, a, b };
}

/** Fields that differ between any two runs: how long, when, and ids made from the run's handle. */
const OWN_TO_A_RUN =
  /"(?:durationMs|averageDurationMs|createdAt|averageCreatedAt|handle)":(?:-?[\d.]+(?:e[+-]?\d+)?|"[^"]*")|"id":"[0-9a-f]{32}"/g;

/** A preview is cut at a length, and the parts left out may move the cut: so far as both go, they agree. */
function samePreview(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const [left, right] = [a, b].map((text) => text.replaceAll(OWN_TO_A_RUN, '')) as [string, string];
  const isCut = left.endsWith('…') || right.endsWith('…');
  if (!isCut) return left === right;
  const [leftPart, rightPart] = [comparablePart(left), comparablePart(right)];
  if (!left.endsWith('…')) return left.startsWith(rightPart);
  if (!right.endsWith('…')) return right.startsWith(leftPart);
  const length = Math.min(leftPart.length, rightPart.length);
  return leftPart.slice(0, length) === rightPart.slice(0, length);
}

/** Up to the field that the cut went through. */
function comparablePart(text: string): string {
  if (!text.endsWith('…')) return text;
  const comma = text.lastIndexOf(',"');
  return comma === -1 ? text.slice(0, -1) : text.slice(0, comma + 2);
}

function compareKeys(left: string, right: string): number {
  const [leftParts, rightParts] = [left.split('/'), right.split('/')];
  for (let index = 0; index < Math.min(leftParts.length, rightParts.length); index += 1) {
    const [a, b] = [leftParts[index] ?? '', rightParts[index] ?? ''];
    const order = comparePlaces(placeOf(a), placeOf(b)) || (a < b ? -1 : a > b ? 1 : 0);
    if (order !== 0) return order;
  }
  return leftParts.length - rightParts.length;
}

function endOf({ events, durationMs, isPaused }: RunSide): RunEnd {
  const end = events.findLast((event) => event.type === 'run-finished');
  if (end?.type !== 'run-finished')
    return {
      outcome: isPaused === true ? 'paused' : 'running',
      iterations: events.filter(({ type }) => type === 'pass-finished').length,
      durationMs: null,
    };
  return {
    outcome: end.limit === undefined ? end.outcome : `${end.outcome} (${end.limit})`,
    iterations: end.iterations,
    durationMs: durationMs ?? end.durationMs,
  };
}
