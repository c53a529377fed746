/**
 * A step that asks something of the world. Its action is judged before anything of it happens (judges.ts); then it
 * happens once for its key.
 */
import type { Step, Definition, SentinelStep } from '../language/model.ts';
import { actionAsked, asksAbout } from './approval.ts';
import { budgetSpent, costOf, settle } from './budget.ts';
import { withCost } from './command-cost.ts';
import { wait, type Walking } from './drive.ts';
import { effectOf, isQuick, labelOf, type Built, visible } from './build-effect.ts';
import { shieldOf, type Strand, type RunInput } from './host.ts';
import { draftFailure, handsBehind, heldAsDraft, type Hands } from './drafts.ts';
import type { Effect, Flow, Limit, NestedEffect, Reply, Ending, Place } from './effect.ts';
import { exitFailure } from './exit-code.ts';
import { heldBackIn } from './held-back.ts';
import { finish } from './results.ts';
import { record, type Walk } from './walk-state.ts';
import { holdAtLimit, holdMeanwhile, limitReached, pausesAt, timeoutOf, remainingMs } from './limits.ts';
import { performInTime } from './outcome.ts';
import type { ActingFrame, BlockFrame } from './position.ts';
import { doubtOf, withKnown } from './unknown-outcome.ts';
import { noteWatched } from './waits.ts';
import type { Catalogue } from '../language/catalogue.ts';
import type { Json } from '../language/json.ts';
import { withDefaults, type FailureInfo } from '../language/failure.ts';
import { programOf, type Finding } from '../language/read/nested-definition.ts';
import { isReferredLater } from '../language/references/written-references.ts';
import { Reader, namesAt } from './names.ts';
import { passAction } from './pass-action.ts';
import { Allowed } from './verdict.ts';
import { followCommand } from './workspace.ts';

type ActionStep = Extract<Step, { type: 'shell' | 'command' | 'emit' | 'sentinel' | 'watch' }>;

export function* walkAction(
  walk: Walk,
  strand: Strand,
  step: ActionStep,
  place: Place,
  frame: BlockFrame,
): Walking<Flow> {
  for (;;) {
    const acting = frame.step?.type === 'acting' ? frame.step : null;
    const startedAt = acting?.startedAt ?? walk.host.now();
    const asked = actionAsked(walk, step, place, frame);
    const given =
      asked === null && step.type === 'sentinel' && isGiven(step.definition, walk.input.library)
        ? yield* readGiven(walk, strand, step, place, step.definition.$ref)
        : null;
    const built =
      acting !== null
        ? { effect: acting.effect }
        : asked !== null
          ? { effect: { ...asked, timeoutMs: timeoutOf(walk, step, strand) } }
          : given !== null && 'failure' in given
            ? given
            : build(walk, strand, given?.step ?? inheriting(walk, step), place, frame);
    if ('failure' in built)
      return finish(walk, strand, step, place, startedAt, { failure: built.failure }, labelOf(step));
    const action: Effect =
      given === null || 'failure' in given || built.effect.type !== 'sentinel'
        ? built.effect
        : withGiven(built.effect, given);
    const acted =
      acting === null
        ? yield* act(walk, strand, step, place, frame, action)
        : yield* goOn(walk, strand, step, frame, acting);
    if ('flow' in acted) return acted.flow;
    if ('failure' in acted) {
      const decided = acted.skip ? { ...step, onError: 'skip' as const } : step;
      return finish(walk, strand, decided, place, startedAt, { failure: acted.failure }, action.label);
    }
    const settled = yield* settleAction(walk, strand, step, place, frame, { ...acted, startedAt });
    if (settled !== null) return settled;
  }
}

/** What the step comes to with it; null where it is to be done once more. */
function* settleAction(
  walk: Walk,
  strand: Strand,
  step: ActionStep,
  place: Place,
  frame: BlockFrame,
  acted: Extract<Acted, { reply: Reply }> & { startedAt: number },
): Walking<Flow | null> {
  const { effect, ended, startedAt } = acted;
  const doubted = doubtOf(step, effect, acted.reply, startedAt);
  if (doubted !== null) {
    frame.step = doubted;
    return { kind: 'failed', failure: doubted.failure };
  }
  const reply = withKnown(step, acted.reply);
  const heldBack = heldBackIn(reply);
  if (heldBack !== null)
    return ended ?? finish(walk, strand, step, place, startedAt, { failure: heldBack }, effect.label);
  const wrong = exitFailure(walk, step, place.key, reply);
  const ending = { ...(wrong ?? endingOf(reply)), ...costOf(reply) };
  if (reply.ok && wrong === null) followCommand(walk, strand, effect, reply.value);
  const flow = finish(walk, strand, step, place, startedAt, ending, effect.label);
  if (ended) return ended;
  if (wrong !== null) return flow;
  if (reply.ok && reply.stoppedBy !== undefined) return (yield* cutShort(walk, strand, reply.stoppedBy)) ?? flow;
  const limit = flow.kind === 'failed' ? limitReached(walk) : null;
  if (limit === null || failedByItself(walk, strand, step, limit)) return flow;
  return yield* holdAtLimit(walk, limit);
}

/** What an action came to; why it did not happen; or how the line of execution ends before it. */
export type Acted =
  { effect: Effect; reply: Reply; ended: Flow | null } | { failure: FailureInfo; skip: boolean } | { flow: Flow };

/** Has an action judged, and performs it. `frame` keeps the question about it. */
export function* act(
  walk: Walk,
  strand: Strand,
  step: ActionStep,
  place: Place,
  frame: BlockFrame,
  action: Effect,
): Walking<Acted> {
  const passing = yield* passAction(walk, strand, action, asksAbout(walk, strand, step, place, frame));
  if (!('allowed' in passing)) return passing;
  const { allowed } = passing;
  const { effect } = allowed;
  if (!isQuick(step, walk.input.catalogue, walk.input.limits))
    record(walk, { type: 'step-started', key: place.key, step: step.type, label: effect.label });
  if (walk.host.claims(step)) {
    const acting: ActingFrame = { type: 'acting', startedAt: walk.host.now(), effect, begun: 0 };
    frame.step = acting;
    return yield* goOn(walk, strand, step, frame, acting, allowed);
  }
  const pending = performInTime(walk, strand, step, allowed);
  const ended = effect.type === 'sentinel' && effect.wait ? yield* holdMeanwhile(walk, strand, pending) : null;
  const reply = withCost(walk, effect, yield* wait(pending));
  settle(walk, effect.key, reply);
  noteWatched(walk, effect, reply);
  return { effect, reply, ended };
}

/** With a step that was claimed, here or by whoever walked before. */
function* goOn(
  walk: Walk,
  strand: Strand,
  step: ActionStep,
  frame: BlockFrame,
  acting: ActingFrame,
  allowed = Allowed.before(acting.effect),
): Walking<Acted> {
  const { begun } = acting;
  const { effect } = allowed;
  const again = begun === 0 || effect.type !== 'shell' ? allowed : Allowed.before({ ...effect, begun });
  const isClaimed = walk.host.claims(step);
  if (isClaimed) frame.step = { ...acting, begun: begun + 1 };
  const reply = yield* wait(isClaimed ? walk.host.performClaimed(strand, again) : walk.host.perform(strand, again));
  if ('goesOn' in reply) {
    if (!reply.isBegun) frame.step = acting;
    return { flow: { kind: 'yield' } };
  }
  // Whatever follows at this step begins anew.
  delete frame.step;
  return { effect, reply, ended: null };
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

export function endingOf(reply: Reply): Ending {
  if (reply.ok) return { value: reply.value };
  return 'cancelled' in reply ? { cancelled: true } : { failure: reply.failure };
}

/** A definition that is written in the step has the defaults of the one around it. */
function inheriting(walk: Walk, step: ActionStep): ActionStep {
  if (step.type !== 'sentinel' || '$ref' in step.definition) return step;
  return { ...step, definition: withDefaults(step.definition, walk.input.definition.defaults) };
}

/** The action as the step's references say now. */
function build(walk: Walk, strand: Strand, step: ActionStep, place: Place, frame: BlockFrame): Built {
  const built = effectOf(walk, strand, step, place, frame.edit);
  for (const name of built.unresolved) {
    const message = `${place.key}: "${name}" has no value here`;
    record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
  }
  return built;
}

/**
 * A nested step whose definition is a reference: what it stands for is read, by a host that can, each
 * time the step is reached, and from there on is the definition of the step.
 */

interface Read {
  step: SentinelStep;
  library: { [name: string]: Definition };
  catalogue: Catalogue;
  /** Of what a model has drafted. */
  hands: Hands | null;
}

export type Given = Read | { failure: FailureInfo };

function withGiven(effect: NestedEffect, { library, catalogue, hands }: Read): NestedEffect {
  const limits = hands === null ? effect.limits : heldAsDraft(effect.limits, hands);
  return { ...effect, limits, library, catalogue };
}

/** What was stored under the name has the rights that it was stored with. */
function isNamed(value: Json): boolean {
  const program = programOf(value);
  return typeof program === 'object' && program !== null && '$ref' in program;
}

const findingsShownMax = 20;
const findingsSaidMax = 3;

/** A name means the definition that the run carries under it, where there is one. */
export function isGiven(
  definition: SentinelStep['definition'],
  library: RunInput['library'],
): definition is { $ref: string } {
  return '$ref' in definition && isReferredLater(definition.$ref, (name) => Object.hasOwn(library, name));
}

export function* readGiven(
  walk: Walk,
  strand: Strand,
  step: SentinelStep,
  place: Place,
  written: string,
): Walking<Given> {
  const { input, host } = walk;
  const { key, path, passes } = place;
  const reader = new Reader(namesAt(walk, strand, passes, path));
  const value = reader.value(written);
  if (reader.fault) return notRead(reader.fault.code, `${key}: ${reader.fault.message}`);
  if (value === null || value === '')
    return notRead(
      'UNRESOLVED_REFERENCE',
      `${key}: ${written} has no value here, and a definition is needed; set it before this step`,
    );
  const read = yield* wait(
    host.readDefinition(key, {
      value,
      library: input.library,
      around: input.definition.name,
      label: step.name ?? step.outputTo ?? 'nested',
      names: Object.keys(visible(walk, strand)),
      isBounded: remainingMs(walk, strand) !== null || input.limits.maxIterations !== null,
    }),
  );
  if ('missing' in read)
    return notRead(
      'UNKNOWN_DEFINITION',
      `${key}: ${written} names "${read.missing}", and there is no definition of that name; save it ("sentinel save FILE")`,
    );
  if ('findings' in read)
    return notRead(
      'DEFINITION_INVALID',
      `${key}: what ${written} holds is no definition: ${said(read.findings)}`,
      read.findings,
    );
  const hands = isNamed(value) ? null : handsBehind(walk, [written]);
  const refused = hands === null ? null : draftFailure(walk, key, read, hands);
  if (refused !== null) return { failure: refused };
  const { definition, library, catalogue } = read;
  return { step: { ...step, definition }, library, catalogue, hands };
}

function notRead(code: string, message: string, findings: readonly Finding[] = []): { failure: FailureInfo } {
  const problems = findings
    .slice(0, findingsShownMax)
    .map(({ code: problem, path, message: found }) => ({ code: problem, path, message: found }));
  return { failure: { code, message, retryable: false, ...(problems.length === 0 ? {} : { details: { problems } }) } };
}

function said(findings: readonly Finding[]): string {
  const shown = findings
    .slice(0, findingsSaidMax)
    .map(({ code, path, message }) => `${code}${path === '' ? '' : ` at ${path}`}: ${message}`);
  const more = findings.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
}
