/**
 * Performs what systems do again and again. Each task has one row, whichever worker is at it:
 *
 * - B1 A quick command is performed within the transaction that holds the row, and what it writes is committed with the
 *      time at which the task is due again: a worker that dies leaves nothing, and the next one performs it.
 * - B2 A long command is a run of one step, whose handle stands in the row before it starts. It goes on where its worker
 *      dies, and the task is due again once it has ended.
 * - B3 What was missed, because no worker was there, is performed once. What fails rests, as a follower does.
 */
import { BACKGROUND_HANDLE, backgroundRun } from '../../operations/caller.ts';
import type { RunPort } from '../../operations/command.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { Registry } from '../../operations/registry.ts';
import { isAway } from '../../prisma/store/connection/unavailable.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { BackgroundTask } from '../../prisma/store/contract/system-contract.ts';
import { startRun, type RunServices } from '../../runs/start-run.ts';
import { BackgroundLoop, rest } from './background-loop.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

const outageMs = 1_000;
const lookMs = 1_000;
/** A timer may end so much before its time. */
const earlyMs = 5;
/** Another worker may have asked for it sooner. */
const restMax = 60_000;
const callMs = 5_000;

export interface PerformedTask extends BackgroundTask {
  /** What is performed. */
  command: string;
}

export interface TasksParts {
  store: Store;
  registry: Registry;
  starting: RunServices;
  runs: RunPort;
  /** Of the worker. */
  project: string;
  tasks: readonly PerformedTask[];
  say: (text: string) => void;
}

export class BackgroundTasks {
  readonly #parts: TasksParts;
  readonly #loop: BackgroundLoop;
  /** Runs that are known to have started. */
  readonly #started = new Set<string>();

  private constructor(parts: TasksParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: outageMs });
  }

  /** Null where there are none. */
  static async open(parts: TasksParts): Promise<BackgroundTasks | null> {
    if (parts.tasks.length === 0) return null;
    for (const task of parts.tasks) await parts.store.systems.openTask(task);
    return new BackgroundTasks(parts);
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    for (const task of this.#parts.tasks) {
      if (signal.aborted) return;
      const isQuick = this.#parts.registry.find(task.command)?.speed === 'quick';
      await (isQuick ? this.#atOnce(task) : this.#asRun(task));
    }
    const untilDue = await this.#parts.store.systems.untilDue(this.#parts.tasks);
    await rest(Math.min(Math.max(untilDue + earlyMs, lookMs), restMax), signal);
  }

  async #atOnce(task: PerformedTask): Promise<void> {
    const { store, registry, runs, project } = this.#parts;
    const name = nameOf(task);
    const session = store.session();
    try {
      const due = await store.systems.dueTask(session, task);
      if (due === null) return;
      crashPoint('task.held', { key: name });
      const context = quickContext({
        run: { handle: BACKGROUND_HANDLE, project, persona: name, definitionHash: '' },
        caller: { kind: 'background', name },
        key: `${name}/${due.number}`,
        attempt: due.failures + 1,
        store,
        session,
        runPort: runs,
        signal: AbortSignal.timeout(callMs),
        timeoutMs: callMs,
      });
      await registry.run(task.command, {}, context);
      crashPoint('task.performed', { key: name });
      await session.end();
      crashPoint('task.committed', { key: name });
      store.signals.announce();
    } catch (error) {
      await session.close();
      await this.#hold(task, error);
    } finally {
      await session.close();
    }
  }

  async #asRun(task: PerformedTask): Promise<void> {
    const { store } = this.#parts;
    const handle = await store.systems.dueRun(task, ({ number }) => backgroundRun(task.system, task.task, number));
    if (handle === null) return;
    try {
      if (!this.#started.has(handle)) await this.#start(task, handle);
    } catch (error) {
      await this.#hold(task, error, handle);
      return;
    }
    const run = await store.runs.find(handle);
    if (run === null || run.status === 'running' || run.status === 'paused') return;
    crashPoint('task.ended', { handle });
    this.#started.delete(handle);
    if (run.status === 'failed')
      await this.#hold(
        task,
        new Error(`its run ${handle} failed: ${run.failure?.message ?? 'without a word'}`),
        handle,
      );
    else await store.systems.settleRun(task, handle);
  }

  /** Once, however often it is asked for, and by whichever worker. */
  async #start({ system, task, command }: PerformedTask, handle: string): Promise<void> {
    const { starting, project } = this.#parts;
    crashPoint('task.named', { handle });
    await startRun(starting, {
      definition: {
        name: `${system}-${task}`,
        description: `${command}, in the background of ${system}`,
        steps: [{ type: 'command', command }],
        loop: { type: 'once' },
      },
      inputs: {},
      project,
      persona: `${system}/${task}`,
      handle,
      startedBy: 'background',
      saves: false,
    });
    crashPoint('task.started', { handle });
    this.#started.add(handle);
  }

  async #hold(task: PerformedTask, error: unknown, run?: string): Promise<void> {
    if (isAway(error)) throw error;
    const finding = error instanceof Error ? error.message : String(error);
    const failures = await this.#parts.store.systems.holdTask(task, finding, run);
    if (failures === 1) this.#parts.say(`the background ${nameOf(task)} failed, and is tried again: ${finding}`);
  }
}

const nameOf = ({ system, task }: BackgroundTask): string => `${system}/${task}`;
