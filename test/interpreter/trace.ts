/**
 * A run as lines that a person can read, ordered by the structure of the definition and not by the
 * clock: by pass and step, then branch, and only within one step by the order of the events. Two
 * runs of the same case under different hosts give the same lines.
 *
 *     steps.0@1 shell ok "npm test"
 *     steps.1@1 condition -> then "$exitCode == 0"
 *     pass 1
 */
import type { RunEvent } from '../../language/run-event.ts';
import type { ScriptedHost } from './scripted-host.ts';

/** Behind everything inside a step or a pass. */
const LAST = Number.MAX_SAFE_INTEGER;

interface Line {
  place: number[];
  lines: string[];
}

export function traceOf(run: ScriptedHost, runs: readonly ScriptedHost[]): string[] {
  const lines: Line[] = [];
  let place: number[] = [];
  for (const event of run.events.toSorted((a, b) => a.seq - b.seq)) {
    place = placeOf(event) ?? place;
    const line = lineOf(event);
    if (line !== null) lines.push({ place, lines: [line, ...nestedLines(event, run, runs)] });
  }
  const sorted = lines.toSorted((a, b) => compare(a.place, b.place)).flatMap((entry) => entry.lines);
  return run.result === null ? sorted : [...sorted, ...endOf(run)];
}

function endOf(run: ScriptedHost): string[] {
  if (run.walk.input.parent === null || run.result === null) return [];
  const { outcome, limit } = run.result;
  return [limit === undefined ? outcome : `${outcome} ${limit}`];
}

function nestedLines(event: RunEvent, run: ScriptedHost, runs: readonly ScriptedHost[]): string[] {
  if (event.type !== 'step-started' || event.step !== 'sentinel') return [];
  const nested = runs.find((other) => other.walk.input.handle === `${run.walk.input.handle}/${event.key}`);
  return nested === undefined ? [] : traceOf(nested, runs).map((line) => `  ${line}`);
}

function lineOf(event: RunEvent): string | null {
  switch (event.type) {
    case 'step-started':
      return event.step === 'loop' || event.step === 'parallel' || event.step === 'sentinel'
        ? `${event.key} ${event.step} begins "${event.label}"`
        : null;
    case 'step-finished':
      return `${event.key} ${event.step} ${outcomeOf(event)} "${event.label}"`;
    case 'pass-finished':
      return `pass ${event.pass}`;
    case 'warning':
      return `${event.key} warning ${event.code}`;
    case 'paused':
      return `paused: ${event.reason}`;
    case 'resumed':
      return 'resumed';
    case 'run-started':
    case 'run-finished':
      return null;
    default:
      return event satisfies never;
  }
}

function outcomeOf(event: Extract<RunEvent, { type: 'step-finished' }>): string {
  if (event.step === 'condition' && event.outcome === 'ok') return `-> ${event.preview ?? ''}`;
  return event.failure === undefined ? event.outcome : `${event.outcome} ${event.failure.code}`;
}

/** Where an event stands in the order of the definition; null for one that belongs to no step. */
export function placeOf(event: RunEvent): number[] | null {
  if (event.type === 'pass-finished') return [event.pass, LAST];
  if (event.key === '') return null;
  const isEnd = event.type === 'step-finished' || (event.type === 'warning' && event.code === 'LOOP_LIMIT_REACHED');
  const closes = isEnd && !(event.type === 'step-finished' && event.step === 'condition');
  const place = placeOfKey(event.key);
  return closes ? [...place, LAST] : place;
}

/** `steps.1.steps.0@3.2` is pass 3, step 1, pass 2, step 0. */
function placeOfKey(key: string): number[] {
  const [path = '', passes = ''] = key.split('@');
  const left = passes.split('.').map(Number);
  const place: number[] = [];
  for (const part of path.split('.')) {
    if (part === 'steps') place.push(left.shift() ?? 0);
    else if (part !== 'then' && part !== 'else' && part !== 'branches') place.push(Number(part));
  }
  return place;
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
