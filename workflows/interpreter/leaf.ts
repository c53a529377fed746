/**
 * A step that asks something of the world. Its action is decided (mode, approval, budget) before
 * anything of it happens, and in that order; then it happens once for its key.
 */
import type { Step } from '../../language/model.ts';
import { actionAsked, approveAction, edited, permissionToAsk } from './approval.ts';
import { askBudget, begin, costOf, priceOf, settle } from './budget.ts';
import { wait, type Walking } from './drive.ts';
import { effectOf, isQuick, labelOf, refusedByMode, type Built } from './effects.ts';
import { isGiven, readGiven } from './given-definition.ts';
import type { Effect, Flow, Reply, Strand } from './host.ts';
import { finish, record, type Ending, type Place, type Walk } from './ledger.ts';
import { holdAtLimit, limitReached, remainingMs, timeoutOf } from './limits.ts';
import { performInTime } from './nested.ts';
import type { BlockFrame } from './position.ts';
import { noteWatched } from './watching.ts';

type Leaf = Extract<Step, { type: 'shell' | 'command' | 'emit' | 'sentinel' | 'watch' }>;

export function* walkLeaf(walk: Walk, strand: Strand, step: Leaf, place: Place, frame: BlockFrame): Walking<Flow> {
  for (;;) {
    const startedAt = walk.host.now();
    const given = step.type === 'sentinel' && isGiven(step.definition, walk.input.library) ? yield* readGiven(walk, strand, step, place, step.definition.$ref) : null;
    const built = given !== null && 'failure' in given ? { ...given, unresolved: [] } : build(walk, strand, given?.step ?? step, place, frame);
    if ('failure' in built) return finish(walk, strand, step, place, startedAt, { failure: built.failure }, labelOf(step));
    let action: Effect = given === null || 'failure' in given || built.effect.type !== 'sentinel' ? built.effect : { ...built.effect, library: given.library };
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
    if (!isQuick(step, walk.input.limits)) record(walk, { type: 'step-started', key: place.key, step: step.type, label: effect.label });
    const reply = yield* wait(performInTime(walk, strand, step, effect));
    settle(walk, effect.key, reply);
    noteWatched(walk, effect, reply);
    const flow = finish(walk, strand, step, place, startedAt, { ...endingOf(reply), ...costOf(reply) }, effect.label);
    const limit = flow.kind === 'failed' ? limitReached(walk) : null;
    if (limit === null) return flow;
    const held = yield* holdAtLimit(walk, limit);
    if (held) return held;
  }
}

function endingOf(reply: Reply): Ending {
  if (reply.ok) return { value: reply.value };
  return 'cancelled' in reply ? { cancelled: true } : { failure: reply.failure };
}

/** The action: the one that was asked about, or the step's as its references say now. */
function build(walk: Walk, strand: Strand, step: Leaf, place: Place, frame: BlockFrame): Built {
  const asked = actionAsked(walk, step, place, frame);
  if (asked !== null) return { effect: { ...asked, timeoutMs: timeoutOf(walk, step, strand), leftMs: remainingMs(walk, strand) }, unresolved: [] };
  const built = effectOf(walk, strand, step, place);
  for (const name of built.unresolved) {
    const message = `${place.key}: "${name}" has no value here`;
    record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
  }
  return 'failure' in built || frame.edit === undefined ? built : { ...built, effect: edited(built.effect, frame.edit) };
}
