/**
 * What bounds a run, and what happens at a bound: the run stops, or, with `onTimeout: "pause"`, it
 * is held and asks; resuming it grants the same amount once more. Time spent held counts against nothing.
 */
import { entryOf } from '../language/catalogue.ts';
import {
  commandTimeoutMs,
  continuousPassesMax,
  modelTimeoutMs,
  shellTimeoutMs,
  watchTimeoutMs,
} from '../language/limits.ts';
import type { Definition, LoopConfig, Step } from '../language/model.ts';
import { stricter } from '../language/permissions.ts';
import { reasonAtLimit, type Answer, type Question } from '../language/events/question.ts';
import { wait, type Walking } from './drive.ts';
import { away } from './places.ts';
import { shieldOf, type Gate, type Strand, type RunInput } from './host.ts';
import type { Flow, Limit, RunBudget, RunLimits } from './effect.ts';
import { heldMs, type Walk, record } from './walk-state.ts';
import { approvalsOf, unaskedOf } from './approval-rules.ts';
import { ruleFor } from './program.ts';
import { canonicalText } from '../language/canonical.ts';
import { defined } from '../language/defined.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { RunFinished } from '../language/events/run-event.ts';

const smallest = (...values: (number | null | undefined)[]): number | null => {
  const present = values.filter((value) => value !== null && value !== undefined);
  return present.length === 0 ? null : Math.min(...present);
};

/** A run's limits: its own, and never more than what it inherits. */
export function limitsOf(definition: Definition, inherited: RunLimits | null): RunLimits {
  const { loop, safety } = definition;
  const bounded: { maxIterations?: number | undefined; timeoutMs?: number | undefined } =
    loop.type === 'once' ? {} : loop;
  return {
    maxIterations: smallest(safety?.maxIterations, bounded.maxIterations, inherited?.maxIterations),
    timeoutMs: smallest(definition.timeoutMs, safety?.timeoutMs, bounded.timeoutMs, inherited?.timeoutMs),
    stepTimeoutMs: smallest(safety?.maxStepTimeoutMs, inherited?.stepTimeoutMs),
    nestingDepth: smallest(safety?.maxNestingDepth, inherited?.nestingDepth),
    ...defined({
      mode: modeOf(definition, inherited),
      memoryMb: smallest(safety?.maxMemoryMb, inherited?.memoryMb) ?? undefined,
      budget: budgetOf(definition, inherited?.budget),
      requireApproval: approvalsOf(definition, inherited),
      unasked: unaskedOf(definition, inherited),
      files: filesOf(definition, inherited),
      brought: inherited?.brought,
      policies: inherited?.policies,
    }),
  };
}

/** Of the protected files that a definition names, a nested run reaches those that the run around it reaches too. */
function filesOf({ safety }: Definition, inherited: RunLimits | null): RunLimits['files'] {
  const own = safety?.allowFiles ?? [];
  const files = inherited === null ? own : own.filter((file) => inherited.files?.includes(file) === true);
  return files.length === 0 ? undefined : files;
}

function modeOf(definition: Definition, inherited: RunLimits | null): RunLimits['mode'] {
  const mode = stricter(definition.mode, inherited?.mode);
  return mode === 'full' ? undefined : mode;
}

function budgetOf({ safety }: Definition, inherited: RunBudget | undefined): RunBudget | undefined {
  const own = safety?.budget;
  if (own === undefined && inherited === undefined) return undefined;
  const at = (kind: 'steps' | 'tokens' | 'usd' | 'wallMs'): number | undefined =>
    smallest(own?.[kind], inherited?.[kind]) ?? undefined;
  const pause = safety?.onTimeout === undefined ? inherited?.pause : safety.onTimeout === 'pause';
  return defined({ steps: at('steps'), tokens: at('tokens'), usd: at('usd'), wallMs: at('wallMs'), pause });
}

/** What is left of the run's time; inside a clean-up, of the clean-up's. */
export function remainingMs(walk: Walk, strand?: Strand): number | null {
  const shield = strand === undefined ? null : shieldOf(strand);
  if (shield !== null) return Math.max(0, shield.until - walk.host.now());
  return smallest(timeoutLeft(walk), timeLimitsLeft(walk).wallMs);
}

/** What is left of the time after which the run ends; null where it is held then, or has all the time. */
export function endingMs(walk: Walk): number | null {
  return smallest(
    pausesAt(walk, 'timeoutMs') ? null : timeoutLeft(walk),
    pausesAt(walk, 'budget.wallMs') ? null : timeLimitsLeft(walk).wallMs,
  );
}

function timeoutLeft(walk: Walk): number | null {
  return timeLeft(walk, walk.input.limits.timeoutMs, 'timeoutMs');
}

/** The part of the budget that is time: it passes for everyone at once, so nobody reserves any. */
export function timeLimitsLeft(walk: Walk): { wallMs?: number } {
  const wallMs = timeLeft(walk, wallMsOf(walk), 'budget.wallMs');
  return wallMs === null ? {} : { wallMs };
}

/** The time each grant gives, so that with all of them what had gone before the run is taken off. */
export function wallMsOf({ input: { limits }, position: { extensions, earlierMs = 0 } }: Walk): number | null {
  const bound = limits.budget?.wallMs;
  return bound === undefined ? null : bound - earlierMs / (1 + (extensions['budget.wallMs'] ?? 0));
}

function timeLeft(walk: Walk, bound: number | null, limit: Limit): number | null {
  return bound === null ? null : Math.max(0, extended(walk, limit, bound) - (runningMs(walk) - walk.input.startedAt));
}

/** A bound with what was granted beyond it. */
export function extended({ position: { extensions } }: Walk, limit: Limit, bound: number): number {
  return bound * (1 + (extensions[limit] ?? 0)) + (extensions[`more.${limit}`] ?? 0);
}

/** The clock without the time the run has been held. */
export function runningMs(walk: Walk): number {
  return walk.host.now() - heldMs(walk);
}

/** The limits a nested run inherits now; `timeoutMs` is what the step bounds it by, where nobody waits for its end. */
export function limitsLeft(walk: Walk, timeoutMs: number | undefined, strand: Strand, isAwaited: boolean): RunLimits {
  const left =
    shieldOf(strand) !== null
      ? remainingMs(walk, strand)
      : isAwaited && pausesAt(walk, 'timeoutMs')
        ? null
        : timeoutLeft(walk);
  return { ...walk.input.limits, timeoutMs: smallest(timeoutMs, left) };
}

/** What a run inherits that a command starts, and that nobody waits for: what it may do, but not how long or how often. */
export function rightsOf(limits: RunLimits): RunLimits {
  const { stepTimeoutMs, nestingDepth, requireApproval, unasked, mode, memoryMb, files, brought, policies } = limits;
  return {
    maxIterations: null,
    timeoutMs: null,
    stepTimeoutMs,
    nestingDepth,
    ...defined({ requireApproval, unasked, mode, memoryMb, files, brought, policies }),
  };
}

/** What is left of the time that ends a nested run with the run around it. */
export function nestedMs(walk: Walk, strand: Strand, isAwaited: boolean): number | null {
  const isHeld = isAwaited && shieldOf(strand) === null;
  return isHeld ? endingMs(walk) : remainingMs(walk, strand);
}

/** Holds the run, and the nested run it waits for, each time that its time is up before that one has ended. The flow that ends the run, or null. */
export function* holdMeanwhile(walk: Walk, strand: Strand, nested: Promise<unknown>): Walking<Flow | null> {
  if (walk.input.limits.timeoutMs === null || shieldOf(strand) !== null || !pausesAt(walk, 'timeoutMs')) return null;
  while (yield* wait(walk.host.isLate(() => timeoutLeft(walk) ?? 0, nested))) {
    const flow = yield* holdAtLimit(walk, 'timeoutMs');
    if (flow) return flow;
  }
  return null;
}

/** Whether the run's time is up; what else its budget holds is asked in budget.ts. */
export function limitReached(walk: Walk): Limit | null {
  if (timeLimitsLeft(walk).wallMs === 0) return 'budget.wallMs';
  return timeoutLeft(walk) === 0 ? 'timeoutMs' : null;
}

/** How often steps may have been repeated because time was granted once more. */
export function turnsGranted({ extensions }: Walk['position']): number {
  return extensions.maxIterations + extensions.timeoutMs + (extensions['budget.wallMs'] ?? 0);
}

/** Passes the run's own loop may still make are used up. */
export function passesSpent(walk: Walk, config: LoopConfig, pass: number): boolean {
  const given = walk.input.limits.maxIterations;
  const bound = given ?? (config.type === 'continuous' ? continuousPassesMax : null);
  return bound !== null && pass >= extended(walk, 'maxIterations', bound);
}

/** The flow that ends the run, or null when it may go on. */
export function* holdAtLimit(walk: Walk, limit: Limit): Walking<Flow | null> {
  if (!pausesAt(walk, limit)) return { kind: 'stopped', limit };
  const granted = walk.position.extensions[limit] ?? 0;
  const id = limitQuestionId(limit, granted);
  let gate: Gate;
  do {
    // It is held before anything is waited for.
    const held = walk.host.hold(reasonAtLimit(limit), id);
    yield* askAtLimit(walk, limit, id);
    gate = yield* away(walk, null, () => held);
  } while (gate === 'go' && isOpen(walk, id));
  switch (gate) {
    case 'go':
      // A run that asks nobody is extended here. Branches held together are resumed together: the first to go on takes the one extension.
      if ((walk.position.extensions[limit] ?? 0) === granted) walk.position.extensions[limit] = granted + 1;
      return null;
    case 'yield':
    case 'segment':
      return { kind: 'yield' };
    case 'stop':
      return { kind: 'stopped', limit };
    case 'cancel':
      return { kind: 'cancelled' };
    default:
      return gate satisfies never;
  }
}

/** Whether the limit holds the run, and with it the nested run it waits for. A nested run does with an inherited budget what its parent would. */
export function pausesAt(walk: Walk, limit: Limit): boolean {
  const { definition, limits } = walk.input;
  return limit.startsWith('budget.')
    ? limits.budget?.pause === true
    : definition.safety?.onTimeout === 'pause' || ruleFor(definition, 'timeout')?.action === 'pause';
}

/** How long one effect may take: the step's own bound, the run's bound on steps, what is left of the run. */
export function timeoutOf(walk: Walk, step: Step, strand: Strand): number {
  const own = 'timeoutMs' in step ? step.timeoutMs : undefined;
  const usual = usualTimeoutOf(walk, step);
  return Math.max(1, smallest(own ?? usual, walk.input.limits.stepTimeoutMs, remainingMs(walk, strand)) ?? usual);
}

function usualTimeoutOf({ input }: Walk, step: Step): number {
  if (step.type === 'shell') return shellTimeoutMs;
  if (step.type === 'watch') return watchTimeoutMs;
  if (step.type === 'llm') return modelTimeoutMs;
  return (step.type === 'command' ? entryOf(input.catalogue, step.command).timeoutMs : undefined) ?? commandTimeoutMs;
}

/**
 * What a run that is held at a limit asks: is it extended, and by how much, or does the run end there?
 *
 * - The question is open while the run is held for it. An answer to another one, which lets the run
 *   go on, leaves it open, and the run is held again.
 * - Resuming the run answers all of them: each limit is extended by what it was.
 * - An extension counts from the moment it is given. What is granted beyond or short of what the limit
 *   was is kept beside the count of the extensions.
 */

const prefix = 'limit.';

/** Each extension is a question of its own. */
export function limitQuestionId(limit: Limit, granted: number): string {
  return `${prefix}${limit}${granted === 0 ? '' : `#${granted + 1}`}`;
}

/** The limit that a question is about; null where it is about something else. */
export function limitAsked(id: string): Limit | null {
  return id.startsWith(prefix) ? (id.slice(prefix.length).replace(/#\d+$/, '') as Limit) : null;
}

/** Who is asked by a run that is held at a limit; a nested run's limit is its owner's business too. */
export function holdReport({ definition, persona }: RunInput): RunFinished['notify'] {
  if (definition.reportTo === 'silent') return undefined;
  return { condition: 'timeout', priority: ruleFor(definition, 'timeout')?.priority ?? 'high', assignee: persona };
}

/** Asks, where the run is held and nobody has asked yet. A run that reports to nobody asks nobody. */
export function* askAtLimit(walk: Walk, limit: Limit, id: string): Walking<void> {
  const { input, position } = walk;
  const report = holdReport(input);
  if (report === undefined || position.paused === null || isOpen(walk, id)) return;
  const given = boundOf(walk, limit);
  const show = { limit, extension: given };
  const digest = yield* wait(walk.host.digest(canonicalText({ run: input.handle, id, about: show }), id));
  // It may have been resumed meanwhile, and another branch may have asked.
  if (digest === null || walk.position.paused === null || isOpen(walk, id)) return;
  const name = nameOf(limit);
  const question: Question = {
    id,
    kind: report.condition,
    message: `the run is held: the limit ${limit} is reached. "extend" grants ${given} more, or as much as its data say ({"${name}": ${given}}); "stop" ends the run here`,
    choices: ['extend', 'stop'],
    show,
    form: null,
    assignee: report.assignee,
    priority: report.priority,
    askedAt: walk.host.now(),
    expiresAt: null,
    digest,
  };
  walk.position.questions.push(question);
  record(walk, { type: 'asked', key: '', question });
}

export const isOpen = ({ position }: Walk, id: string): boolean =>
  position.questions.some((question) => question.id === id);

/** What an extension grants where nobody says how much. */
function boundOf({ input: { limits } }: Walk, limit: Limit): number {
  if (limit === 'maxIterations') return limits.maxIterations ?? continuousPassesMax;
  if (limit === 'timeoutMs') return limits.timeoutMs ?? 0;
  return limits.budget?.[nameOf(limit) as 'steps' | 'tokens' | 'usd' | 'wallMs'] ?? 0;
}

const nameOf = (limit: Limit): string => limit.replace('budget.', '');

/** What is wrong with the data of an extension; null where nothing is. */
export function extensionFault(id: string, data: Json): string | null {
  const limit = limitAsked(id);
  if (limit === null || data === null) return null;
  const name = nameOf(limit);
  const amount = isJsonObject(data) && Object.keys(data).length === 1 ? data[name] : undefined;
  const isAmount = typeof amount === 'number' && amount > 0 && (limit === 'budget.usd' || Number.isSafeInteger(amount));
  return isAmount
    ? null
    : `the data of "extend" say how much more it may use, as {"${name}": N}, N ${limit === 'budget.usd' ? 'an amount' : 'a whole number'} above 0; without data it is as much as before`;
}

export function takeExtension(walk: Walk, id: string, { choice, data }: Answer): void {
  const limit = limitAsked(id);
  if (limit === null || choice !== 'extend') return;
  countExtension(walk, limit);
  const amount = isJsonObject(data) ? data[nameOf(limit)] : undefined;
  if (typeof amount !== 'number') return;
  const { extensions } = walk.position;
  extensions[`more.${limit}`] = (extensions[`more.${limit}`] ?? 0) + amount - boundOf(walk, limit);
}

export function countExtension({ position: { extensions } }: Walk, limit: Limit): void {
  extensions[limit] = (extensions[limit] ?? 0) + 1;
}
