/** The workers of a campaign: one or two at a time, each told where it dies; and what comes with each of their deaths. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { PassedPoint, PlannedDeath } from '../../../world/crash-points/armed-deaths.ts';
import type { Chance } from '../../server/chaos/chaos-definitions.ts';
import type { Harness } from '../../server/harness/harness.ts';
import type { Services } from '../../server/harness/services.ts';
import type { WorkerProcess } from '../../server/harness/worker-process.ts';
import type { Aim, DeathPoint } from './aim.ts';
import { type PassedPoints, startArmed } from './armed-worker.ts';
import { rootOf } from './oracle.ts';

/** What becomes of a worker, or of what it works with, at a point. */
export const DEEDS = ['killed', 'stopped', 'replaced', 'Postgres killed', 'Temporal killed'] as const;
export type Deed = (typeof DEEDS)[number];

const ACTS: { readonly [deed in Deed]: PlannedDeath['do'] } = {
  killed: 'kill',
  stopped: 'stop',
  replaced: 'leave',
  'Postgres killed': 'stop',
  'Temporal killed': 'stop',
};

/** So many of a hundred deaths. */
const SHARES: readonly (readonly [Deed, number])[] = [
  ['stopped', 14],
  ['replaced', 7],
  ['Postgres killed', 3],
  ['Temporal killed', 3],
];
const twoShare = 0.6;
const lookMs = 40;
const startStillMs = 1_500;
/** A worker that has not come to any of its points by then is killed where it is. */
const killedAfterMs = 20_000;

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}

interface Armed {
  worker: WorkerProcess;
  deed: Deed;
  startedAt: number;
  /** It was told to, and ends by itself. */
  isLeaving: boolean;
}

export interface Death {
  deed: Deed;
  /** Null where it had not said yet that it is ready. */
  worker: WorkerProcess | null;
  point: DeathPoint;
  handle: string | undefined;
  /** Runs that the worker had been at. */
  at: ReadonlySet<string>;
  /** Workers that were there besides. */
  others: number;
}

export interface FleetParts {
  harness: Harness;
  services: Services;
  passed: PassedPoints;
  aim: Aim;
  chance: Chance;
  env: Record<string, string>;
}

export class Fleet {
  readonly #parts: FleetParts;
  readonly #armed = new Map<number, Armed>();
  /** Runs that each has been at, by its process id. */
  readonly #at = new Map<number, Set<string>>();
  readonly #ready = new Set<number>();
  /** Those that died, or were told to leave, while they started. */
  readonly #goneEarly = new Set<number>();
  readonly #died: PassedPoint[] = [];
  #wanted = 1;
  #isArming = false;
  #isClosed = false;
  /** What was still starting when all were killed is of a round that is over. */
  #round = 0;
  /** A worker that stands still, and goes on later. */
  #still: WorkerProcess | null = null;

  constructor(parts: FleetParts) {
    this.#parts = parts;
  }

  /** One that dies nowhere; another one where it has ended by itself. */
  async unharmed(): Promise<void> {
    this.#endStill();
    for (const { worker } of this.#armed.values()) if (!worker.isAlive) this.#tellEnded(worker);
    while (!this.#isClosed && this.#armed.size === 0) await this.#arm([], 'killed');
  }

  async killAll(): Promise<void> {
    const workers = [...this.#armed.values()].map(({ worker }) => worker);
    if (this.#still !== null) workers.push(this.#still);
    this.#still = null;
    this.#armed.clear();
    this.#round += 1;
    await Promise.all(workers.map((worker) => worker.kill9()));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.killAll();
  }

  /** Whoever stands still while it starts, and of whom nobody asks any more. */
  #endStill(): void {
    this.watch();
    for (const { pid, dies } of this.#died.splice(0))
      if (dies === 'stop' && !this.#ready.has(pid)) signal(pid, 'SIGKILL');
  }

  /** Notes what was passed. */
  watch(): void {
    for (const passed of this.#parts.passed.next()) {
      this.#parts.aim.saw(passed);
      if (passed.handle !== undefined) this.#atOf(passed.pid).add(rootOf(passed.handle));
      if (passed.dies !== undefined) this.#died.push(passed);
    }
  }

  /** Null where none died until then. */
  async nextDeath(until: number): Promise<Death | null> {
    while (Date.now() < until) {
      this.#keepUp();
      this.watch();
      for (let died = this.#died.shift(); died !== undefined; died = this.#died.shift()) {
        const armed = this.#armed.get(died.pid);
        if (armed !== undefined) return this.#deathOf(armed, died);
        if (!this.#ready.has(died.pid)) return this.#early(died);
      }
      const late = await this.#late();
      if (late !== null) return late;
      await sleep(lookMs);
    }
    return null;
  }

  /** What comes with it. */
  async follow({ deed, worker }: Death): Promise<void> {
    this.#wanted = this.#parts.chance.isLess(twoShare) ? 2 : 1;
    if (worker === null) return;
    const { postgres, temporal } = this.#parts.services;
    switch (deed) {
      case 'killed':
        return worker.kill9();
      case 'stopped':
        return this.#standStill(worker);
      case 'replaced':
        return this.#keep(worker, true);
      case 'Postgres killed':
      case 'Temporal killed':
        return this.#outage(worker, deed === 'Postgres killed' ? postgres : temporal);
      default:
        deed satisfies never;
    }
  }

  #deathOf(armed: Armed, { point, handle, dies }: Pick<PassedPoint, 'handle' | 'dies'> & { point: DeathPoint }): Death {
    const { worker } = armed;
    const deed = dies === 'kill' ? 'killed' : armed.deed;
    this.#armed.delete(worker.pid);
    return { deed, worker, point, handle, at: this.#atOf(worker.pid), others: this.#others };
  }

  /** While it started: what it stands still in, it goes on with a moment later. */
  #early({ pid, point, handle, dies }: PassedPoint): Death {
    if (dies !== 'stop') this.#goneEarly.add(pid);
    else void sleep(startStillMs).then(() => signal(pid, 'SIGCONT'));
    const deed = DEEDS.find((one) => ACTS[one] === dies) ?? 'killed';
    return { deed, worker: null, point, handle, at: this.#atOf(pid), others: this.#others };
  }

  get #others(): number {
    return this.#armed.size + (this.#still === null ? 0 : 1);
  }

  #atOf(pid: number): Set<string> {
    const at = this.#at.get(pid) ?? new Set();
    this.#at.set(pid, at);
    return at;
  }

  async #late(): Promise<Death | null> {
    for (const armed of this.#armed.values()) {
      const { worker, startedAt, isLeaving } = armed;
      if (isLeaving && !worker.isAlive) this.#armed.delete(worker.pid);
      else if (!worker.isAlive) {
        this.watch();
        if (this.#died.some(({ pid }) => pid === worker.pid)) continue;
        this.#tellEnded(worker);
        return this.#deathOf({ ...armed, deed: 'killed' }, { point: 'anywhere' });
      } else if (Date.now() - startedAt > killedAfterMs) {
        await worker.kill9();
        return this.#deathOf({ ...armed, deed: 'killed' }, { point: 'anywhere' });
      }
    }
    return null;
  }

  #tellEnded(worker: WorkerProcess): void {
    this.#armed.delete(worker.pid);
    process.stderr.write(`\na worker ended by itself: ${worker.output.slice(-1000)}\n`);
  }

  #keepUp(): void {
    const there = [...this.#armed.values()].filter(({ isLeaving }) => !isLeaving);
    if (this.#isArming || there.length >= this.#wanted) return;
    this.#isArming = true;
    const deed = this.#nextDeed();
    void this.#arm(this.#parts.aim.plan(ACTS[deed]), deed).finally(() => (this.#isArming = false));
  }

  #nextDeed(): Deed {
    let left = this.#parts.chance.upTo(100);
    for (const [deed, share] of SHARES) {
      left -= share;
      if (left < 0) return deed;
    }
    return 'killed';
  }

  async #arm(deaths: PlannedDeath[], deed: Deed): Promise<boolean> {
    const { harness, passed, env } = this.#parts;
    const round = this.#round;
    try {
      const worker = await startArmed(harness, passed.path, deaths, env);
      this.#ready.add(worker.pid);
      if (this.#isClosed || this.#round !== round || this.#goneEarly.has(worker.pid)) await worker.kill9();
      else this.#armed.set(worker.pid, { worker, deed, startedAt: Date.now(), isLeaving: false });
      return true;
    } catch (error) {
      // It died, or could not reach a server that is away, before it was ready.
      if (deaths.length === 0 && error instanceof Error) process.stderr.write(`\n${error.message.slice(-1000)}\n`);
      await sleep(300);
      return false;
    }
  }

  /** One that has died, and goes on: its next death is another one. */
  #keep(worker: WorkerProcess, isLeaving = false): void {
    this.#at.set(worker.pid, new Set());
    this.#armed.set(worker.pid, { worker, deed: 'killed', startedAt: Date.now(), isLeaving });
  }

  /** Another worker takes over what it can; then both are there. */
  async #standStill(worker: WorkerProcess): Promise<void> {
    this.#goOn();
    this.#still = worker;
    const stillMs = this.#parts.chance.pick([1000, 4000, 4000, 18_000]);
    void sleep(stillMs).then(() => (this.#still === worker ? this.#goOn() : undefined));
    this.#wanted = 1;
  }

  /** One that stood still goes on, and is killed when it comes to its next point. */
  #goOn(): void {
    const worker = this.#still;
    this.#still = null;
    if (worker === null) return;
    worker.signal('SIGCONT');
    this.#keep(worker);
  }

  async #outage(worker: WorkerProcess, server: Services['postgres']): Promise<void> {
    await server.kill();
    worker.signal('SIGCONT');
    await sleep(500 + this.#parts.chance.upTo(2500));
    await server.start();
    this.#keep(worker);
  }
}
