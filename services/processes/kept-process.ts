/**
 * One process that is kept running: started or adopted, watched, and started again when it dies.
 *
 * Invariants: the process leads a group of its own and writes to a file, so it outlives whoever
 * started it; it is adopted only when it is the very process that was recorded, was started with
 * the same command line, and answers.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { openLog, quoteLog, sizeOf } from '../home/home-files.ts';
import { identifyProcess, isAlive, seemsAlive, stopProcess } from './process-identity.ts';
import type { ProcessIdentity, ProcessRecord } from '../config/services-state.ts';

const POLL_MS = 100;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 5000;
/** A process that ran this long was fine: its next death is answered without the earlier delay. */
const STABLE_AFTER_MS = 5000;
const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP']);
/** A first start of a server may meet the remains of a process killed a moment ago. */
const FIRST_ATTEMPTS = 4;

export interface Command {
  command: string;
  args: string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  uid?: number;
  gid?: number;
}

export interface ProcessPlan {
  name: string;
  log: string;
  stopSignal: NodeJS.Signals | (() => NodeJS.Signals);
  stopGraceMs: number;
  readyWithinMs: number;
  /** How often the first start is tried; 4 unless told otherwise. */
  attempts?: number;
  /** Before each start, while none runs: makes what has to be there, clears what a dead one left. */
  prepare(signal: AbortSignal): Promise<void>;
  command(): Command;
  /** True once the process does its work; `logFrom` is where its part of the log begins. */
  answers(process: ProcessIdentity, logFrom: number): Promise<boolean>;
  /** It ended by a fault of its own, and not because somebody killed it. Not told of one that was adopted. */
  onCrash?(identity: ProcessIdentity): void;
  /** It ended, however that was, and nobody had asked it to. */
  onDeath?(): void;
  /** Before one that was fine is started again: 200 ms unless told otherwise, for what a dead one may leave behind. */
  restMs?: number;
  /** Called whenever the record has changed. */
  onChange(record: ProcessRecord | null): void;
  onLog(text: string): void;
  /** Aborts where it is not to be given the time to end by itself. */
  hurry?: AbortSignal;
}

export class KeptProcess {
  private record: ProcessRecord | null = null;
  private readonly stopping = new AbortController();
  private stopped: Promise<void> | undefined;
  private ending: { startTime: string; done: Promise<void> } | null = null;
  private isAdopted = false;
  private starting: Promise<void> = Promise.resolve();
  private watching: Promise<void> = Promise.resolve();
  private resting: AbortController | null = null;
  private readonly plan: ProcessPlan;

  constructor(plan: ProcessPlan) {
    this.plan = plan;
  }

  /** Resolves once it answers; rejects with the end of its log when it does not come up. */
  async start(recorded: ProcessRecord | null): Promise<void> {
    this.starting = this.adoptOrLaunch(recorded);
    await this.starting;
    this.watching = this.watch();
  }

  private async adoptOrLaunch(recorded: ProcessRecord | null): Promise<void> {
    if (recorded !== null && (await this.adopt(recorded))) {
      this.plan.onLog(`${this.plan.name} runs already (pid ${recorded.pid}), adopted`);
    } else {
      await this.launchPatiently();
    }
  }

  /** Ends it for good. */
  stop(): Promise<void> {
    this.stopped ??= this.stopForGood();
    return this.stopped;
  }

  /** Ends it where it was started here; one that was adopted goes on, unwatched. */
  async leave(): Promise<void> {
    this.rouse();
    await this.starting.catch(() => undefined);
    if (!this.isAdopted) return await this.stop();
    await this.watching;
  }

  /** Ends it; the watch starts it again, with whatever `prepare` says then. */
  async restart(): Promise<void> {
    await this.end();
  }

  private async stopForGood(): Promise<void> {
    this.rouse();
    await this.end();
    await this.starting.catch(() => undefined);
    await this.watching;
    await this.end();
    this.record = null;
    this.plan.onChange(null);
  }

  /** Asks each process once, however many want it to end: whoever is asked twice ends at once. */
  private end(): Promise<void> {
    const { record, plan } = this;
    if (record === null) return Promise.resolve();
    if (this.ending?.startTime !== record.startTime)
      this.ending = {
        startTime: record.startTime,
        done: stopProcess(record, stopSignalOf(plan), plan.stopGraceMs, plan.hurry),
      };
    return this.ending.done;
  }

  /** Returns early when it is to stop, or when the process has ended; there is no other way for the sleep to fail. */
  private async rest(ms: number): Promise<void> {
    if (this.isStopping) return;
    this.resting = new AbortController();
    await sleep(ms, undefined, { signal: this.resting.signal }).catch(() => undefined);
    this.resting = null;
  }

  private rouse(): void {
    this.stopping.abort();
    this.resting?.abort();
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private async adopt(recorded: ProcessRecord): Promise<boolean> {
    if (!isAlive(recorded)) return false;
    const isSame = recorded.launch === launchDigest(this.plan.command());
    if (isSame && (await this.plan.answers(recorded, 0))) {
      this.update({ ...recorded, status: 'up' });
      this.isAdopted = true;
      return true;
    }
    this.plan.onLog(
      `${this.plan.name} (pid ${recorded.pid}) ${isSame ? 'does not answer' : 'was started differently'}, replaced`,
    );
    await stopProcess(recorded, stopSignalOf(this.plan), this.plan.stopGraceMs, this.plan.hurry);
    return false;
  }

  private async launchPatiently(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.launch(0);
      } catch (error) {
        await this.end();
        if (attempt === (this.plan.attempts ?? FIRST_ATTEMPTS) || this.isStopping) throw error;
        this.plan.onLog(`${this.plan.name} did not start, trying again: ${String(error)}`);
        await this.rest(BACKOFF_MIN_MS * 2 ** attempt);
      }
    }
  }

  /** Spawns and waits until it answers. */
  private async launch(restarts: number): Promise<void> {
    await this.plan.prepare(this.stopping.signal);
    if (this.isStopping) throw new Error(`${this.plan.name} was stopped before it had started`);
    const command = this.plan.command();
    const { identity, logFrom } = await this.spawn(command);
    this.isAdopted = false;
    this.update({ ...identity, startedAt: Date.now(), restarts, status: 'starting', launch: launchDigest(command) });
    const deadline = Date.now() + this.plan.readyWithinMs;
    while (!(await this.plan.answers(identity, logFrom))) {
      if (this.isStopping) throw new Error(`${this.plan.name} was stopped before it had started`);
      if (!seemsAlive(identity)) throw this.endedWhileStarting(logFrom);
      if (Date.now() > deadline) {
        throw new Error(
          `${this.plan.name} did not answer within ${this.plan.readyWithinMs / 1000} s; ${quoteLog(this.plan.log, logFrom)}`,
        );
      }
      await sleep(POLL_MS / 2);
    }
    if (this.record !== null) this.update({ ...this.record, status: 'up' });
    this.plan.onLog(`${this.plan.name} is up (pid ${identity.pid})`);
  }

  private async spawn({ command, args, ...rest }: Command): Promise<{ identity: ProcessIdentity; logFrom: number }> {
    const output = openLog(this.plan.log);
    const logFrom = sizeOf(this.plan.log);
    try {
      const child = spawn(command, args, { ...rest, detached: true, stdio: ['ignore', output, output] });
      await new Promise((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      child.unref();
      const identity = child.pid === undefined ? null : identifyProcess(child.pid);
      // It may end before we can look at it.
      if (identity === null) throw this.endedWhileStarting(logFrom);
      child.once('exit', (_code, signal) => {
        if (signal !== null && CRASHES.has(signal)) this.plan.onCrash?.(identity);
        if (this.record?.startTime === identity.startTime && this.record.status === 'up') this.resting?.abort();
      });
      return { identity, logFrom };
    } finally {
      closeSync(output);
    }
  }

  private endedWhileStarting(logFrom: number): Error {
    return new Error(`${this.plan.name} ended while starting; ${quoteLog(this.plan.log, logFrom)}`);
  }

  private async watch(): Promise<void> {
    const { restMs = BACKOFF_MIN_MS } = this.plan;
    let backoff = restMs;
    while (!this.isStopping) {
      if (this.record !== null && seemsAlive(this.record)) {
        await this.rest(POLL_MS);
        continue;
      }
      const { restarts, startedAt } = this.record ?? { restarts: 0, startedAt: 0 };
      if (this.record !== null) this.update({ ...this.record, status: 'down' });
      if (Date.now() - startedAt > STABLE_AFTER_MS) backoff = restMs;
      this.plan.onDeath?.();
      this.plan.onLog(`${this.plan.name} died, starting it again in ${backoff} ms`);
      await this.rest(backoff);
      backoff = Math.min(Math.max(backoff * 2, BACKOFF_MIN_MS), BACKOFF_MAX_MS);
      if (this.isStopping) return;
      try {
        await this.launch(restarts + 1);
      } catch (error) {
        this.plan.onLog(`${this.plan.name} did not start: ${error instanceof Error ? error.message : String(error)}`);
        await this.end();
      }
    }
  }

  private update(record: ProcessRecord): void {
    this.record = record;
    this.plan.onChange(record);
  }
}

const stopSignalOf = ({ stopSignal }: ProcessPlan): NodeJS.Signals =>
  typeof stopSignal === 'function' ? stopSignal() : stopSignal;

export function launchDigest({ command, args, cwd, uid }: Command): string {
  return createHash('sha256')
    .update(JSON.stringify([command, args, cwd, uid ?? null]))
    .digest('hex')
    .slice(0, 16);
}
