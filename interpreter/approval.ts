/**
 * Approvals: the step that asks for one, and questions about actions (`safety.requireApproval`, and rules that ask).
 *
 * What is approved is one exact action. It is kept with its question, so that what runs is what was
 * shown, whatever the clock or a variable says by then; when the step itself has changed meanwhile,
 * the question is withdrawn and the action as it is now is asked about.
 */
import { canonicalText } from '../language/canonical.ts';
import { defined } from '../language/defined.ts';
import type { FailureInfo } from '../language/failure.ts';
import { isJsonObject, type JsonObject } from '../language/json.ts';
import type { ApprovalStep, Step } from '../language/model.ts';
import type { Answer, Priority } from '../language/events/question.ts';
import type { Walking } from './drive.ts';
import { readApproval, edited } from './build-effect.ts';
import { actionWords, shownAction } from './shown-action.ts';
import { aborted, notify } from './escalation.ts';
import type { Strand } from './host.ts';
import type { Effect, Flow, Ending, Place } from './effect.ts';
import { finish } from './results.ts';
import { record, type Walk } from './walk-state.ts';
import type { BlockFrame } from './position.ts';
import { ask, withdrawOpen } from './questions.ts';
import { ruleFor } from './program.ts';
import { actionOf } from './action.ts';
import type { Asks, Decision } from './pass-action.ts';
import type { Asking } from './verdict.ts';

/** The action that the step's open or answered question is about, unless the step is another one now. */
export function actionAsked(walk: Walk, step: Step, place: Place, frame: BlockFrame): Effect | null {
  if (frame.step?.type !== 'asked') return null;
  const { about, effect } = frame.step;
  if (canonicalText(about) === canonicalText(step)) return effect ?? null;
  askAnew(walk, place, frame);
  return null;
}

/** What was asked about a step, and answered, holds no longer. */
function askAnew(walk: Walk, place: Place, frame: BlockFrame): void {
  forgetAnswer(walk, place);
  delete frame.step;
}

export function forgetAnswer(walk: Walk, { key }: Place): void {
  withdrawOpen(walk, key);
  walk.position.answered = walk.position.answered.filter(({ id }) => id !== key);
}

/** A person is asked about the action of a step, and the question is kept in the frame. */
export function asksAbout(walk: Walk, strand: Strand, step: Step, place: Place, frame: BlockFrame): Asks {
  return {
    ask(effect, asks) {
      frame.step = { type: 'asked', about: step, effect };
      const words = wish(walk, place.key, step, effect);
      return askPersona(walk, strand, place, { effect, words, asks, action: shownAction(effect) });
    },
    tell(effect) {
      if (frame.step?.type !== 'asked')
        notify(walk, place.key, 'approval_needed', priorityOf(walk), wish(walk, place.key, step, effect));
      frame.step = { type: 'asked', about: step, effect };
    },
    askAnew: () => askAnew(walk, place, frame),
  };
}

interface Wish {
  effect: Effect;
  /** The action in a line, and as it is shown: what the answer holds for. */
  words: string;
  action: JsonObject;
  asks: readonly Asking[];
}

export function* askPersona(
  walk: Walk,
  strand: Strand,
  place: Place,
  { effect, words, action, asks }: Wish,
): Walking<Decision> {
  const shown = asks.filter(({ isRule }) => isRule === true);
  const rules = shown.map(({ rule, why }) => ({ rule, why }));
  const verdict = yield* ask(walk, strand, {
    id: place.key,
    key: place.key,
    kind: 'action',
    message: `${words}${shown.map(({ rule, why }) => ` (rule "${rule}": ${why})`).join('')}`,
    choices: isEditable(effect)
      ? ['approve', 'reject', 'skip', 'edit', 'abort']
      : ['approve', 'reject', 'skip', 'abort'],
    show: { permission: actionOf(walk, effect).permission, action, ...(rules.length === 0 ? {} : { rules }) },
    priority: priorityOf(walk),
    remindAfterMs: ruleFor(walk.input.definition, 'approval_needed')?.remindAfterMs,
    about: action,
  });
  if ('flow' in verdict) return { flow: verdict.flow };
  if ('expired' in verdict) return { failure: expired(place.key), skip: false };
  return decided(place, effect, verdict.answer);
}

const priorityOf = ({ input: { definition } }: Walk): Priority =>
  ruleFor(definition, 'approval_needed')?.priority ?? 'normal';

const VERBS: { readonly [Type in Effect['type']]: string } = {
  shell: 'run',
  command: 'call',
  emit: 'publish',
  sentinel: 'start',
  watch: 'watch',
  turn: 'ask',
};

const wish = (walk: Walk, key: string, step: Step, effect: Effect): string =>
  wishWords(key, actionOf(walk, effect).permission, step, effect);

/** What the command says that it would do stands beside what it is, and never in its place: it may be a project's own. */
export function wishWords(key: string, permission: string | null, step: Step, effect: Effect): string {
  const summary = summaryOf(effect);
  const verb = permission === null || permission === 'shell' ? VERBS[effect.type] : permission;
  const what = `${permission === 'shell' ? 'run' : verb}: ${actionWords(step, effect)}`;
  return summary === null ? `${key} wants to ${what}` : `${key} wants to ${summary} (${what})`;
}

const summaryMax = 200;

/** Marks of direction, controls and halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** What the command itself says that it would do, in a line. */
function summaryOf(effect: Effect): string | null {
  const resolved = effect.type === 'command' ? effect.resolved : undefined;
  const summary = resolved !== undefined && isJsonObject(resolved) ? resolved['summary'] : undefined;
  if (typeof summary !== 'string') return null;
  const characters = Array.from(summary.replaceAll(/\s+/g, ' ').replaceAll(UNSEEN, '').trim());
  if (characters.length === 0) return null;
  return characters.length <= summaryMax
    ? characters.join('')
    : `${characters.slice(0, summaryMax).join('')}… (${characters.length} characters in all)`;
}

const isEditable = ({ type }: Effect): boolean => type === 'shell' || type === 'command' || type === 'emit';

function decided({ key }: Place, effect: Effect, answer: Answer): Decision {
  switch (answer.choice) {
    case 'approve':
      return { perform: effect };
    case 'edit':
      // The validator of answers has looked at the fields.
      return { perform: edited(effect, answer.data as JsonObject) };
    case 'skip':
      return { failure: rejected(key, `${answer.by} skipped it`), skip: true };
    case 'reject':
      return {
        failure: rejected(key, `${answer.by} rejected it${answer.note === null ? '' : `: ${answer.note}`}`),
        skip: false,
      };
    case 'abort':
      return { failure: aborted(key, answer), skip: false };
    case 'retry':
    case 'extend':
    case 'stop':
      throw new Error(`bug: "${answer.choice}" was no choice of "${key}"`);
    default:
      return answer.choice satisfies never;
  }
}

const rejected = (key: string, finding: string): FailureInfo => ({
  code: 'APPROVAL_REJECTED',
  message: `${key}: ${finding}`,
  retryable: false,
});

const expired = (key: string): FailureInfo => ({
  code: 'APPROVAL_EXPIRED',
  message: `${key}: nobody answered in time; raise timeoutMs, or see who is asked`,
  retryable: true,
});

export function* walkApproval(
  walk: Walk,
  strand: Strand,
  step: ApprovalStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  actionAsked(walk, step, place, frame);
  const read = readApproval(walk, strand, step, place);
  if ('failure' in read)
    return finish(walk, strand, step, place, walk.host.now(), { failure: read.failure }, read.label);
  if (frame.step?.type !== 'asked') {
    frame.step = { type: 'asked', about: step, since: walk.host.now() };
    walk.position.steps += 1;
    record(walk, { type: 'step-started', key: place.key, step: 'approval', label: read.label });
  }
  const startedAt = frame.step.since ?? walk.host.now();
  const { message, show, assignee, approvers } = read;
  const verdict = yield* ask(walk, strand, {
    id: place.key,
    key: place.key,
    kind: 'approval',
    message,
    choices: ['approve', 'reject', 'abort'],
    show,
    form: step.form,
    assignee,
    approvers,
    priority: priorityOf(walk),
    remindAfterMs: step.remindAfterMs ?? ruleFor(walk.input.definition, 'approval_needed')?.remindAfterMs,
    expiresAt: step.timeoutMs === undefined ? undefined : startedAt + step.timeoutMs,
    about: { message, show, form: step.form ?? null, ...defined({ assignee, approvers }) },
  });
  if ('flow' in verdict) {
    const { flow } = verdict;
    if (flow.kind === 'yield' || flow.kind === 'segment') return flow;
    finish(walk, strand, step, place, startedAt, { cancelled: true }, read.label);
    return flow;
  }
  const ending = 'expired' in verdict ? whenExpired(step, place.key) : whenAnswered(place.key, verdict.answer);
  return finish(walk, strand, step, place, startedAt, ending, read.label);
}

function whenAnswered(key: string, answer: Answer): Ending {
  const { choice, note, data, by, approvals } = answer;
  if (choice === 'approve')
    return {
      value: {
        choice,
        approved: true,
        note,
        data,
        by,
        ...defined({ approvals: approvals?.map((one) => ({ ...one })) }),
      },
    };
  if (choice === 'abort') return { failure: aborted(key, answer) };
  return { failure: rejected(key, `${by} rejected it${note === null ? '' : `: ${note}`}`) };
}

function whenExpired({ onTimeout = 'reject' }: ApprovalStep, key: string): Ending {
  if (onTimeout === 'approve')
    return { value: { choice: 'approve', approved: true, note: null, data: null, by: null } };
  return {
    failure:
      onTimeout === 'fail' ? expired(key) : rejected(key, 'nobody answered in time, which counts as a rejection'),
  };
}
