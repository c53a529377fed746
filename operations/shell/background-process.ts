/**
 * One process that a step started and did not wait for: its lines on their way into the store, its
 * output on its way into the run's log, and its end.
 *
 * Invariants: at most one write of lines is in flight, and it is tried again until the store takes it
 * or this worker no longer holds the process; the end is written after the last line; memory is
 * bounded whatever the process prints and the store does.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../../language/defined.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Execution, ExecutionLine } from '../../prisma/store/contract/execution-contract.ts';
import type { Failure } from '../../world/failures/failures.ts';
import type { Secrets } from '../secrets/secrets.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import { classifierOf, emitLines } from './output/classification.ts';
import { LineSplitter } from './output/line-splitter.ts';
import { exitCodeOf, type Child } from './child.ts';
import { listeningPort, portIn } from '../../world/processes/served-port.ts';
import { StepLog, type StreamName } from './output/step-log.ts';
import { StreamMask } from './output/stream-mask.ts';

const STREAMS = ['stdout', 'stderr'] as const;
const portLookMs = 200;

export class BackgroundProcess {
  readonly execution: Execution;
  readonly pid: number;
  readonly leader: number;
  /** Settles when the process has ended and everything of it is written, or another worker holds it. */
  readonly done: Promise<void>;
  hasExited = false;
  readonly #store: Store;
  readonly #child: Child;
  readonly #log: StepLog;
  readonly #masked: Record<StreamName, StreamMask>;
  readonly #shown: Record<StreamName, StreamMask>;
  readonly #splitters: Record<StreamName, LineSplitter> = { stdout: new LineSplitter(), stderr: new LineSplitter() };
  #pending: ExecutionLine[] = [];
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #isOurs = true;
  #port: number | null = null;
  #blamed: Failure | undefined;

  /** Of what no line may show, and no log. */
  constructor(store: Store, execution: Execution, child: Child, { results, logs }: Pick<Secrets, 'results' | 'logs'>) {
    this.#store = store;
    this.execution = execution;
    this.#child = child;
    this.pid = child.pid;
    this.leader = child.leader;
    const { handle, key, attempt } = execution;
    this.#log = new StepLog(store.logs, { handle, key, attempt });
    this.#masked = { stdout: new StreamMask(results), stderr: new StreamMask(results) };
    this.#shown = { stdout: new StreamMask(logs), stderr: new StreamMask(logs) };
    child.listen((stream, chunk) => this.#hear(stream, this.#masked[stream].write(chunk)));
    this.done = this.#follow();
  }

  /** Why it is being ended: its last line, the end of its log, and with its end in the store. */
  blame(failure: Failure): void {
    this.#blamed = failure;
  }

  /** From now on nothing of it is written: somebody else starts it over, or nobody wants it. */
  letGo(): void {
    this.#isOurs = false;
  }

  /** Not once another worker holds it, or nobody wants it. */
  get isOurs(): boolean {
    return this.#isOurs;
  }

  /** The port it serves, once it does; null when it ends before, or in time does not. */
  async servedPort(withinMs: number, signal: AbortSignal): Promise<number | null> {
    const until = Date.now() + withinMs;
    while (!signal.aborted) {
      const port = this.#port ?? (await listeningPort(this.pid));
      if (port !== null || this.hasExited || Date.now() >= until) return port;
      await sleep(portLookMs);
    }
    throw signal.reason;
  }

  #hear(stream: StreamName, chunk: Buffer): void {
    this.#log.write(stream, this.#shown[stream].write(chunk));
    this.#add(stream, this.#splitters[stream].write(chunk));
  }

  #add(stream: StreamName, lines: readonly string[]): void {
    for (const text of lines) {
      this.#count += 1;
      this.#port ??= portIn(text);
      this.#pending.push({ n: this.#count, stream, text, at: Date.now() });
    }
    const excess = this.#pending.length - SHELL_BOUNDS.linesPendingMax;
    if (excess > 0) this.#pending.splice(SHELL_BOUNDS.linesPendingMax / 2, excess);
    if (this.#pending.length === 0 || this.hasExited) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, SHELL_BOUNDS.linesFlushMs);
  }

  #flush(): void {
    this.#writing = this.#writing.then(() => this.#writePending());
  }

  async #writePending(): Promise<void> {
    while (this.#pending.length > 0 && this.#isOurs) {
      const batch = this.#pending.splice(0, SHELL_BOUNDS.linesBatch);
      await this.#persistently(async () => {
        const held = await this.#store.executions.append(this.execution, batch);
        if (held === null) this.letGo();
        else await emitLines(this.#store, this.execution, classifierOf(held.rules), batch);
      });
    }
  }

  /** Tries again while the store is away and the process is ours. */
  async #persistently(write: () => Promise<void>): Promise<void> {
    for (
      let waitMs: number = SHELL_BOUNDS.logRetryMs;
      this.#isOurs;
      waitMs = Math.min(waitMs * 2, SHELL_BOUNDS.logRetryMsMax)
    ) {
      try {
        return await write();
      } catch {
        // Whatever the store said, these lines are all we can offer: wait, and offer them again.
        await sleep(waitMs);
      }
    }
  }

  async #follow(): Promise<void> {
    const exit = await this.#child.exit;
    await Promise.race([this.#child.closed, sleep(SHELL_BOUNDS.drainMs, undefined, { ref: false })]);
    this.#child.release();
    for (const stream of STREAMS) {
      this.#hear(stream, this.#masked[stream].end());
      this.#log.write(stream, this.#shown[stream].end());
      this.#add(stream, this.#splitters[stream].end());
    }
    const failure = this.#blamed?.toInfo();
    if (failure !== undefined) {
      this.#add('stderr', [failure.message]);
      this.#log.write('stderr', Buffer.from(`${failure.message}\n`));
    }
    this.hasExited = true;
    clearTimeout(this.#timer);
    this.#flush();
    await Promise.all([this.#writing, this.#log.finish(SHELL_BOUNDS.logGiveUpMs)]);
    const end = { exitCode: exitCodeOf(exit), signal: exit.signal, ...defined({ failure }) };
    await this.#persistently(() => this.#store.executions.finish(this.execution, end));
  }
}
