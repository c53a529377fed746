/**
 * What waiting does not cure and a person may: a provider's spend limit, an account on hold, a key that is
 * not accepted. The persona is asked with the remedy, and the same turn is taken again when it is done.
 * A rule of the definition, `onError: skip` and whatever forgives the step around it come first.
 */
import { HOLDS } from '../../language/failure.ts';
import type { Flow, Halt } from '../effect.ts';
import type { Walking } from '../drive.ts';
import { labelOf } from '../build-effect.ts';
import { turnKey } from './build-turn.ts';
import { aborted } from '../escalation.ts';
import { runningMs } from '../limits.ts';
import type { AtModel } from './model-gate.ts';
import type { ModelFrame } from '../position.ts';
import { ruleForFailure } from '../program.ts';
import { ask } from '../questions.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { defined } from '../../language/defined.ts';

/** Whether the persona is asked before the step fails. */
export function isAsked({ walk, strand, step }: AtModel, failure: FailureInfo): boolean {
  if (!HOLDS.has(failure.code) || step.onError === 'skip' || strand.forgiven === true) return false;
  return ruleForFailure(walk.input.definition, failure)?.action === 'pause';
}

export function* askAboutHold(at: AtModel, held: NonNullable<ModelFrame['held']>): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  const { failure } = held;
  const rule = ruleForFailure(walk.input.definition, failure);
  const verdict = yield* ask(walk, strand, {
    id: `${turnKey(place, open).replace('/', ':')}:failed`,
    key: place.key,
    kind: rule?.condition ?? 'error',
    message: `${labelOf(step)} cannot go on: ${failure.message}`,
    choices: ['retry', 'skip', 'abort'],
    show: {
      failure: {
        code: failure.code,
        message: failure.message,
        ...defined({ details: failure.details }),
      },
      turn: open.turn,
    },
    priority: rule?.priority ?? 'normal',
    remindAfterMs: rule?.remindAfterMs,
    about: { failure, step, turn: open.turn },
  });
  if ('flow' in verdict && isCarried(verdict.flow)) return verdict;
  // The step's time does not pass while its persona is asked.
  open.since += runningMs(walk) - held.since;
  delete open.held;
  if ('flow' in verdict) return verdict;
  if ('expired' in verdict) return { ending: { failure: { ...failure, asked: true } } };
  const { answer } = verdict;
  if (answer.choice === 'retry') {
    open.waits += 1;
    return null;
  }
  if (answer.choice === 'skip') return { ending: { failure: { ...failure, asked: true } }, skip: true };
  return { ending: { failure: aborted(place.key, answer, failure) } };
}

const isCarried = ({ kind }: Flow): boolean => kind === 'yield' || kind === 'segment';
