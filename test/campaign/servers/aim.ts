/**
 * Where the next worker dies: first where none has died yet, and at what leads there; then at pairs of a point and a kind
 * of run that are new, those of the points with the fewest deaths first.
 */
import { CRASH_POINTS, type CrashPoint } from '../../../world/crash-points/catalogue.ts';
import type { PassedPoint, PlannedDeath } from '../../../world/crash-points/armed-deaths.ts';
import type { Chance } from '../../server/chaos/chaos-definitions.ts';
import { kindOfId, type KindName } from './kinds.ts';
import { rootOf } from './oracle.ts';

export const POINTS = Object.keys(CRASH_POINTS) as CrashPoint[];
/** Deaths that no point of the code brings about: whoever watches from outside kills the worker at any moment. */
export type DeathPoint = CrashPoint | 'anywhere';

/** What only comes about where a worker has died at one of these. */
const AFTER: { readonly [point in CrashPoint]?: readonly CrashPoint[] } = {
  'segment.taken-over': ['segment.committed'],
  'command.taken-over': ['command.committed'],
  'turn.taken-over': ['turn.kept'],
  'call.in-doubt': ['call.claimed', 'call.performed'],
  'background.taken-over': ['background.launched'],
  'process.taken-over': ['process.heard'],
  'process.found-ended': ['process.begun', 'process.ended'],
  'process.unwanted': ['process.begun'],
  'changeset.putting-back': ['changeset.placed'],
};

/** A value is kept by its hash, for whoever has it. */
const COMES_TO: { readonly [point in CrashPoint]?: readonly KindName[] } = { 'payload.kept': ['large'] };
/** So few points left, runs that come to them begin before others. */
const WANTED_FROM = 12;

const pairsArmed = 60;
/** Runs that a worker has been at before it dies, each of which is a case, and how long it waits for so many. */
const FRESH = { fromRuns: 24, soonestMs: 1_200, latestMs: 4_000 } as const;
const PAIRED = { fromRuns: 30, latestMs: 6_000 } as const;
const ANY = { fromRuns: 34, latestMs: 8_000 } as const;
/** As long as there are points to reach, others wait: at its start a worker comes to the same few of them. */
const waitsForFreshMs = 5_000;
const soonestMs = 5_000;
/** Some live for longer, so that runs come further, and workers to what they do now and then. */
const longShareFresh = 0.25;
const longShare = 0.15;
const longMs = 9_000;
/** As few points as these are such that seldom comes to: for them most do, and each for longer. */
const LAST = { points: 4, share: 0.7, soonestMs: 15_000 } as const;
/** Passed less often than this for each death, a point is taken as soon as a worker comes to it. */
const seldom = 0.4;

export class Aim {
  readonly passed = new Map<CrashPoint, number>();
  readonly died = new Map<DeathPoint, number>();
  /** Where a worker died while it was at a run of this kind. */
  readonly diedAt = new Set<string>();
  readonly seenAt = new Set<string>();
  /** Two deaths, one after the other. */
  readonly pairs = new Set<string>();
  #last: DeathPoint | null = null;
  readonly #chance: Chance;

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  saw({ point, handle }: PassedPoint): void {
    this.passed.set(point, (this.passed.get(point) ?? 0) + 1);
    const kind = handle === undefined ? null : kindOfId(rootOf(handle));
    if (kind !== null) this.seenAt.add(`${point} ${kind}`);
  }

  diedWhere(point: DeathPoint, handle: string | undefined): void {
    this.died.set(point, (this.died.get(point) ?? 0) + 1);
    const kind: KindName | null = handle === undefined ? null : kindOfId(rootOf(handle));
    if (kind !== null) this.diedAt.add(`${point} ${kind}`);
    if (this.#last !== null) this.pairs.add(`${this.#last} ${point}`);
    this.#last = point;
  }

  get neverReached(): CrashPoint[] {
    return POINTS.filter((point) => !this.died.has(point));
  }

  /** Kinds of runs that come to points which are left: empty while many are, since others come to those as well. */
  get wanted(): KindName[] {
    const { neverReached } = this;
    if (neverReached.length > WANTED_FROM) return [];
    const seen = [...this.seenAt].map((pair) => pair.split(' '));
    const kinds = neverReached.flatMap((point) => [
      ...seen.filter(([at]) => at === point).map(([, kind]) => kind as KindName),
      ...(COMES_TO[point] ?? []),
    ]);
    return [...new Set(kinds)];
  }

  plan(act: PlannedDeath['do']): PlannedDeath[] {
    const left = this.neverReached.length;
    const isLast = left > 0 && left <= LAST.points;
    const isLong = this.#chance.isLess(isLast ? LAST.share : left > 0 ? longShareFresh : longShare);
    const forLong = isLast ? LAST.soonestMs : longMs;
    const soonest = isLong ? forLong : left > 0 ? waitsForFreshMs : this.#chance.upTo(soonestMs);
    const others = [...this.#paired(act), ...this.#any(act)].map((death) => ({ ...death, soonestMs: soonest }));
    const planned = [...this.#fresh(act, isLong), ...others];
    // Whoever was told to leave dies while it does.
    return planned.map((death) => (death.point === 'process.left' ? { ...death, fromRuns: 0, do: 'kill' } : death));
  }

  #death(point: CrashPoint, act: PlannedDeath['do'], rest: Partial<PlannedDeath>): PlannedDeath {
    const late = this.#chance.isLess(0.3) ? { afterMs: this.#chance.upTo(6) } : {};
    return { point, nth: 1, do: act, ...late, ...rest };
  }

  #fresh(act: PlannedDeath['do'], isLong: boolean): PlannedDeath[] {
    const { neverReached } = this;
    const deaths = [...this.died.values()].reduce((all, some) => all + some, 0);
    const isSeldom = (point: CrashPoint): boolean => (this.passed.get(point) ?? 0) < 2 + deaths * seldom;
    const seldomOnes = neverReached.filter(isSeldom).map((point) => this.#death(point, act, {}));
    if (isLong) return seldomOnes;
    const often = neverReached.filter((point) => !isSeldom(point));
    const leading = new Set(neverReached.flatMap((point) => (this.#chance.isLess(0.4) ? (AFTER[point] ?? []) : [])));
    return [
      ...seldomOnes,
      ...often.map((point) => this.#death(point, act, FRESH)),
      ...[...leading].map((point) => this.#death(point, 'kill', FRESH)),
    ];
  }

  #paired(act: PlannedDeath['do']): PlannedDeath[] {
    const pairs = [...this.seenAt].filter((pair) => !this.diedAt.has(pair)).map((pair) => pair.split(' '));
    const deathsAt = ([point]: string[]): number => this.died.get(point as CrashPoint) ?? 0;
    const some = Array.from({ length: Math.min(pairsArmed, pairs.length) }, () => {
      const [one, other] = [this.#chance.pick(pairs), this.#chance.pick(pairs)];
      return deathsAt(one) <= deathsAt(other) ? one : other;
    });
    return some.map(([point, kind = '']) => this.#death(point as CrashPoint, act, { of: `c-${kind}-`, ...PAIRED }));
  }

  #any(act: PlannedDeath['do']): PlannedDeath[] {
    return POINTS.map((point) => this.#death(point, act, { ...ANY, nth: 1 + this.#chance.upTo(3) }));
  }
}
