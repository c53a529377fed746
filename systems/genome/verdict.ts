/**
 * Whether an adapter is good enough, by what was answered without it and with it. What is drawn again for the interval are
 * the groups (facts), not the questions: questions about one fact are right and wrong together.
 */
import { createHash } from 'node:crypto';

export const GATE = {
  /** Points of 100 that the answers to the held-out questions have to become better by. */
  gainMin: 15,
  /** Points of 100 that the answers to unrelated questions may become worse by. */
  forgottenMax: 5,
  questionsMin: 30,
  groupsMin: 10,
  unrelatedMin: 200,
  draws: 4000,
  /** Of the exact sign test over the groups, one-sided. */
  chanceMax: 0.025,
} as const;

export interface Answered {
  group: string;
  before: boolean;
  after: boolean;
}

/** Shares are in points of 100. */
export type Verdict = {
  passed: boolean;
  /** Why not; empty where it passed. */
  reasons: string[];
  heldOut: {
    n: number;
    groups: number;
    before: number;
    after: number;
    gain: number;
    /** 95 % of the gain. */
    interval: [number, number];
    won: number;
    lost: number;
    /** How likely as much would be won by an adapter that changes nothing. */
    chance: number;
  };
  forgetting: { n: number; before: number; after: number; forgotten: number };
};

/** `seed`: the same gives the same interval. */
export function verdictOf(heldOut: readonly Answered[], unrelated: readonly Answered[], seed: string): Verdict {
  const groups = grouped(heldOut);
  const [before, after] = sharesOf(heldOut);
  const [knew, knows] = sharesOf(unrelated);
  const found: Omit<Verdict, 'passed' | 'reasons'> = {
    heldOut: {
      n: heldOut.length,
      groups: groups.length,
      before,
      after,
      gain: rounded(after - before),
      interval: intervalOf(groups, seed),
      won: heldOut.filter(({ before: was, after: is }) => !was && is).length,
      lost: heldOut.filter(({ before: was, after: is }) => was && !is).length,
      chance: chanceOf(groups),
    },
    forgetting: { n: unrelated.length, before: knew, after: knows, forgotten: rounded(knew - knows) },
  };
  const reasons = reasonsAgainst(found);
  return { passed: reasons.length === 0, reasons, ...found };
}

/** Whether the figures of a verdict are those of an adapter that passes, whoever has written it. */
export const hasPassed = (verdict: Verdict): boolean => verdict.passed && reasonsAgainst(verdict).length === 0;

/** What cannot be judged is refused before anything is asked. */
export function tooFew(questions: number, groups: number): string | null {
  const { questionsMin, groupsMin } = GATE;
  if (questions >= questionsMin && groups >= groupsMin) return null;
  return `${questions} questions about ${groups} facts were held out for the gate, and ${questionsMin} questions about ${groupsMin} facts are the least`;
}

function reasonsAgainst({ heldOut, forgetting }: Omit<Verdict, 'passed' | 'reasons'>): string[] {
  const { n, groups, gain, interval, chance, before, after } = heldOut;
  const few = tooFew(n, groups);
  const [low, high] = interval;
  return [
    ...(few === null ? [] : [few]),
    ...(gain < GATE.gainMin
      ? [`the held-out questions went from ${before} to ${after} of 100, and ${GATE.gainMin} points more are the least`]
      : []),
    ...(low <= 0 ? [`the gain of ${gain} points may be chance: its interval is ${low} to ${high}`] : []),
    ...(chance > GATE.chanceMax
      ? [`the gain of ${gain} points may be chance: too few facts went from wrong to right`]
      : []),
    ...(forgetting.n < GATE.unrelatedMin
      ? [`${forgetting.n} unrelated questions were asked, and ${GATE.unrelatedMin} are the least`]
      : []),
    ...(forgetting.forgotten > GATE.forgottenMax
      ? [
          `it forgets: unrelated questions went from ${forgetting.before} to ${forgetting.after} of 100, and ${GATE.forgottenMax} points less are the most`,
        ]
      : []),
  ];
}

interface Group {
  n: number;
  /** Right answers more than before. */
  gain: number;
}

function grouped(answered: readonly Answered[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { group, before, after } of answered) {
    const { n, gain } = groups.get(group) ?? { n: 0, gain: 0 };
    groups.set(group, { n: n + 1, gain: gain + Number(after) - Number(before) });
  }
  return [...groups.values()];
}

const rounded = (points: number): number => Math.round(points * 10) / 10;

function sharesOf(answered: readonly Answered[]): [number, number] {
  const share = (arm: 'before' | 'after'): number =>
    answered.length === 0 ? 0 : rounded((100 * answered.filter((one) => one[arm]).length) / answered.length);
  return [share('before'), share('after')];
}

/** 95 % by bootstrap over the groups. */
function intervalOf(groups: readonly Group[], seed: string): [number, number] {
  if (groups.length === 0) return [0, 0];
  const draw = randomFrom(seed);
  const gains = Float64Array.from({ length: GATE.draws }, () => {
    let [n, gain] = [0, 0];
    for (let drawn = 0; drawn < groups.length; drawn += 1) {
      const group = groups[Math.floor(draw() * groups.length)];
      n += group?.n ?? 0;
      gain += group?.gain ?? 0;
    }
    return (100 * gain) / n;
  }).toSorted();
  const at = (share: number): number => rounded(gains[Math.round(share * (gains.length - 1))] ?? 0);
  return [at(0.025), at(0.975)];
}

/** Where all groups agree, a bootstrap has no width: an exact sign test says how little that may mean. */
function chanceOf(groups: readonly Group[]): number {
  const won = groups.filter(({ gain }) => gain > 0).length;
  const n = won + groups.filter(({ gain }) => gain < 0).length;
  let [sum, term] = [0, 0.5 ** n];
  for (let k = 0; k <= n; k += 1) {
    if (k >= won) sum += term;
    term *= (n - k) / (k + 1);
  }
  return Math.min(1, Math.round(sum * 1e6) / 1e6);
}

/** Mulberry32. */
function randomFrom(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
