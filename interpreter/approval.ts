/**
 * Approvals: the step that asks for one, and actions that need one (`safety.requireApproval`).
 *
 * What is approved is one exact action. It is kept with its question, so that what runs is what was
 * shown, whatever the clock or a variable says by then; when the step itself has changed meanwhile,
 * the question is withdrawn and the action as it is now is asked about.
 */
import { canonicalText } from '../language/canonical.ts';
import type { Permission } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { JsonObject } from '../language/json.ts';
import type { ApprovalStep, Step } from '../language/model.ts';
import { isToApprove, permissionOfCommand } from '../language/permissions.ts';
import type { Answer } from '../language/events/question.ts';
import type { Walking } from './drive.ts';
import { readApproval, edited } from './build-effect.ts';
import { actionOf, actionWords } from './shown-action.ts';
import { aborted, notify } from './escalation.ts';
import type { Strand } from './host.ts';
import type { Effect, Flow, Ending, Place } from './effect.ts';
import { finish } from './results.ts';
import { record, type Walk } from './walk-state.ts';
import type { BlockFrame } from './position.ts';
import { ask, withdrawOpen } from './questions.ts';
import { approvalRule } from './approval-rules.ts';
import { ruleFor } from './program.ts';

/** The class of an action that must not happen unapproved; null where it may. */
export function permissionToAsk({ input: { catalogue, handle, limits } }: Walk, effect: Effect): Permission | null {
  const { requireApproval = [] } = limits;
  if (effect.type === 'shell') return isToApprove(catalogue, requireApproval, 'shell') ? 'shell' : null;
  if (effect.type !== 'command') return null;
  const { command, params } = effect;
  const permission = permissionOfCommand(catalogue, command, params);
  return isToApprove(catalogue, requireApproval, permission, { command, params, handle }) ? permission : null;
}

/** The action that the step's open or answered question is about, unless the step is another one now. */
export function actionAsked(walk: Walk, step: Step, place: Place, frame: BlockFrame): Effect | null {
  if (frame.step?.type !== 'asked') return null;
  const { about, effect } = frame.step;
  if (canonicalText(about) === canonicalText(step)) return effect ?? null;
  askAnew(walk, place, frame);
  return null;
}

/** What was asked about a step, and answered, holds no longer. */
export function askAnew(walk: Walk, { key }: Place, frame: BlockFrame): void {
  withdrawOpen(walk, key);
  walk.position.answered = walk.position.answered.filter(({ id }) => id !== key);
  delete frame.step;
}

export type Decision = { perform: Effect } | { flow: Flow } | { failure: FailureInfo; skip: boolean };

/** Decides an action before anything of it happens. */
export function* approveAction(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  frame: BlockFrame,
  { effect, permission }: { effect: Effect; permission: Permission },
): Walking<Decision> {
  const rule = approvalRule(walk.input.limits, permission);
  const message = `${place.key} wants to ${permission === 'shell' ? 'run' : permission}: ${actionWords(step, effect)}`;
  const priority = ruleFor(walk.input.definition, 'approval_needed')?.priority ?? 'normal';
  if (rule === 'abort') return { failure: rejected(place.key, 'the definition lets nobody approve it'), skip: false };
  if (rule === 'notify') {
    if (frame.step?.type !== 'asked') notify(walk, place.key, 'approval_needed', priority, message);
    frame.step = { type: 'asked', about: step, effect };
    return { perform: effect };
  }
  frame.step = { type: 'asked', about: step, effect };
  const action = actionOf(effect);
  const verdict = yield* ask(walk, strand, {
    id: place.key,
    key: place.key,
    kind: 'action',
    message,
    choices: ['approve', 'reject', 'skip', 'edit', 'abort'],
    show: { permission, action },
    priority,
    about: action,
  });
  if ('flow' in verdict) return { flow: verdict.flow };
  if ('expired' in verdict) return { failure: expired(place.key), skip: false };
  return decided(place, effect, verdict.answer);
}

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
  const { message, show, assignee } = read;
  const verdict = yield* ask(walk, strand, {
    id: place.key,
    key: place.key,
    kind: 'approval',
    message,
    choices: ['approve', 'reject', 'abort'],
    show,
    form: step.form,
    assignee,
    priority: ruleFor(walk.input.definition, 'approval_needed')?.priority ?? 'normal',
    expiresAt: step.timeoutMs === undefined ? undefined : startedAt + step.timeoutMs,
    about: { message, show, form: step.form ?? null },
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
  const { choice, note, data, by } = answer;
  if (choice === 'approve') return { value: { choice, approved: true, note, data, by } };
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
