/**
 * A run as lines to read: its events in the order of the definition, whatever order they came in, so
 * that two runs which did the same have the same trace.
 *
 * - Events of a step stand by its key: pass, index, pass of an inner loop, index, and so on.
 * - A step that holds others begins before them and ends after them; a condition decides before them.
 * - Events that belong to no place (paused, resumed) stand after the one they came after.
 */
import { costWords, groupWords } from '../../language/events/event-words.ts';
import type { Json } from '../../language/json.ts';
import type { StepType } from '../../language/model.ts';
import { NestedRuns } from '../../language/events/nested-runs.ts';
import { previewOf } from '../../language/events/preview.ts';
import { briefLines } from '../../language/events/shown-value.ts';
import type {
  Approved,
  Asked,
  CompactedEvent,
  Edited,
  RunEvent,
  RunOrigin,
  StepFinished,
  StepOutcome,
} from '../../language/events/run-event.ts';
import { failureWords, answeredWords, editWords, againWords, itemsEndWords } from './trace-words.ts';
import { PLAIN, type Paint } from './paint.ts';
import { comparePlaces, depthOf, placeOf } from './step-keys.ts';

export interface TraceOptions {
  paint?: Paint;
  /** Without them, traces of two runs can be compared as text. */
  durations?: boolean;
  /** The run's own; with it the handles of nested runs are shown. */
  handle?: string;
  /** Events of nested runs by what their handle adds to the run's own: `steps.2@1`, `steps.2@1/steps.0@1`. */
  nested?: ReadonlyMap<string, readonly RunEvent[]>;
  /** What the step of an event emitted; null where it emitted nothing. `under` names a nested run as `nested` does. */
  emitted?: (event: StepFinished, under: string) => Json;
  /** What questions showed, by their ids, where the event that asked is at hand. */
  shown?: ReadonlyMap<string, Json>;
  /** What the process of the step printed is shown below its line, and need not be in it. */
  isQuoted?: boolean;
}

interface Placed {
  event: RunEvent;
  place: readonly number[];
  /** Before or after what stands inside the place. */
  rank: -1 | 1;
}

export function orderEvents(events: readonly RunEvent[]): RunEvent[] {
  const placed: Placed[] = [];
  const afloat: RunEvent[] = [];
  for (const event of events) {
    const at = placeOfEvent(event);
    if (at === null) afloat.push(event);
    else placed.push({ event, ...at });
  }
  const ordered = placed.toSorted(comparePlaced).map(({ event }) => event);
  for (const event of afloat.toSorted((a, b) => a.seq - b.seq)) ordered.splice(anchorOf(ordered, event), 0, event);
  return ordered;
}

/** A line for each step that ended, nested ones indented; then how the run ended. */
export function traceLines(events: readonly RunEvent[], options: TraceOptions = {}): string[] {
  return linesOf(events, { under: '', depth: 0, runs: new NestedRuns(options.nested?.keys() ?? []) }, options);
}

interface Level {
  /** What the handle adds to that of the run whose trace it is. */
  under: string;
  depth: number;
  runs: NestedRuns;
}

function linesOf(events: readonly RunEvent[], { under, depth, runs }: Level, options: TraceOptions): string[] {
  const lines: string[] = [];
  const started = runs.startedIn(events, under);
  const ended = new Set(events.filter(({ type }) => type === 'step-finished').map(({ key }) => key));
  const settledAt = new Map(
    events.flatMap((event): [string, number][] =>
      event.type === 'answered' || event.type === 'expired' || event.type === 'withdrawn'
        ? [[event.id, event.seq]]
        : [],
    ),
  );
  const shown = new Map(
    events.flatMap((event): [string, Json][] =>
      event.type === 'asked' ? [[event.question.id, event.question.show]] : [],
    ),
  );
  for (const event of orderEvents(events)) {
    if (depth > 0 && isOfRun(event)) continue;
    const line = eventLine(event, depth, { ...options, shown }, under);
    if (line !== null) lines.push(line);
    else if (event.type === 'step-started' && !ended.has(event.key))
      lines.push(startLine(event, depth, options.paint ?? PLAIN));
    if (event.type === 'step-finished')
      lines.push(...belowStep(event, failureWords(event)?.below ?? [], depth, options.paint));
    if (event.type === 'asked' && (settledAt.get(event.question.id) ?? 0) < event.seq)
      lines.push(...questionDetails(event, depth));
    for (const name of started.get(event.seq) ?? []) {
      if (options.handle !== undefined)
        lines.push(
          `${'  '.repeat(depth + depthOf(event.key) + 1)}${(options.paint ?? PLAIN).dim(`run ${options.handle}/${name}`)}`,
        );
      lines.push(
        ...linesOf(
          options.nested?.get(name) ?? [],
          { under: name, depth: depth + depthOf(event.key) + 1, runs },
          options,
        ),
      );
    }
  }
  return lines;
}

/** Events of a run itself; for a nested one the step that it is says all of it. */
export const isOfRun = ({ type }: RunEvent): boolean =>
  type === 'run-started' || type === 'run-finished' || type === 'pass-finished';

/** What a question is about, below its line. */
export function questionDetails({ key, question }: Asked, depth: number): string[] {
  const indent = '  '.repeat(depth + depthOf(key) + 2);
  return briefLines(question.show).map((line) => indent + line);
}

/** Lines that belong to a step, behind a bar below its own. */
export function belowStep({ key }: StepFinished, lines: readonly string[], depth: number, paint = PLAIN): string[] {
  const indent = '  '.repeat(depth + depthOf(key) + 1);
  return lines.map((text) => `${indent}${paint.dim('│')} ${text}`);
}

function originText(origin: RunOrigin | undefined): string {
  if (origin?.type === 'fork') {
    const items = (origin.items ?? []).map((list) => `: ${againWords(list, origin.of)}`);
    return `  forked from ${origin.of} at ${origin.at}${items.join('')}`;
  }
  return origin?.type === 'saved' ? `  from the saved copy, version ${origin.version}` : '';
}

function editLine(event: Edited): string {
  const { revision, op, path, by, note, from } = event;
  const when = from === 'now' ? '' : ' from the next pass';
  return `± revision ${revision} by ${by}${when}: ${op} ${path}: ${editWords(event)}${note === undefined ? '' : ` (${oneLine(note)})`}`;
}

function approvalWords({ id, approvals, missing }: Approved): string {
  const { by, note } = approvals.at(-1) ?? { by: '', note: null };
  return `! ${id} approved by ${by}, ${missing} more to approve${note === null ? '' : `: ${oneLine(note)}`}`;
}

/** One line for one event, indented by where its step stands; null for what needs no line. */
export function eventLine(event: RunEvent, depth: number, options: TraceOptions = {}, under = ''): string | null {
  const paint = options.paint ?? PLAIN;
  const indent = '  '.repeat(depth + depthOf(event.key));
  switch (event.type) {
    case 'run-started':
      return `${paint.strong(event.name)}${paint.dim(originText(event.origin))}`;
    case 'step-started':
      return holdsOthers(event.step) ? startLine(event, depth, paint) : null;
    case 'step-finished':
      return finishLine(event, indent, {
        paint,
        durations: options.durations ?? true,
        isQuoted: options.isQuoted ?? false,
        emitted: options.emitted?.(event, under) ?? null,
      });
    case 'pass-finished':
      return paint.dim(`pass ${event.pass} ended`);
    case 'warning':
      return `${indent}${paint.warn(`⚠ ${event.code}: ${event.message}`)}`;
    case 'compacted':
      return `${indent}${paint.dim(compactedLine(event))}`;
    case 'paused':
      return `${indent}${paint.warn(`paused: ${event.reason}`)}`;
    case 'resumed':
      return `${indent}${paint.good('resumed')}`;
    case 'asked':
      return `${indent}${paint.warn(`? ${event.question.id} asks ${event.question.assignee}: ${oneLine(event.question.message)}`)}`;
    case 'answered': {
      const { choice, by, note, data } = event.answer;
      const change = choice === 'edit' ? `: ${answeredWords(options.shown?.get(event.id), data)}` : '';
      return `${indent}${paint.good(`! ${event.id} ${choice} by ${by}${change}${note === null ? '' : change === '' ? `: ${oneLine(note)}` : ` (${oneLine(note)})`}`)}`;
    }
    case 'approved':
      return `${indent}${paint.good(approvalWords(event))}`;
    case 'reminded':
      return `${indent}${paint.warn(`? ${event.id} still asks ${event.question.assignee}, after ${durationText(event.at - event.question.askedAt)}`)}`;
    case 'expired':
      return `${indent}${paint.warn(`! ${event.id} was not answered in time`)}`;
    case 'withdrawn':
      return `${indent}${paint.dim(`! ${event.id} needs no answer any more`)}`;
    case 'notified':
      return `${indent}${paint.warn(`! told ${event.assignee}: ${oneLine(event.message)}`)}`;
    case 'edited':
      return `${indent}${paint.warn(editLine(event))}`;
    case 'told':
      return `${indent}${paint.warn(`» ${event.key} is told by ${event.by}: ${oneLine(event.text)}`)}`;
    case 'heard':
      return event.turn === null
        ? `${indent}${paint.warn(`» ${event.key} ended before a turn that could have heard ${event.by}`)}`
        : `${indent}${paint.dim(`» ${event.key}/turn.${event.turn} hears ${event.by}`)}`;
    case 'group':
      return event.state === 'taken' ? paint.dim(groupWords(event)) : paint.warn(groupWords(event));
    case 'run-finished': {
      const text = event.limit === undefined ? event.outcome : `${event.outcome} (${event.limit})`;
      return event.outcome === 'completed' ? paint.good(text) : paint.bad(text);
    }
    default:
      return event satisfies never;
  }
}

const COMPACTIONS = {
  results: 'results of calls were left out',
  summarize: 'its older part was summarized',
  truncate: 'its older part was left out',
};

function compactedLine({ key, strategy, before, after, window }: CompactedEvent): string {
  const of = window === null ? '' : ` of ${window}`;
  return `${key}  the conversation was shortened from ${before} to ${after}${of} tokens: ${COMPACTIONS[strategy]}`;
}

const holdsOthers = (step: StepType): boolean => step === 'loop' || step === 'parallel' || step === 'sentinel';

const MARKS: Record<StepOutcome, string> = { ok: '✔', failed: '✖', retried: '↻', skipped: '↷', cancelled: '⊘' };

/** A step that is under way, or under which others will stand. */
function startLine(event: { key: string; step: string; label: string }, depth: number, paint: Paint): string {
  const indent = '  '.repeat(depth + depthOf(event.key));
  return `${indent}${paint.dim('▸')} ${event.key}  ${event.step} ${paint.strong(oneLine(event.label))}`;
}

function finishLine(
  event: StepFinished,
  indent: string,
  {
    paint,
    durations,
    isQuoted,
    emitted,
  }: Required<Pick<TraceOptions, 'paint' | 'durations' | 'isQuoted'>> & { emitted: Json },
): string {
  const { outcome } = event;
  // A step that fails by its exit code shows as any other that fails.
  const exitCode = outcome === 'ok' ? exitCodeOf(event) : 0;
  const colour = outcome === 'failed' ? paint.bad : outcome === 'ok' && exitCode === 0 ? paint.good : paint.warn;
  const mark = exitCode === 0 ? MARKS[outcome] : '●';
  const parts = [`${indent}${colour(mark)} ${event.key}`, `${event.step} ${paint.strong(oneLine(event.label))}`];
  parts.push(colour(exitCode === 0 ? outcome : `exit ${exitCode}`));
  if (emitted !== null) parts.push(oneLine(previewOf(emitted)));
  if (event.step === 'condition' && event.preview !== undefined) parts.push(`→ ${event.preview}`);
  if (event.items !== undefined && (event.items.failed > 0 || event.items.retraced !== undefined))
    parts.push(itemsEndWords(event.items));
  if (durations) parts.push(paint.dim(durationText(event.durationMs)));
  if (event.usage !== undefined) parts.push(...costWords(event.usage).map((cost) => paint.dim(cost)));
  const words = failureWords(event, isQuoted);
  if (words !== null) parts.push(colour(words.line));
  return parts.join('  ');
}

/** An exit code is a result, not a failure; read from the preview, because the event holds no more of it. */
export function exitCodeOf({ step, preview }: Pick<StepFinished, 'step' | 'preview'>): number {
  if (step !== 'shell' || preview === undefined) return 0;
  return Number(/^\{"exitCode":(-?\d+)[,}]/.exec(preview)?.[1] ?? 0);
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}

function placeOfEvent(event: RunEvent): Omit<Placed, 'event'> | null {
  switch (event.type) {
    case 'run-started':
      return { place: [], rank: -1 };
    case 'run-finished':
      return { place: [], rank: 1 };
    case 'pass-finished':
      return { place: [event.pass], rank: 1 };
    case 'step-started':
      return { place: placeOf(event.key), rank: -1 };
    case 'step-finished':
      return { place: placeOf(event.key), rank: event.step === 'condition' ? -1 : 1 };
    case 'warning':
      return event.key === ''
        ? null
        : { place: placeOf(event.key), rank: event.code === 'UNRESOLVED_REFERENCE' ? -1 : 1 };
    case 'compacted':
      return { place: placeOf(event.key), rank: -1 };
    case 'asked':
      return placeOfQuestion(event.key, event.question.id);
    case 'answered':
    case 'approved':
    case 'reminded':
    case 'expired':
    case 'withdrawn':
      return placeOfQuestion(event.key, event.id);
    case 'notified':
      return event.key === ''
        ? null
        : { place: placeOf(event.key), rank: event.condition === 'approval_needed' ? -1 : 1 };
    case 'told':
      return { place: placeOf(event.key), rank: -1 };
    case 'heard':
      return { place: placeOf(event.turn === null ? event.key : `${event.key}/turn.${event.turn - 1}`), rank: 1 };
    case 'paused':
    case 'resumed':
    case 'edited':
    case 'group':
      return null;
    default:
      return event satisfies never;
  }
}

/** A question about a step's action stands before it, one about its failure behind. */
function placeOfQuestion(key: string, id: string): Omit<Placed, 'event'> | null {
  return key === '' ? null : { place: placeOf(key), rank: id === key ? -1 : 1 };
}

/** What begins a place stands before everything inside it, what ends it after. */
function comparePlaced(left: Placed, right: Placed): number {
  const order = comparePlaces(left.place, right.place);
  if (order === 0) return left.rank - right.rank || left.event.seq - right.event.seq;
  const [outer, inner] = left.place.length <= right.place.length ? [left, right] : [right, left];
  const isInside = comparePlaces(outer.place, inner.place.slice(0, outer.place.length)) === 0;
  if (!isInside) return order;
  const outerFirst = outer.rank === 1 ? 1 : -1;
  return outer === left ? outerFirst : -outerFirst;
}

/** After the placed event that was recorded last before it; at the front when there is none. */
function anchorOf(ordered: readonly RunEvent[], event: RunEvent): number {
  let anchor = -1;
  ordered.forEach(({ seq }, index) => {
    if (seq < event.seq && (anchor === -1 || seq > (ordered[anchor]?.seq ?? 0))) anchor = index;
  });
  return anchor + 1;
}
