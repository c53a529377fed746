/**
 * What happens when a model turns in circles. The run does not end by that: a persona is asked, or told, where
 * a rule says so (`unfamiliar`, else `error`); without one the model is told, and at last asked to answer with
 * what it has.
 */
import { entryOf } from '../../language/catalogue.ts';
import type { Answer } from '../../language/events/question.ts';
import type { FailureInfo } from '../../language/failure.ts';
import type { Json } from '../../language/json.ts';
import { modelUnchangedTurnsMax } from '../../language/limits.ts';
import type { EscalationRule } from '../../language/model.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { forgives } from '../attempts.ts';
import { turnsMax } from './build-turn.ts';
import { offered } from '../offered.ts';
import type { Walking } from '../drive.ts';
import type { Halt, Said } from '../effect.ts';
import { aborted, canAsk, notify } from '../escalation.ts';
import { runningMs } from '../limits.ts';
import type { AtModel } from './model-gate.ts';
import type { CallFrame, ModelFrame, StuckFrame } from '../position.ts';
import { ruleForFailure } from '../program.ts';
import { ask } from '../questions.ts';
import { circleIn, markOf, marksMax } from '../stuck.ts';
import { record } from '../walk-state.ts';

/** How often the model is told before it is asked to answer. */
const noticesMax = 2;
const callsShownMax = 6;
/** Classes of commands that can change the project. */
const CHANGES: ReadonlySet<string> = new Set(['write', 'delete', 'shell']);

const stuckOf = (open: ModelFrame): StuckFrame => (open.stuck ??= { marks: [], changedIn: 0, times: 0 });

/** Notes what came of a call. */
export function noteMark({ step }: AtModel, call: CallFrame, gave: { value: Json } | { error: string }): void {
  if (step.onStuck !== 'ignore') call.mark = markOf(call.name, call.input, gave);
}

/** Once all calls of a turn have ended, in the order in which the model made them. */
export function keepMarks({ walk, open }: AtModel, calls: readonly CallFrame[]): void {
  const { catalogue } = walk.input;
  for (const { name, input, mark } of calls) {
    if (mark === undefined) continue;
    const stuck = stuckOf(open);
    const isNew = !stuck.marks.some((other) => other.call === mark.call && other.gave === mark.gave);
    if (mark.ok && isNew && CHANGES.has(permissionOfCommand(catalogue, name, input))) stuck.changedIn = open.turn;
    stuck.marks = [...stuck.marks, mark].slice(-marksMax);
  }
}

/** Before a turn. Null: it may be taken. */
export function* checkStuck(at: AtModel): Walking<Halt | null> {
  const { walk, step, open } = at;
  const { stuck } = open;
  if (stuck === undefined) return null;
  if (stuck.open !== undefined) return yield* askAbout(at, stuck, stuck.open);
  if (open.finalFrom !== undefined || open.turn > turnsMax(step)) return null;
  const finding = circleIn(stuck.marks) ?? unchanged(at, stuck);
  if (finding === null) return null;
  const failure = failureOf(at, finding);
  const way = wayOut(at, failure);
  // A segment hands back what a rule has a say in: whether the steps around deal with it, only the run knows.
  if (way.rule !== null && !(yield* canAsk(walk))) return { flow: { kind: 'yield' } };
  stuck.times += 1;
  stuck.marks = [];
  stuck.changedIn = open.turn - 1;
  const key = lastTurnKey(at);
  record(walk, {
    type: 'warning',
    key,
    code: failure.code,
    message: `${failure.message}; ${WORDS[way.way]}`,
  });
  switch (way.way) {
    case 'fail':
      return { ending: { failure } };
    case 'answer':
      answerNow(open, { prompt: 'answer-now', finding });
      return null;
    case 'tell':
      if (way.rule !== null) {
        const { condition, priority = 'normal' } = way.rule;
        notify(walk, key, condition, priority, failure.message);
      }
      open.say = [...open.say, { prompt: 'stuck', finding }];
      return null;
    case 'ask':
      stuck.open = { finding, since: runningMs(walk) };
      return yield* askAbout(at, stuck, stuck.open);
    default:
      return way satisfies never;
  }
}

const WORDS = {
  fail: 'the step fails',
  answer: 'the model is to answer with what it has',
  tell: 'the model is told',
  ask: 'a persona is asked',
} as const;

/** Where the step offers something that changes the project, and nothing of that has happened for long. */
function unchanged({ walk, step, open }: AtModel, { changedIn }: StuckFrame): string | null {
  const turns = open.turn - 1 - changedIn;
  if (turns < (step.unchangedTurns ?? modelUnchangedTurnsMax)) return null;
  const { catalogue } = walk.input;
  const canChange = offered(walk, step).some((name) => {
    const { permission, operations = {} } = entryOf(catalogue, name);
    return [permission, ...Object.values(operations)].some((one) => CHANGES.has(one));
  });
  return canChange ? `nothing changed in the project in the last ${turns} turns` : null;
}

const lastTurnKey = ({ place, open }: AtModel): string => `${place.key}/turn.${open.turn - 1}`;

function failureOf({ place, open }: AtModel, finding: string): FailureInfo {
  return {
    code: 'MODEL_STUCK',
    message: `${place.key}: after turn ${open.turn - 1} the model turns in circles: ${finding}`,
    retryable: true,
  };
}

type Way = { way: 'fail' | 'answer' | 'tell'; rule: EscalationRule | null } | { way: 'ask'; rule: EscalationRule };

function wayOut({ walk, strand, step, place, open }: AtModel, failure: FailureInfo): Way {
  const { onStuck = 'escalate' } = step;
  if (onStuck === 'fail' || onStuck === 'answer') return { way: onStuck, rule: null };
  // As with failures: nobody is asked about what the definition itself deals with.
  const isDealtWith = strand.forgiven === true || forgives(step, place);
  const rule = isDealtWith ? null : ruleForFailure(walk.input.definition, failure);
  if (rule?.action === 'abort') return { way: 'fail', rule };
  if (rule?.action === 'pause') return { way: 'ask', rule };
  return (open.stuck?.times ?? 0) >= noticesMax ? { way: 'answer', rule } : { way: 'tell', rule };
}

function answerNow(open: ModelFrame, said: Said): void {
  open.finalFrom = open.turn;
  open.say = [...open.say, said];
}

function* askAbout(
  at: AtModel,
  stuck: StuckFrame,
  { finding, since }: NonNullable<StuckFrame['open']>,
): Walking<Halt | null> {
  const { walk, strand, open } = at;
  const failure = failureOf(at, finding);
  const rule = ruleForFailure(walk.input.definition, failure);
  const key = lastTurnKey(at);
  const verdict = yield* ask(walk, strand, {
    id: `${key}:stuck`,
    key,
    kind: rule?.condition ?? 'unfamiliar',
    message: `${failure.message}. Approve, and it goes on, and is told so with your note; stop, and it answers with what it has; skip the step; or abort the run.`,
    choices: ['approve', 'stop', 'skip', 'abort'],
    show: { finding, turn: open.turn - 1, calls: open.made.slice(-callsShownMax).map((call): Json => ({ ...call })) },
    priority: rule?.priority ?? 'normal',
    remindAfterMs: rule?.remindAfterMs,
    about: { finding, turn: open.turn - 1 },
  });
  if ('flow' in verdict) return { flow: verdict.flow };
  delete stuck.open;
  // The step's time does not pass while somebody thinks about it.
  open.since += runningMs(walk) - since;
  if ('expired' in verdict) return { ending: { failure: { ...failure, asked: true } } };
  return decided(at, finding, failure, verdict.answer);
}

function decided({ open, place }: AtModel, finding: string, failure: FailureInfo, answer: Answer): Halt | null {
  const { choice, note, by } = answer;
  const noted = note === null ? {} : { note };
  switch (choice) {
    case 'approve':
      open.say = [...open.say, { prompt: 'stuck', finding, ...noted }];
      return null;
    case 'stop':
      answerNow(open, { prompt: 'answer-now', finding, ...noted });
      return null;
    case 'skip':
      return { ending: { failure: { ...failure, message: `${failure.message} (skipped by ${by})` } }, skip: true };
    case 'abort':
      return { ending: { failure: aborted(place.key, answer, failure) } };
    case 'reject':
    case 'retry':
    case 'edit':
    case 'extend':
      throw new Error(`bug: "${choice}" was no choice of a question about a model that turns in circles`);
    default:
      return choice satisfies never;
  }
}
