/** Places of the persona, which other runs have for so long each time that the run asks; and days whose budget is spent. */
import type { Host } from '../host.ts';
import type { Simulation } from './simulation.ts';

/** What the wait for a place is called where steps have their key. */
export const PLACE_KEY = 'persona.place';

export class ScriptedPlaces {
  /** Of the times that it asks, in order: how long, in milliseconds, until one is free. */
  private readonly waits: number[];
  private until: number | null = null;
  /** Whether it has one; how often it was taken. */
  private isTaken = false;

  constructor(waits: readonly number[]) {
    this.waits = [...waits];
  }

  /** When it is the run's turn; the same for all of its lines, and where it asks again. */
  ask(now: number): number {
    if (this.isTaken) return now;
    this.until ??= now + (this.waits.shift() ?? 0);
    return this.until;
  }

  take(): void {
    this.isTaken = true;
    this.until = null;
  }

  leave(): void {
    if (!this.isTaken && this.until === null) throw new Error('bug: a place is left that nobody has');
    this.isTaken = false;
    this.until = null;
  }
}

type DayEnd = Awaited<ReturnType<Host['awaitDay']>>;

/** Null once it is so late. */
export type TimeEnd = Exclude<DayEnd, 'go'> | null;

/** Waits until the persona has budget again. `untilTime`: null once it is so late. */
export async function untilDay(
  { days, simulation }: { days: number[]; simulation: Pick<Simulation, 'now'> },
  tell: Parameters<Host['awaitDay']>[2],
  untilTime: (until: number) => Promise<TimeEnd>,
): Promise<DayEnd> {
  const until = simulation.now + (days.shift() ?? 0);
  if (simulation.now < until) tell(until, 'its day is used up');
  const end = await untilTime(until);
  if (end === 'yield') days.unshift(Math.max(0, until - simulation.now));
  return end ?? 'go';
}
