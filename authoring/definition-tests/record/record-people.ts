/** What people did to a run, as a test says it: answers to its questions, and where somebody stepped in. */
import type { Json, JsonObject } from '../../../language/json.ts';
import { isAtLimit, reasonAtLimit } from '../../../language/events/question.ts';
import type {
  Answered,
  Approved,
  Paused,
  RunEvent,
  RunFinished,
  StepFinished,
  StepStarted,
  Heard,
} from '../../../language/events/run-event.ts';
import { defined } from '../../../language/defined.ts';
import { GROUP_KEY } from '../../../interpreter/walk/groups.ts';
import { limitAsked } from '../../../interpreter/limits.ts';
import { withoutMarks } from '../../../interpreter/simulation/script.ts';
import { attemptsFirst } from './attempts-first.ts';

/** Events of one run; `under` is what leads to it from the outermost. */
export interface RunPart {
  under: string;
  events: readonly RunEvent[];
}

export const keyIn = (under: string, key: string): string => (under === '' ? key : `${under}/${key}`);

/** By the question's id. What nobody answered is left open, also where an earlier attempt had its answer. `afterMs`: how long each took, where that matters. */
export function answersIn(parts: readonly RunPart[], afterMs: ReadonlyMap<string, number> = new Map()): JsonObject {
  const answers = parts.flatMap(({ under, events }) => {
    const approvals = new Map<string, Json[]>();
    return events.flatMap((event): [string, Json][] => {
      if (event.type !== 'answered' && event.type !== 'approved') return [];
      const key = keyIn(under, event.id);
      const given = { ...answerIn(event), ...defined({ afterMs: afterMs.get(key) }) };
      const all = [...(approvals.get(key) ?? []), given];
      approvals.set(key, event.type === 'approved' ? all : []);
      return [[key, all.length === 1 && event.type === 'answered' ? given : all]];
    });
  });
  const answered = new Set(answers.map(([key]) => key));
  const asked = parts.flatMap(({ under, events }) =>
    events.flatMap((event) => (event.type === 'asked' ? [keyIn(under, event.question.id)] : [])),
  );
  const open = asked.filter((key) => !answered.has(key) && answered.has(withoutMarks(key)));
  return attemptsFirst([...answers, ...open.map((key): [string, Json] => [key, []])]);
}

function answerIn(event: Answered | Approved): JsonObject {
  const approval = (event.type === 'approved' ? event.approvals : event.answer.approvals)?.at(-1);
  const answer = event.type === 'answered' ? event.answer : approval;
  if (answer === undefined) throw new Error(`bug: nobody has approved "${event.id}"`);
  const { note, data, by } = answer;
  const choice = event.type === 'answered' ? event.answer.choice : 'approve';
  const isForOther = choice === 'approve' && approval !== undefined && approval.among !== by;
  return {
    choice,
    by,
    ...(isForOther ? { counts: { among: approval.among, person: approval.person } } : {}),
    ...(note === null ? {} : { note }),
    ...(data === null ? {} : { data }),
  };
}

/** How the run went on each time that it was held at a limit and no answer said it, up to the one that ended it. */
export function holdsIn(parts: readonly RunPart[]): ('resume' | 'stop' | 'cancel')[] {
  const holds = parts.flatMap(({ under, events }) => {
    const inOrder = events.toSorted((a, b) => a.seq - b.seq);
    return inOrder.flatMap((event, index) =>
      event.type === 'paused' && isAtLimit(event.reason)
        ? endOfHold(event, inOrder.slice(index + 1), under === '')
        : [],
    );
  });
  const inTime = holds.toSorted((a, b) => a.at - b.at).map(({ end }) => end);
  return inTime.slice(0, inTime.findLastIndex((end) => end !== 'resume') + 1);
}

function endOfHold(
  { at, reason }: Paused,
  later: readonly RunEvent[],
  isOutermost: boolean,
): { at: number; end: 'resume' | 'stop' | 'cancel' }[] {
  const resumed = later.findIndex(({ type }) => type === 'resumed');
  const meanwhile = resumed === -1 ? later : later.slice(0, resumed);
  if (meanwhile.some((event) => event.type === 'answered' && limitAsked(event.id) !== null)) return [];
  const next = later.slice(resumed + 1).find(({ type }) => type === 'paused' || type === 'run-finished');
  const last = next?.type === 'run-finished' ? next : undefined;
  if (isOutermost && last?.outcome === 'cancelled' && resumed === -1) return [{ at, end: 'cancel' }];
  return [
    {
      at,
      end:
        last?.limit !== undefined && last.outcome === 'stopped' && reasonAtLimit(last.limit) === reason
          ? 'stop'
          : 'resume',
    },
  ];
}

/** Edits, what models were told, and the stop or the cancellation that ended the run, each at the step that it met. */
export function interruptionsIn(parts: readonly RunPart[]): Json[] {
  return parts.flatMap(({ under, events }) => {
    const inOrder = events.toSorted((a, b) => a.seq - b.seq);
    const edits = inOrder.flatMap((event, index): Json[] => {
      if (event.type === 'heard') return tellIn(under, event, inOrder);
      if (event.type !== 'edited') return [];
      const { op, path, after } = event;
      const edit = { op, path, ...(after === null || op === 'skip' ? {} : { step: after as unknown as Json }) };
      const met = metAt(inOrder, index);
      return met === null ? [] : [{ ...met, at: keyIn(under, met.at), do: 'edit', edit }];
    });
    // What ends the outermost run ends those nested in it.
    const end = under === '' ? endedBy(inOrder, parts) : null;
    return [...edits, ...(end === null ? [] : [end])];
  });
}

/** In the turn before the one that heard it; what no turn heard changed nothing. */
function tellIn(under: string, { key, turn, id }: Heard, events: readonly RunEvent[]): Json[] {
  const told = events.find((event) => event.type === 'told' && event.id === id);
  if (turn === null || told?.type !== 'told') return [];
  const { text, by } = told;
  const at = keyIn(under, `${key}/turn.${Math.max(1, turn - 1)}`);
  return [{ at, when: 'during', do: 'tell', tell: { step: key, id, text, by } }];
}

/** The step that was under way at an event or the question that was open, whichever began last, else the step that came next. */
function metAt(events: readonly RunEvent[], index: number): { at: string; when: 'before' | 'during' } | null {
  const [open, asked] = [openAt(events, index), askedAt(events, index)];
  if (asked !== undefined && (open === undefined || asked.seq > open.seq))
    return { at: asked.question.id, when: 'during' };
  if (open !== undefined) return { at: open.key, when: 'during' };
  const next = events.slice(index).find((event) => event.type === 'step-started' || event.type === 'step-finished');
  return next === undefined ? null : { at: next.key, when: 'before' };
}

/** The innermost: what holds others has begun before them. */
function openAt(events: readonly RunEvent[], index: number): StepStarted | undefined {
  const ended = new Set(events.slice(0, index).flatMap((event) => (event.type === 'step-finished' ? [event.key] : [])));
  const begun = events.slice(0, index).filter((event) => event.type === 'step-started');
  return begun.findLast(({ key, step }) => !ended.has(key) && step !== 'loop' && step !== 'parallel');
}

function askedAt(events: readonly RunEvent[], index: number): Extract<RunEvent, { type: 'asked' }> | undefined {
  const before = events.slice(0, index);
  const isOpen = (id: string, from: number): boolean =>
    !before.some(
      (event) =>
        (event.type === 'answered' || event.type === 'expired' || event.type === 'withdrawn') &&
        event.id === id &&
        event.seq > from,
    );
  return before.filter((event) => event.type === 'asked').findLast(({ question, seq }) => isOpen(question.id, seq));
}

function endedBy(events: readonly RunEvent[], parts: readonly RunPart[]): Json | null {
  const end = events.findLast((event) => event.type === 'run-finished');
  const inGroup = end === undefined ? null : endedInGroup(events, end);
  if (inGroup !== null) return inGroup;
  if (end?.outcome === 'cancelled')
    return holdsIn(parts).includes('cancel') ? null : cancelledAt(events, parts, end.at);
  if (end?.outcome !== 'stopped' || end.limit !== 'stop') return null;
  const last = events.findLast((event) => isOwn('', event) && event.type === 'step-finished');
  if (last?.type !== 'step-finished') return null;
  const question = events.findLast((event) => event.type === 'withdrawn' && event.key === last.key);
  if (question?.type === 'withdrawn') return { at: question.id, when: 'during', do: 'stop' };
  return { at: last.key, when: last.outcome === 'cancelled' ? 'before' : 'during', do: 'stop' };
}

/** A run that still waits for its group has begun no step. */
function endedInGroup(events: readonly RunEvent[], { outcome, limit, at }: RunFinished): Json | null {
  const group = events.findLast((event) => event.type === 'group');
  if (group?.type !== 'group' || group.state !== 'waiting') return null;
  const isStopped = outcome === 'stopped' && limit === 'stop';
  if (!isStopped && outcome !== 'cancelled') return null;
  const afterMs = Math.max(1, at - group.at);
  return { at: GROUP_KEY, when: 'during', afterMs, do: isStopped ? 'stop' : 'cancel' };
}

/** The moment is counted from the step of the outermost run that began last. */
function cancelledAt(events: readonly RunEvent[], parts: readonly RunPart[], endedAt: number): Json | null {
  const began = events
    .flatMap((event) => (isOwn('', event) && HEARS.has(event.step) ? [{ at: event.key, ms: beganAt(event) }] : []))
    .toSorted((a, b) => b.ms - a.ms)[0];
  if (began === undefined) return null;
  const own = parts.flatMap(({ under, events: inner }) => inner.filter((event) => isOwn(under, event)));
  // A step that was cut short before others began was not what the run met its end at.
  const wentOn = Math.max(...own.filter((event) => !isCutShort(event)).map(({ at }) => at));
  const cut = own.filter((event) => isCutShort(event) && event.at >= wentOn).map(({ at }) => at);
  const afterMs = (cut.length === 0 ? endedAt : Math.min(...cut)) - began.ms;
  return { at: began.at, when: 'during', ...(afterMs > 0 ? { afterMs } : {}), do: 'cancel' };
}

export const isCutShort = (event: RunEvent): boolean => event.type === 'step-finished' && event.outcome === 'cancelled';

const beganAt = (event: StepStarted | StepFinished): number =>
  event.type === 'step-started' ? event.at : event.at - event.durationMs;

/** Steps that somebody can step in during. */
const HEARS = new Set<StepStarted['step']>(['shell', 'command', 'emit', 'watch', 'approval', 'sentinel']);

/** Of a step that is no clean-up: those run whatever was said. */
const isOwn = (under: string, event: RunEvent): event is StepStarted | StepFinished =>
  (event.type === 'step-started' || event.type === 'step-finished') &&
  !/(?:^|[./])always\./.test(keyIn(under, event.key));
