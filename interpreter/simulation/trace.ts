/**
 * A run as lines that a person can read, ordered by the structure of the definition and not by the
 * clock: by pass and step, then branch, and only within one step by the order of the events. Two
 * runs of the same case under different hosts give the same lines.
 *
 *     steps.0@1 shell ok "npm test"
 *     steps.1@1 condition -> then "$exitCode == 0"
 *     pass 1
 */
import { NestedRuns } from '../../language/events/nested-runs.ts';
import type { RunEvent } from '../../language/events/run-event.ts';

/** A run to be traced, whoever ran it. */
export interface TracedRun {
  handle: string;
  isNested: boolean;
  events: readonly RunEvent[];
  /** Null while it goes on. */
  result: { outcome: string; limit?: string } | null;
}

/** Behind everything inside a step or a pass. */
const LAST = Number.MAX_SAFE_INTEGER;

interface Line {
  place: number[];
  lines: string[];
}

export function traceOf(run: TracedRun, runs: readonly TracedRun[]): string[] {
  const lines: Line[] = [];
  let place: number[] = [];
  const nested = nestedIn(run, runs);
  for (const event of run.events.toSorted((a, b) => a.seq - b.seq)) {
    place = placeOf(event) ?? place;
    const line = lineOf(event);
    if (line !== null)
      lines.push({
        place,
        lines: [line, ...(nested.get(event.seq) ?? []).flatMap((inner) => nestedLines(inner, runs))],
      });
  }
  return [...lines.toSorted((a, b) => compare(a.place, b.place)).flatMap((entry) => entry.lines), ...endOf(run)];
}

function endOf({ isNested, result }: TracedRun): string[] {
  if (!isNested || result === null) return [];
  const { outcome, limit } = result;
  return [limit === undefined ? outcome : `${outcome} ${limit}`];
}

/** What each beginning of a nested step started, by the event's number. */
function nestedIn({ handle, events }: TracedRun, runs: readonly TracedRun[]): Map<number, string[]> {
  const isNesting = events.some((event) => event.type === 'step-started' && event.step === 'sentinel');
  return isNesting ? new NestedRuns(runs.map((run) => run.handle)).startedIn(events, handle) : new Map();
}

function nestedLines(of: string, runs: readonly TracedRun[]): string[] {
  const nested = runs.find(({ handle }) => handle === of);
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
    case 'compacted':
      return `${event.key} compacted ${event.strategy}`;
    case 'paused':
      return `paused: ${event.reason}`;
    case 'resumed':
      return 'resumed';
    case 'asked':
      return `${event.question.id} asks ${event.question.kind}: ${event.question.choices.join(', ')}`;
    case 'answered':
      return `${event.id} answered ${event.answer.choice} by ${event.answer.by}`;
    case 'approved':
      return `${event.id} approved by ${event.approvals.at(-1)?.by ?? ''}, ${event.missing} missing`;
    case 'reminded':
      return `${event.id} reminded ${event.question.reminders ?? 0}`;
    case 'expired':
    case 'withdrawn':
      return `${event.id} ${event.type}`;
    case 'notified':
      return `${event.key} notified ${event.condition} ${event.priority}`;
    case 'edited':
      return `revision ${event.revision}: ${event.op} ${event.path}`;
    case 'told':
      return `${event.key} told by ${event.by}`;
    case 'heard':
      return `${event.key} ${event.turn === null ? 'ended before it heard' : `heard in turn ${event.turn}`}`;
    case 'group':
      return `${event.of === 'persona' ? 'place' : 'group'} ${event.state} "${event.group}"${event.holder === undefined ? '' : ` behind ${event.holder}`}`;
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
  const place = placeOfKey(event.key);
  // Behind the calls of the turn before.
  if (event.type === 'heard' && event.turn !== null) return [...place, event.turn - 1, LAST];
  return isAtEnd(event) ? [...place, LAST] : place;
}

/** A condition decides before what it holds; what is said of a step's failure stands behind it. */
function isAtEnd(event: RunEvent): boolean {
  switch (event.type) {
    case 'step-finished':
      return event.step !== 'condition';
    case 'heard':
      return true;
    case 'warning':
      return event.code !== 'UNRESOLVED_REFERENCE';
    case 'asked':
      return event.question.id !== event.key;
    case 'answered':
    case 'approved':
    case 'reminded':
    case 'expired':
    case 'withdrawn':
      return event.id !== event.key;
    case 'notified':
      return event.condition !== 'approval_needed';
    case 'step-started':
    case 'compacted':
    case 'pass-finished':
    case 'paused':
    case 'resumed':
    case 'edited':
    case 'told':
    case 'group':
    case 'run-started':
    case 'run-finished':
      return false;
    default:
      return event satisfies never;
  }
}

/**
 * `steps.1.steps.0@3.2` is pass 3, step 1, pass 2, step 0; after each step stands its attempt. What a
 * condition always does stands behind its branches, and what the run does behind all passes.
 */
function placeOfKey(key: string): number[] {
  const [path = '', rest = ''] = key.split('@');
  const [passes = '', ...turnAndCall] = rest.split('/');
  const left = passes.split('.').map(Number);
  const place: number[] = [];
  for (const [index, part] of path.split('.').entries()) {
    if (part === 'steps') place.push(left.shift() ?? 0);
    else if (part === 'then' || part === 'else') place.push(0);
    else if (part === 'always' && index === 0) {
      // The pass that the clean-up of the run carries is the run's.
      left.shift();
      place.push(LAST);
    } else if (part === 'always') place.push(1);
    else if (part !== 'branches') place.push(...numbersOf(part));
  }
  // Calls of a model stand in the order of their turns, and each try of one behind what was asked about the one before.
  return [
    ...place,
    ...turnAndCall.filter((word) => word.includes('.')).flatMap((word) => numbersOf(word.slice(word.indexOf('.') + 1))),
  ];
}

/** `2` is the first attempt of step 2, `2#3` its third; `2~1` began after the first edit, and so behind all that began before. */
function numbersOf(part: string): [number, number] {
  const [place = '', attempt = '1'] = part.split('#');
  const [index = 0, revision = 0] = place.split('~').map(Number);
  return [index + revision * 1_000_000, Number(attempt)];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const difference = (a[index] ?? 0) - (b[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
