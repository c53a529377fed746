/**
 * When a run turns to its persona (`escalateOn`), and what its answers do.
 *
 * - Only a failure that nothing in the definition deals with escalates, and where it happened: it is
 *   asked about once, however many steps it then passes through.
 * - `unfamiliar` is a failure without a code of its own, or a model that turns in circles; `timeout` a
 *   failure of a step's time, or a limit of the run. Where no rule names them, the rule for `error` holds for such failures too.
 */
import { HOLDS, isAbort, isPermanent, type FailureInfo } from '../language/failure.ts';
import type { EscalationRule, Step } from '../language/model.ts';
import type { Answer, Choice, Priority } from '../language/events/question.ts';
import { wait, type Walking } from './drive.ts';
import { labelOf } from './build-effect.ts';
import { actionAgain } from './shown-action.ts';
import type { RunFinished } from '../language/events/run-event.ts';
import type { RunInput, Strand } from './host.ts';
import type { Flow, Place } from './effect.ts';
import type { RunResult } from './outcome.ts';
import { record, type Walk } from './walk-state.ts';
import type { BlockFrame } from './position.ts';
import { ask } from './questions.ts';
import { ruleFor, ruleForFailure } from './program.ts';

type Condition = EscalationRule['condition'];

/** What becomes of a failure that would otherwise end the run. */
export function* escalateFailure(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  frame: BlockFrame,
  failure: FailureInfo,
): Walking<Flow | 'again'> {
  const rule = ruleForFailure(walk.input.definition, failure);
  const stands: Flow = { kind: 'failed', failure: { ...failure, asked: true } };
  if (rule === null || rule.action === 'abort') return rule === null ? { kind: 'failed', failure } : stands;
  const { condition, priority = 'normal' } = rule;
  if (rule.action === 'notify') {
    if (!(yield* canAsk(walk))) return { kind: 'yield' };
    notify(walk, place.key, condition, priority, failure.message);
    return stands;
  }
  const verdict = yield* ask(walk, strand, {
    id: failureId(place),
    key: place.key,
    kind: condition,
    message: `${labelOf(step)} failed: ${failure.message}`,
    choices: choicesFor(step, failure),
    show: {
      failure: {
        code: failure.code,
        message: failure.message,
        ...(failure.details ? { details: failure.details } : {}),
      },
      action: actionAgain(walk, strand, step, place, frame),
    },
    priority,
    remindAfterMs: rule.remindAfterMs,
    about: { failure, step },
  });
  if ('flow' in verdict) return verdict.flow;
  if ('expired' in verdict) return stands;
  return decided(walk, place, frame, failure, verdict.answer);
}

/** Beside the questions about the step's action, which has the key itself as id. */
const failureId = ({ key }: Place): string => `${key}:failed`;

function choicesFor(step: Step, failure: FailureInfo): Choice[] {
  const isAction = step.type === 'shell' || step.type === 'command' || step.type === 'emit';
  const again: Choice[] = isPermanent(failure) && !isAction && !HOLDS.has(failure.code) ? [] : ['retry'];
  return [...again, 'skip', ...(isAction ? (['edit'] as const) : []), 'abort'];
}

function decided(walk: Walk, place: Place, frame: BlockFrame, failure: FailureInfo, answer: Answer): Flow | 'again' {
  if (answer.choice === 'retry') return 'again';
  if (answer.choice === 'edit') {
    frame.edit = { ...frame.edit, ...(answer.data as { [name: string]: never }) };
    return 'again';
  }
  if (answer.choice === 'skip') {
    record(walk, {
      type: 'warning',
      key: place.key,
      code: failure.code,
      message: `${place.key} is skipped by ${answer.by}: ${failure.message}`,
    });
    return { kind: 'done' };
  }
  return { kind: 'failed', failure: aborted(place.key, answer, failure) };
}

/** What a persona ends is over: nothing tries it again or skips it. */
export function aborted(key: string, { by, note }: Answer, cause?: FailureInfo): FailureInfo {
  const why = [...(note === null ? [] : [note]), ...(cause === undefined ? [] : [cause.message])].join('; ');
  return {
    code: 'RUN_ABORTED',
    message: `${key}: ${by} ended the run here${why === '' ? '' : `: ${why}`}`,
    retryable: false,
    asked: true,
    ...(cause === undefined ? {} : { details: { code: cause.code } }),
  };
}

/** A segment can neither ask nor tell: it hands back, and the step is decided outside. */
export function* canAsk(walk: Walk): Walking<boolean> {
  return (yield* wait(walk.host.digest('', 'the step under way'))) !== null;
}

export function notify(walk: Walk, key: string, condition: Condition, priority: Priority, message: string): void {
  record(walk, { type: 'notified', key, condition, priority, assignee: walk.input.persona, message });
}

/**
 * Whom the end of a run is reported to. A failure and a limit are, unless the definition says
 * `reportTo: "silent"`; a good end where it says `"inbox"`, or a rule for `complete` does. A nested
 * run's end is its parent's business.
 */
export function reportOf(
  { definition, parent, persona }: RunInput,
  { outcome, failure, limit }: RunResult,
): RunFinished['notify'] | undefined {
  const failureRule = failure === undefined ? null : ruleForFailure(definition, failure);
  // What a rule ended without a question, nobody has heard of.
  const isKnown = failure?.asked === true && (isAbort(failure) || failureRule?.action !== 'abort');
  if (parent !== null || definition.reportTo === 'silent' || isKnown) return undefined;
  const condition =
    outcome === 'completed'
      ? 'complete'
      : outcome === 'failed'
        ? 'error'
        : limit === 'stop' || limit === 'concurrency' || outcome === 'cancelled'
          ? null
          : 'timeout';
  if (condition === null) return undefined;
  const rule = failureRule ?? ruleFor(definition, condition);
  if (rule === null && condition === 'complete' && definition.reportTo !== 'inbox') return undefined;
  return { condition, priority: rule?.priority ?? (condition === 'complete' ? 'low' : 'high'), assignee: persona };
}
