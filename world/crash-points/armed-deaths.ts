/** What a campaign told this process: where it notes the points that are passed, and at which it dies. */
import { appendFileSync } from 'node:fs';
import type { CrashPoint } from './catalogue.ts';

export const ARMED = 'SENTINEL_CRASH_POINTS';

export interface CrashPlace {
  handle?: string | undefined;
  key?: string | undefined;
}

export interface PlannedDeath {
  point: CrashPoint;
  /** At the so manieth time, from 1. */
  nth: number;
  /** Only where the handle of the run begins like this. */
  of?: string;
  /** Not before the process has been at so many runs, and not so soon after the first; without so many, so long after it. */
  fromRuns?: number;
  soonestMs?: number;
  latestMs?: number;
  /** One that is stopped goes on when somebody says so; one that is told to leave ends what it is at, or lets go of it. */
  do: 'kill' | 'stop' | 'leave';
  /** So long after the point. */
  afterMs?: number;
}

export interface CrashPlan {
  /** A line of JSON each: a `PassedPoint`. */
  record: string;
  deaths: PlannedDeath[];
}

export interface PassedPoint extends CrashPlace {
  pid: number;
  point: CrashPoint;
  /** What the process does to itself at it. */
  dies?: PlannedDeath['do'];
}

const WORKS_ON_MS = 2_500;
const SIGNALS = { kill: 'SIGKILL', stop: 'SIGSTOP', leave: 'SIGUSR2' } as const;

export class ArmedDeaths {
  readonly #plan: CrashPlan;
  readonly #passed = new Map<PlannedDeath, number>();
  readonly #runs = new Set<string>();
  /** When it came to its first run. */
  #firstAt: number | null = null;
  /** One that stood still is at work for a while before it dies again. */
  #notBefore = 0;

  constructor(plan: CrashPlan) {
    this.#plan = plan;
  }

  pass(point: CrashPoint, { handle, key }: CrashPlace): void {
    // Of a run nested in another one, that one.
    if (handle !== undefined) this.#firstAt ??= performance.now();
    if (handle !== undefined) this.#runs.add(handle.split('/')[0] ?? handle);
    const death = this.#plan.deaths.find((planned) => this.#isDue(planned, point, handle));
    this.#note({ pid: process.pid, point, handle, key });
    if (death === undefined) return;
    const { afterMs = 0 } = death;
    const die = (): void => {
      if (death.do === 'stop') this.#goOnLater();
      this.#note({ pid: process.pid, point, handle, key, dies: death.do });
      process.kill(process.pid, SIGNALS[death.do]);
    };
    if (afterMs === 0) die();
    else setTimeout(die, afterMs);
  }

  #goOnLater(): void {
    this.#notBefore = Number.POSITIVE_INFINITY;
    process.once('SIGCONT', () => (this.#notBefore = performance.now() + WORKS_ON_MS));
  }

  #isDue(planned: PlannedDeath, point: CrashPoint, handle: string | undefined): boolean {
    if (planned.point !== point || handle?.startsWith(planned.of ?? '') === false) return false;
    if (planned.of !== undefined && handle === undefined) return false;
    if (performance.now() < this.#notBefore) return false;
    const { fromRuns = 0, soonestMs = 0, latestMs = Number.POSITIVE_INFINITY } = planned;
    const ageMs = this.#firstAt === null ? 0 : performance.now() - this.#firstAt;
    if (ageMs < soonestMs || (this.#runs.size < fromRuns && ageMs < latestMs)) return false;
    const passed = (this.#passed.get(planned) ?? 0) + 1;
    this.#passed.set(planned, passed);
    return passed === planned.nth;
  }

  #note(passed: PassedPoint): void {
    appendFileSync(this.#plan.record, `${JSON.stringify(passed)}\n`);
  }
}

/** Null: nobody armed it. What this process starts is not armed. */
export function armedDeaths(env: NodeJS.ProcessEnv): ArmedDeaths | null {
  const plan = env[ARMED];
  if (plan === undefined || plan === '') return null;
  delete env[ARMED];
  return new ArmedDeaths(JSON.parse(plan) as CrashPlan);
}
