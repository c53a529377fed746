/**
 * What an action would do, where somebody is asked about it or a rule looks at what it names: the definition that it
 * would start, and what the project makes of it as it is now. Nothing else is done then.
 */
import { entryOf } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import { isToApprove } from '../language/permissions.ts';
import { looksAtNames, policyAsks } from '../language/policy/judge-policy.ts';
import { handedIn, withProgram } from '../language/read/started-program.ts';
import { wait, type Walking } from './drive.ts';
import type { CommandEffect, Effect } from './effect.ts';
import type { Walk } from './walk-state.ts';
import { actionOf } from './action.ts';
import { editsOther, factsOf } from './judges.ts';

export function* foresee(walk: Walk, effect: Effect): Walking<Effect | FailureInfo> {
  if (effect.type !== 'command') return effect;
  const { policies = [] } = walk.input.limits;
  const isAsked = mayBeAsked(walk, effect);
  const started = isAsked ? yield* readStarted(walk, effect) : effect;
  if ('code' in started || !(isAsked || looksAtNames(policies))) return started;
  return yield* resolve(walk, started);
}

function mayBeAsked(walk: Walk, effect: CommandEffect): boolean {
  const { catalogue, handle, limits } = walk.input;
  const { command, params } = effect;
  const action = actionOf(walk, effect);
  if (isToApprove(catalogue, limits.requireApproval ?? [], action.permission, { command, params, handle })) return true;
  const { policies } = limits;
  if (policies === undefined) return false;
  return editsOther(action, walk) || policyAsks(policies, factsOf(action, walk));
}

/** What is asked about a command that the project decides about is what it would do, as the project is now. */
export function* resolve(walk: Walk, effect: Effect): Walking<Effect | FailureInfo> {
  if (effect.type !== 'command' || effect.resolved !== undefined) return effect;
  if (entryOf(walk.input.catalogue, effect.command).resolves !== true) return effect;
  const found = yield* wait(walk.host.resolve(effect));
  if ('resolved' in found) return { ...effect, resolved: found.resolved };
  return { ...found.failure, message: `${effect.key}: ${found.failure.message}` };
}

/** What is asked about a command that starts a run is the definition that it would start, as it is now. */
function* readStarted(walk: Walk, effect: CommandEffect): Walking<CommandEffect | FailureInfo> {
  if (effect.starts === undefined || effect.library !== undefined) return effect;
  // What the code of another command starts stands in none of its parameters.
  if (entryOf(walk.input.catalogue, effect.command).otherRuns !== 'starts') return effect;
  const handed = handedIn(effect.params);
  if (handed === null) return effect;
  const read = yield* wait(walk.host.readStarted(effect.key, handed));
  if ('fault' in read) return { code: 'RUN_NOT_STARTED', message: `${effect.key}: ${read.fault}`, retryable: false };
  return { ...effect, params: withProgram(effect.params, read.definition), library: read.library };
}
