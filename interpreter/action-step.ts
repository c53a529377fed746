/**
 * A step that asks something of the world. Its action is decided (mode, approval, budget) before
 * anything of it happens, and in that order; then it happens once for its key.
 */
import type { Step } from '../language/model.ts';
import { actionAsked, approveAction, permissionToAsk } from './approval.ts';
import { askBudget, begin, budgetSpent, costOf, priceOf, settle } from './budget.ts';
import { wait, type Walking } from './drive.ts';
import { effectOf, isQuick, labelOf, refusedByMode, type Built } from './effects.ts';
import { isGiven, readGiven } from './given-definition.ts';
import { shieldOf, type Effect, type Flow, type Reply, type Strand } from './host.ts';
import { finish, record, type Ending, type Place, type Walk } from './walk-state.ts';
import { holdAtLimit, holdMeanwhile, limitReached, pausesAt, timeoutOf, type Limit } from './limits.ts';
import { performInTime } from './nested.ts';
import type { BlockFrame } from './position.ts';
import { edited } from './shown-action.ts';
import { noteWatched } from './watching.ts';

type ActionStep = Extract<Step, { type: 'shell' | 'command' | 'emit' | 'sentinel' | 'watch' }>;

export function* walkAction(
  walk: Walk,
  strand: Strand,
  step: ActionStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  for (;;) {
    const startedAt = walk.host.now();
    const given =
      step.type === 'sentinel' && isGiven(step.definition, walk.input.library)
        ? yield* readGiven(walk, strand, step, place, step.definition.$ref)
        : null;
    const built =
      given !== null && 'failure' in given
        ? { ...given, unresolved: [] }
        : build(walk, strand, given?.step ?? step, place, frame);
    if ('failure' in built)
      return finish(walk, strand, step, place, startedAt, { failure: built.failure }, labelOf(step));
    let action: Effect =
      given === null || 'failure' in given || built.effect.type !== 'sentinel'
        ? built.effect
        : { ...built.effect, library: given.library, catalogue: given.catalogue };
    const permission = permissionToAsk(walk, action);
    if (permission !== null) {
      const decision = yield* approveAction(walk, strand, step, place, frame, { effect: action, permission });
      if ('flow' in decision) return decision.flow;
      if ('failure' in decision) {
        const decided = decision.skip ? { ...step, onError: 'skip' as const } : step;
        return finish(walk, strand, decided, place, startedAt, { failure: decision.failure }, action.label);
      }
      action = decision.perform;
    }
    const refused = refusedByMode(walk, action);
    if (refused) return finish(walk, strand, step, place, startedAt, { failure: refused }, action.label);
    const bounded = yield* askBudget(walk, strand, priceOf(action));
    if (bounded) return bounded;
    const effect = begin(walk, strand, action);
    if (!isQuick(step, walk.input.catalogue, walk.input.limits))
      record(walk, { type: 'step-started', key: place.key, step: step.type, label: effect.label });
    const pending = performInTime(walk, strand, step, effect);
    const ended = effect.type === 'sentinel' && effect.wait ? yield* holdMeanwhile(walk, strand, pending) : null;
    const reply = yield* wait(pending);
    settle(walk, effect.key, reply);
    noteWatched(walk, effect, reply);
    const flow = finish(walk, strand, step, place, startedAt, { ...endingOf(reply), ...costOf(reply) }, effect.label);
    if (ended) return ended;
    if (reply.ok && reply.stoppedBy !== undefined) return (yield* cutShort(walk, strand, reply.stoppedBy)) ?? flow;
    const limit = flow.kind === 'failed' ? limitReached(walk) : null;
    if (limit === null || failedByItself(walk, strand, step, limit)) return flow;
    const held = yield* holdAtLimit(walk, limit);
    if (held) return held;
  }
}

/** No limit of the run ends a step of a clean-up, and none at which it is held a nested run. */
function failedByItself(walk: Walk, strand: Strand, step: ActionStep, limit: Limit): boolean {
  return shieldOf(strand) !== null || (step.type === 'sentinel' && pausesAt(walk, limit));
}

/** What stopped a nested run ends, or holds, the run around it where that has come to the same: its work is not done. */
function* cutShort(walk: Walk, strand: Strand, by: string): Walking<Flow | null> {
  if (shieldOf(strand) !== null) return null;
  if (by === 'stop') return walk.position.stopping ? { kind: 'stopped', limit: by } : null;
  const limit = [limitReached(walk), budgetSpent(walk)].find((reached) => reached === by);
  return limit ? yield* holdAtLimit(walk, limit) : null;
}

function endingOf(reply: Reply): Ending {
  if (reply.ok) return { value: reply.value };
  return 'cancelled' in reply ? { cancelled: true } : { failure: reply.failure };
}

/** The action: the one that was asked about, or the step's as its references say now. */
function build(walk: Walk, strand: Strand, step: ActionStep, place: Place, frame: BlockFrame): Built {
  const asked = actionAsked(walk, step, place, frame);
  if (asked !== null)
    return {
      effect: { ...asked, timeoutMs: timeoutOf(walk, step, strand) },
      unresolved: [],
    };
  const built = effectOf(walk, strand, step, place);
  for (const name of built.unresolved) {
    const message = `${place.key}: "${name}" has no value here`;
    record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
  }
  return 'failure' in built || frame.edit === undefined
    ? built
    : { ...built, effect: edited(built.effect, frame.edit) };
}
