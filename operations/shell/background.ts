/**
 * The background processes of this worker (`wait: false`): started here, held until they end or their
 * run does, and taken over from workers that died.
 *
 * Invariants:
 * - B1 A process is held by one worker, and its execution's row names it. Who dies with a process in
 *   its hands leaves it to the next worker, which ends what is left of it and starts it again, as it
 *   would a shell step: whoever watches it sees the new start from its first line.
 * - B2 A process outlives its step, never its run: the end of the run, however it comes about, ends it
 *   with everything that it started.
 */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Json } from '../../language/json.ts';
import type { Confinement } from '../../language/permissions.ts';
import { defined } from '../../language/defined.ts';
import type { RunContext, Store } from '../../prisma/store/contract/contract.ts';
import type { Execution, RunningExecution } from '../../prisma/store/contract/execution-contract.ts';
import { secretsOf } from '../secrets/secrets.ts';
import { BackgroundProcess } from './background-process.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { endStep, groupsOfSteps, isWorkerGone, stepMarker, workerMarker } from '../../world/processes/orphans.ts';
import { endGroups } from '../../world/processes/processes.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { quoteCommand } from './quote-command.ts';
import { endChild, startChild } from './child.ts';
import type { ShellContext, ShellRequest } from './request.ts';
import { breachFailure } from './breach.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export type BackgroundRequest = Pick<ShellRequest, 'command' | 'args' | 'cwd' | 'env' | 'stdin'>;
export type Started = { executionId: string; pid?: number; port?: number };

/** Whether Temporal still knows the run as going on; null when it cannot tell. */
export type AskRun = (handle: string) => Promise<boolean | null>;

/** Told of a process that has ended, when its project is as it left it. */
export type ProcessEnded = (of: { handle: string; key: string; project: string }) => Promise<void>;

export type BackgroundContext = ShellContext & { store: Store };

/** What is kept of a process, so that any worker can start it: secrets stay tokens. */
type Kept = BackgroundRequest & { confinement?: Confinement; secrets?: { readonly [name: string]: string } };

export class BackgroundProcesses {
  readonly #held = new Map<string, BackgroundProcess>();
  /** Markers of the steps that started a process, by run: what such a process left behind carries them too. */
  readonly #steps = new Map<string, Set<string>>();
  readonly #silentSince = new Map<string, number>();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #askedAt = Date.now();
  #store: Store | undefined;
  #askRun: AskRun = () => Promise.resolve(null);
  readonly #ended: ProcessEnded;

  constructor(ended: ProcessEnded = () => Promise.resolve()) {
    this.#ended = ended;
  }

  /** A worker does this once; without it processes are held, and lost ones are not looked for. */
  open(store: Store, askRun: AskRun): void {
    this.#askRun = askRun;
    this.#watchOver(store);
    this.#keep();
  }

  /** Again for the same step: the process that it started. */
  async start(
    request: BackgroundRequest,
    context: BackgroundContext,
  ): Promise<{ started: Started; process: BackgroundProcess | null }> {
    const { store, run, key } = context;
    this.#watchOver(store);
    const id = executionIdOf(run.handle, key);
    const worker = await workerMarker();
    const { confinement, secrets } = context;
    const kept: Kept = {
      ...request,
      ...defined({ confinement }),
      ...(secrets === undefined ? {} : { secrets: secrets.env }),
    };
    const { execution, isNew } = await store.executions.begin({
      id,
      handle: run.handle,
      key,
      request: kept as unknown as Json,
      worker,
    });
    const held = this.#held.get(id);
    if (!isNew || held !== undefined)
      return { started: startedOf(held?.execution ?? execution), process: held ?? null };
    crashPoint('background.begun', { handle: run.handle, key });
    try {
      const process = await this.#launch(execution, context);
      return { started: startedOf({ ...execution, pid: process.pid }), process };
    } catch (error) {
      await store.executions.discard(execution);
      throw error;
    }
  }

  /** Ends what is held and leaves it to other workers; what ended before may have left something behind. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    await this.#keeping;
    const held = [...this.#held.values()];
    const worker = await workerMarker();
    const steps = new Set([...this.#steps.values()].flatMap((markers) => [...markers]));
    await Promise.all([...held.map((process) => this.#leave(process)), endSteps(steps, worker)]);
  }

  async #leave(process: BackgroundProcess): Promise<void> {
    const { execution } = process;
    const wasRunning = !process.hasExited;
    if (wasRunning) process.letGo();
    await this.#end(process);
    if (wasRunning) await this.#store?.executions.release(execution).catch(() => undefined);
  }

  #watchOver(store: Store): void {
    this.#store = store;
    if (this.#closing.signal.aborted) return;
    this.#timer ??= setInterval(() => this.#keep(), SHELL_BOUNDS.keepMs).unref();
  }

  async #launch(execution: Execution, context: BackgroundContext): Promise<BackgroundProcess> {
    const { handle, key } = execution;
    if (execution.attempt > 1) await endStep(handle, key);
    const { confinement, secrets: env, ...request } = execution.request as unknown as Kept;
    const secrets = await secretsOf(context.store, env);
    const held = { ...context, secrets, ...defined({ confinement }) };
    const child = await startChild({ ...secrets.unseal(request), timeoutMs: SHELL_BOUNDS.timeoutMsMax }, held);
    crashPoint('background.launched', { handle, key });
    const process = new BackgroundProcess(context.store, execution, child, secrets);
    void child.breach.then((breach) => {
      process.blame(breachFailure(breach, quoteCommand(request.command), confinement));
      return this.#end(process);
    });
    this.#held.set(execution.id, process);
    const steps = this.#steps.get(handle);
    this.#steps.set(handle, (steps ?? new Set()).add(stepMarker(handle, key)));
    const project = rootOf(held);
    void process.done.then(() => {
      this.#held.delete(execution.id);
      return process.isOurs ? this.#ended({ handle, key, project }) : undefined;
    });
    if (steps === undefined) void this.#followRun(context.store, handle);
    await context.store.executions.started(execution, child.pid).catch(() => undefined);
    return process;
  }

  async #followRun(store: Store, handle: string): Promise<void> {
    const subscription = store.executions.listenToRun(handle);
    const { signal } = this.#closing;
    try {
      while (!signal.aborted && this.#steps.has(handle)) {
        if (await store.executions.hasRunEnded(handle).catch(() => false)) await this.#endRun(handle);
        else await subscription.next(signal);
      }
    } finally {
      subscription.close();
    }
  }

  async #endRun(handle: string): Promise<void> {
    const steps = this.#steps.get(handle);
    if (steps === undefined) return;
    this.#steps.delete(handle);
    const held = [...this.#held.values()].filter(({ execution }) => execution.handle === handle);
    await Promise.all([...held.map((process) => this.#end(process)), endSteps(steps)]);
  }

  async #end(process: BackgroundProcess): Promise<void> {
    const { handle, key } = process.execution;
    if (!process.hasExited) await endChild(process.leader, { run: { handle }, key }, SHELL_BOUNDS.graceMs);
    await process.done;
  }

  /** One round of keeping; never two at once. */
  #keep(): void {
    const store = this.#store;
    if (store === undefined) return;
    this.#keeping = this.#keeping.then(async () => {
      // A store that is away keeps everybody from taking over; the next round says again what we hold.
      await this.#keepOnce(store).catch(() => undefined);
    });
  }

  async #keepOnce(store: Store): Promise<void> {
    if (this.#closing.signal.aborted) return;
    await this.#renew(store);
    await this.#askRuns();
    for (const execution of await store.executions.running()) {
      if (this.#closing.signal.aborted || this.#held.has(execution.id) || !(await this.#isLost(execution))) continue;
      if (execution.hasRunEnded) await this.#bury(store, execution);
      else await this.#adopt(store, execution);
    }
  }

  async #renew(store: Store): Promise<void> {
    const held = [...this.#held.values()].filter((process) => !process.hasExited);
    const ours = new Set((await store.executions.renew(held.map(({ execution }) => execution))).map(({ id }) => id));
    for (const process of held) {
      if (ours.has(process.execution.id)) continue;
      process.letGo();
      await this.#end(process);
    }
  }

  /** A run that was terminated from outside writes no end; only Temporal knows of it. */
  async #askRuns(): Promise<void> {
    if (Date.now() - this.#askedAt < SHELL_BOUNDS.askRunMs) return;
    this.#askedAt = Date.now();
    for (const handle of this.#steps.keys()) {
      if ((await this.#askRun(handle)) === false) await this.#endRun(handle);
    }
  }

  /** A worker of this host is gone when its process is; one of another host when it has long been silent. */
  async #isLost({ id, worker, silentMs }: RunningExecution): Promise<boolean> {
    if (worker === '' || (await isWorkerGone(worker))) return true;
    if (silentMs < SHELL_BOUNDS.silentMsMax) {
      this.#silentSince.delete(id);
      return false;
    }
    // After an outage of the store everybody has been silent: whoever lives speaks up within a round.
    const since = this.#silentSince.get(id) ?? Date.now();
    this.#silentSince.set(id, since);
    return Date.now() - since > 2 * SHELL_BOUNDS.keepMs;
  }

  /** Nobody holds it and nobody will start it again. */
  async #bury(store: Store, execution: RunningExecution): Promise<void> {
    const { handle, key } = execution;
    await endStep(handle, key).catch(() => undefined);
    await store.executions.finish(execution, { exitCode: 137, signal: 'SIGKILL' });
    const run = await store.runs.context(handle);
    if (run !== null) await this.#ended({ handle, key, project: workedIn(run, execution) });
  }

  async #adopt(store: Store, lost: RunningExecution): Promise<void> {
    const run = await store.runs.context(lost.handle);
    if (run === null || !(await isFolder(workedIn(run, lost)))) return;
    const execution = await store.executions.takeOver(lost, await workerMarker());
    if (execution === null) return;
    crashPoint('background.taken-over', { handle: lost.handle });
    const { key, attempt } = execution;
    const context = {
      run,
      key,
      attempt,
      signal: this.#closing.signal,
      store,
      heartbeat: () => undefined,
      now: () => Date.now(),
    };
    try {
      await this.#launch(execution, context);
    } catch (error) {
      const text = `the process could not be started again: ${error instanceof Error ? error.message : String(error)}`;
      await store.executions.append(execution, [{ n: 1, stream: 'stderr', text, at: Date.now() }]);
      await store.executions.finish(execution, { exitCode: 127, signal: null });
    }
  }
}

async function endSteps(markers: ReadonlySet<string>, worker?: string): Promise<void> {
  await endGroups(() => groupsOfSteps([...markers], worker), SHELL_BOUNDS.graceMs);
}

const startedOf = ({ id, pid }: Pick<Execution, 'id' | 'pid'>): Started => ({
  executionId: id,
  ...(pid === null ? {} : { pid }),
});

/** Derived from the step: starting it again finds the same execution. */
export function executionIdOf(handle: string, key: string): string {
  return `exec-${createHash('sha256').update(`${handle}:${key}`).digest('hex').slice(0, 20)}`;
}

/** The folder of the step that began it. */
const workedIn = (run: RunContext, { request }: Pick<Execution, 'request'>): string =>
  rootOf({ run, ...defined({ confinement: (request as unknown as Kept).confinement }) });

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}
