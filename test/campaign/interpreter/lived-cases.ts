/**
 * Random definitions on a host that dies: at each of its moments alone, and at pairs of them. Every run ends, as the run
 * that had the same replies and lost nothing; what commits once is done once, and nothing else more often than it died.
 */
import * as fc from 'fast-check';
import type { Definition } from '../../../language/model.ts';
import type { Mode } from '../../../interpreter/simulation/world.ts';
import { chaosMode } from '../../interpreter/properties/chaos-script.ts';
import { cleaningDefinition, waitingDefinition } from '../../interpreter/properties/random-definitions.ts';
import { Life, Lives, type Moment, MOMENTS } from './lives.ts';
import { differenceOf, runLife, runUndisturbed, simulateClock, type Lived } from './run-life.ts';

export interface Finding {
  what: 'lost' | 'twice' | 'other';
  seed: number;
  deaths: readonly number[];
  finding: string;
  definition: Definition;
}

export interface InterpreterReport {
  cases: number;
  deaths: number;
  definitions: number;
  moments: { [moment in Moment]: number };
  kinds: { [kind: string]: number };
  findings: Finding[];
}

interface Case {
  definition: Definition;
  seed: number;
  /** At which moment each of its hosts dies; the last one lives on. */
  deaths: readonly number[];
}

const livesMax = 12;
const findingsMax = 20;

/** Which of many equal events a run gets is the business of other tests. */
const isWaiting = (definition: Definition): boolean => /"type":"(?:watch|event)"/.test(JSON.stringify(definition));

function definitionsFrom(seed: number, count: number): Definition[] {
  const any = fc.oneof(
    cleaningDefinition,
    waitingDefinition.filter((definition) => !isWaiting(definition)),
  );
  return fc.sample(any, { seed, numRuns: count });
}

const modesOf = (seed: number): Mode => ({ ...chaosMode(seed), segments: seed % 3 !== 0 });

async function live({ definition, seed, deaths }: Case): Promise<{ lives: Lives; life: Life; lived: Lived }> {
  const lives = new Lives(seed, deaths.length > 0 && seed % 2 === 0);
  for (let nth = 0; nth < livesMax; nth += 1) {
    const life = new Life(lives, deaths[nth] ?? 0);
    const lived = await runLife(life, definition, modesOf(seed));
    if (lived !== null) return { lives, life, lived };
  }
  throw new Error(`it did not end in ${livesMax} lives`);
}

type Found = (what: Finding['what'], finding: string) => void;

const foundOf =
  (one: Case, { findings }: InterpreterReport): Found =>
  (what, finding) => {
    if (findings.length < findingsMax) findings.push({ what, ...one, finding });
  };

const wordsOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

/** What its run comes to where no host dies. */
async function momentsOf(one: Case, report: InterpreterReport): Promise<readonly Moment[]> {
  try {
    return (await live(one)).life.passed;
  } catch (error) {
    foundOf(one, report)('other', wordsOf(error));
    return [];
  }
}

async function judge(one: Case, report: InterpreterReport): Promise<void> {
  const found = foundOf(one, report);
  try {
    const { lives, life, lived } = await live(one);
    const difference = differenceOf(lived, await runUndisturbed(life, one.definition));
    if (difference !== null) found('other', difference);
    for (const fault of lives.faults) found(fault.endsWith('is lost') ? 'lost' : 'other', fault);
    for (const key of Object.keys(lived.effects)) {
      const kind = lives.kinds.get(key);
      const done = lives.done.get(key) ?? 0;
      if (kind === undefined) continue;
      report.kinds[kind] = (report.kinds[kind] ?? 0) + 1;
      if (done === 0) found('lost', `${key} (${kind}) was never done`);
      const mayBe = isOnceKind(kind) ? 1 : 1 + (lives.unrecorded.get(key) ?? 0);
      if (done > mayBe) found('twice', `${key} (${kind}) was done ${done} times, and ${mayBe} may be`);
    }
  } catch (error) {
    found('other', wordsOf(error));
  }
}

const isOnceKind = (kind: string): boolean => kind === 'emit' || kind === 'turn' || kind.startsWith('data/');

/** Deaths of a run that comes to so many moments: each alone, and pairs, until there are enough. */
function* deathsOf(moments: number, chance: () => number): Generator<number[]> {
  for (let at = 1; at <= moments; at += 1) yield [at];
  for (let pairs = 0; pairs < moments; pairs += 1) {
    const first = 1 + Math.floor(chance() * moments);
    yield [first, 1 + Math.floor(chance() * moments)];
  }
}

export interface InterpreterAsked {
  seed: number;
  points: number;
  /** No host dies any more after so long. */
  minutes: number;
}

export async function livedCases({ seed, points, minutes }: InterpreterAsked): Promise<InterpreterReport> {
  simulateClock();
  // The branches of a run whose host is dead find it dead, too.
  process.on('unhandledRejection', () => undefined);
  const moments = Object.fromEntries(MOMENTS.map((moment) => [moment, 0])) as InterpreterReport['moments'];
  const report: InterpreterReport = { cases: 0, deaths: 0, definitions: 0, moments, kinds: {}, findings: [] };
  const chance = chanceFrom(seed);
  // The clock is the simulation's.
  const until = performance.now() + minutes * 60_000;
  const isOver = (): boolean => report.cases >= points || performance.now() > until;
  for (let batch = 0; !isOver(); batch += 1) {
    for (const [index, definition] of definitionsFrom(seed + batch, 20).entries()) {
      const own = seed + batch * 20 + index;
      report.definitions += 1;
      const passed = await momentsOf({ definition, seed: own, deaths: [] }, report);
      for (const deaths of deathsOf(passed.length, chance)) {
        if (isOver()) break;
        report.cases += 1;
        report.deaths += deaths.length;
        const moment = passed[(deaths[0] ?? 1) - 1];
        if (moment !== undefined) moments[moment] += 1;
        await judge({ definition, seed: own, deaths }, report);
      }
      if (isOver()) break;
    }
  }
  return report;
}

function chanceFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state >>> 8) / 2 ** 24;
  };
}
