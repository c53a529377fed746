/**
 * What a run may spend: steps, tokens and money (`safety.budget`; wall time is a limit of its own).
 *
 * - B1 Before every step that does something: is anything used up? A step counts from the moment it
 *   is begun, and nothing stands between that check and the count.
 * - B2 What may be spent elsewhere (a nested run, a segment, a call that names its price) is reserved
 *   before it begins and settled with what it used when it ends, so siblings cannot overspend together.
 * - B3 A line that finds nothing left while others hold reservations waits for one to be settled.
 * - B4 A clean-up (`always`) is counted and never held up.
 * - B5 What was spent is in the position. Reservations are not: whatever holds one ends before the
 *   run continues as new.
 */
import { segmentStepsMax } from '../language/limits.ts';
import type { StepUsage } from '../language/events/run-event.ts';
import { wait, type Walking } from './drive.ts';
import { isCancelled, shieldOf, type Strand } from './host.ts';
import type { Effect, Flow, NestedEffect, Reply, RunBudget, StartingEffect, Usage } from './effect.ts';
import type { Walk } from './walk-state.ts';
import { extended, holdAtLimit, limitsOf, timeLimitsLeft, wallMsOf } from './limits.ts';
import { branchesAtOnce } from './program.ts';
import { definitionPathOf } from './edited-paths.ts';

const kinds = ['steps', 'tokens', 'usd'] as const;
type Kind = (typeof kinds)[number];
type Price = Partial<Usage>;

const nothing: Usage = { steps: 0, tokens: 0, usd: 0 };

export const plus = (a: Price, b: Price): Usage => ({
  steps: (a.steps ?? 0) + (b.steps ?? 0),
  tokens: (a.tokens ?? 0) + (b.tokens ?? 0),
  usd: (a.usd ?? 0) + (b.usd ?? 0),
});

/** Reservations of one walk, and who waits for one to be settled. */
class Books {
  readonly reserved = new Map<string, { price: Price; isNested: boolean }>();
  private waiting: (() => void)[] = [];

  sum(kind: Kind): number {
    let total = 0;
    for (const { price } of this.reserved.values()) total += price[kind] ?? 0;
    return total;
  }

  settled(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  release(key: string): void {
    this.reserved.delete(key);
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}

const booksByWalk = new WeakMap<Walk, Books>();

function booksOf(walk: Walk): Books {
  const books = booksByWalk.get(walk) ?? new Books();
  booksByWalk.set(walk, books);
  return books;
}

/** Everything the run has used so far, nested runs included. */
export function usageOf(walk: Pick<Walk, 'position'>): Usage {
  return plus(walk.position.spent ?? nothing, { steps: walk.position.steps });
}

/** What nobody has used or reserved; null where nothing bounds it. */
function left(walk: Walk, kind: Kind): number | null {
  const { budget } = walk.input.limits;
  const bound = budget?.[kind];
  if (budget === undefined || bound === undefined) return null;
  const whole = budget.isShare === true ? bound : extended(walk, `budget.${kind}`, bound);
  return whole - usageOf(walk)[kind] - booksOf(walk).sum(kind);
}

function lacking(walk: Walk, price: Price): Kind | null {
  const lacks = (kind: Kind): boolean => {
    const rest = left(walk, kind);
    return rest !== null && (rest <= 0 || rest < (price[kind] ?? 0));
  };
  return kinds.find(lacks) ?? null;
}

/** What of the budget is used up. */
export function budgetSpent(walk: Walk): `budget.${Kind}` | null {
  const kind = lacking(walk, nothing);
  return kind === null ? null : `budget.${kind}`;
}

/** What stands against something of that price now; null where nothing does, and in a clean-up (B4). */
export function lackingFor(walk: Walk, strand: Strand, price: Price): `budget.${Kind}` | null {
  if (walk.input.limits.budget === undefined || shieldOf(strand) !== null) return null;
  const kind = lacking(walk, booksOf(walk).reserved.size > 0 ? price : nothing);
  return kind === null ? null : `budget.${kind}`;
}

/** The flow that ends the line of execution, or null when a step may begin. */
export function* askBudget(walk: Walk, strand: Strand, price: Price = { steps: 1 }): Walking<Flow | null> {
  for (;;) {
    const lacked = lackingFor(walk, strand, price);
    if (lacked === null) return null;
    // A segment has only a share: whether the whole is used up is for its run to say.
    if (walk.input.limits.budget?.isShare === true) return { kind: 'yield' };
    const books = booksOf(walk);
    if (books.reserved.size === 0) {
      const flow = yield* holdAtLimit(walk, lacked);
      if (flow) return flow;
    } else {
      yield* wait(books.settled());
    }
    if (isCancelled(strand)) return { kind: 'cancelled' };
  }
}

/** What a step may cost at most, beyond itself: a run that it starts needs at least one step of its own. */
export function priceOf(effect: Effect): Price {
  return { ...effect.most, steps: effect.type === 'sentinel' || startsRun(effect) ? 2 : 1 };
}

const startsRun = (effect: Effect): effect is StartingEffect =>
  effect.type === 'command' && effect.starts !== undefined;

/** Counts the step, and reserves what may be spent elsewhere; the effect to ask for, with its share. */
export function begin(walk: Walk, strand: Strand, effect: Effect): Effect {
  walk.position.steps += 1;
  if (startsRun(effect)) return withPart(walk, strand, effect);
  if (effect.type !== 'sentinel') {
    if (effect.most !== undefined) booksOf(walk).reserved.set(effect.key, { price: effect.most, isNested: false });
    return effect;
  }
  if (shieldOf(strand) !== null) return withOwnBudget(effect);
  const budget = shareOf(walk, strand, effect);
  if (budget === undefined) return effect;
  const price = priceOfShare(budget);
  // Nobody hears what a run that is not awaited uses, so all it may use counts as used.
  if (effect.wait) booksOf(walk).reserved.set(effect.key, { price, isNested: true });
  else spend(walk, price);
  return { ...effect, limits: { ...effect.limits, budget } };
}

const priceOfShare = (budget: RunBudget): Price =>
  Object.fromEntries(kinds.flatMap((kind) => (budget[kind] === undefined ? [] : [[kind, budget[kind]]])));

/** Runs that a command starts get together what one gets that is not awaited, and all of it counts as used. */
function withPart(walk: Walk, strand: Strand, effect: StartingEffect): Effect {
  const budget = shieldOf(strand) === null ? partLeft(walk, strand, false) : undefined;
  if (budget === undefined) return effect;
  spend(walk, priceOfShare(budget));
  return { ...effect, starts: { ...effect.starts, limits: { ...effect.starts.limits, budget } } };
}

/** In a clean-up nobody reserves any (B4): a nested run has the budget that it states itself. */
function withOwnBudget(effect: NestedEffect): NestedEffect {
  const { budget: _budget, ...limits } = effect.limits;
  return { ...effect, limits };
}

/** Settles what `begin` reserved. A call that was cancelled without a word counts as fully used. */
export function settle(walk: Walk, key: string, reply: Reply): void {
  const books = booksOf(walk);
  const reserved = books.reserved.get(key);
  const isSilent = !reply.ok && 'cancelled' in reply && reply.usage === undefined;
  spend(walk, reply.usage ?? (isSilent ? (reserved?.price ?? {}) : {}));
  if (reserved !== undefined) books.release(key);
}

/** What is told of an effect's cost when its step ends: nothing where it had none. */
export function costOf({ usage: { tokens = 0, usd = 0 } = {} }: Reply): { usage?: StepUsage } {
  return tokens === 0 && usd === 0 ? {} : { usage: { tokens, usd } };
}

/** What was used gives nothing back, whatever is said of it. */
const used = (amount: number | undefined): number => (amount !== undefined && amount > 0 ? amount : 0);

export function spend(walk: Walk, { steps, tokens, usd }: Price): void {
  const price: Usage = { steps: used(steps), tokens: used(tokens), usd: used(usd) };
  if (kinds.every((kind) => price[kind] === 0)) return;
  walk.position.spent = plus(walk.position.spent ?? nothing, price);
}

/**
 * What a nested run gets: at most its own budget, and at most its part of what is left. Branches
 * that may run at once divide it; a run that is not awaited gets half.
 */
function shareOf(walk: Walk, strand: Strand, effect: NestedEffect): RunBudget | undefined {
  const share = partLeft(walk, strand, effect.wait);
  // A child that states a smaller budget of its own reserves no more than that.
  return share === undefined ? undefined : limitsOf(effect.definition, { ...effect.limits, budget: share }).budget;
}

function partLeft(walk: Walk, strand: Strand, isAwaited: boolean): RunBudget | undefined {
  const { budget } = walk.input.limits;
  if (budget === undefined) return undefined;
  const others = [...booksOf(walk).reserved.values()].filter(({ isNested }) => isNested).length;
  const parts = Math.max(
    isAwaited ? 1 : 2,
    branchesAtOnce(walk.input.definition, definitionPathOf(walk, strand.path)) - others,
  );
  const share: RunBudget = { ...timeLimitsLeft(walk) };
  if (budget.pause !== undefined) share.pause = budget.pause;
  for (const kind of kinds) {
    const rest = left(walk, kind);
    if (rest !== null) share[kind] = partOf(Math.max(0, rest), parts, kind);
  }
  return share;
}

function partOf(rest: number, parts: number, kind: Kind): number {
  if (kind === 'usd') return rest / parts;
  return Math.max(Math.min(1, rest), Math.floor(rest / parts));
}

/** Whether a segment that begins now has a share of the budget. */
export function hasShare(walk: Walk, strand: Strand): boolean {
  return walk.input.limits.budget === undefined || shieldOf(strand) !== null || lacking(walk, { steps: 1 }) === null;
}

/** A segment's share, or null when others took what was left: then the line asks again. */
export function beginSegment(walk: Walk, strand: Strand, key: string): { budget?: RunBudget } | null {
  const { budget } = walk.input.limits;
  if (budget === undefined) return {};
  if (shieldOf(strand) !== null) return { budget: { isShare: true } };
  if (!hasShare(walk, strand)) return null;
  const share: RunBudget = { ...budget, isShare: true };
  const wallMs = wallMsOf(walk);
  if (wallMs !== null) share.wallMs = wallMs;
  for (const kind of kinds) {
    const rest = left(walk, kind);
    if (rest !== null) share[kind] = kind === 'steps' ? Math.min(rest, segmentStepsMax) : rest;
  }
  const price = share.steps === undefined ? {} : { steps: share.steps };
  booksOf(walk).reserved.set(`segment ${key}`, { price, isNested: false });
  return { budget: share };
}

export function settleSegment(walk: Walk, key: string): void {
  booksOf(walk).release(`segment ${key}`);
}
