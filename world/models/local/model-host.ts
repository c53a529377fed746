/**
 * The processes of local models, one for each file: started with the first turn, kept for the next, ended
 * after a rest or with the worker.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { TurnError } from '../port/turn-failure.ts';
import { HostedTurn, type Done, type TurnParts } from './hosted-turn.ts';
import { MODEL_FILE, MODEL_THREADS, type FromModel, type ToModel } from './protocol.ts';

export interface ModelProgram {
  /** The file of `model-process`, as Node can run it. */
  path: string;
  execArgv?: readonly string[];
}

/** As it is built. `packageRoot`: the folder of Sentinel's package. */
export const builtProgram = (packageRoot: string): ModelProgram => ({
  path: join(packageRoot, 'dist', 'world', 'models', 'local', 'model-process.js'),
});

export interface HostSettings {
  program: ModelProgram;
  threads: number;
  /** A process without a turn for so long is ended, and gives its memory back. */
  restMs: number;
}

/** Of a file as it lies there now: another one of the same name has another. */
export function markOf(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

/** Of what a process printed, for whoever wonders why it died. */
const LAST_WORDS_MAX = 2000;
/** From a request to stop to a kill. */
const STOP_MS = 5000;

export class ModelHost {
  readonly #settings: HostSettings;
  readonly #held = new Map<string, HeldModel>();
  /** At their last turns, with a file that was replaced. */
  #leaving: HeldModel[] = [];

  constructor(settings: HostSettings) {
    this.#settings = settings;
  }

  /** By the file as it lies there now. Rejects with a `TurnError`, or with the signal's reason. */
  take(file: string, parts: TurnParts): Promise<Done> {
    const mark = markOf(file);
    const found = this.#held.get(file);
    if (found?.isAlive === true && found.mark === mark) return found.take(parts);
    this.#leaving = [...this.#leaving, ...(found === undefined ? [] : [found])].filter(({ isAlive }) => isAlive);
    found?.leave();
    const started = new HeldModel(file, mark, this.#settings);
    this.#held.set(file, started);
    return started.take(parts);
  }

  /** Process ids, by file. */
  processes(): Map<string, number> {
    return new Map(
      [...this.#held].flatMap(([file, { isAlive, pid }]) => (isAlive && pid !== undefined ? [[file, pid]] : [])),
    );
  }

  close(): void {
    for (const held of [...this.#held.values(), ...this.#leaving]) held.end();
    this.#held.clear();
    this.#leaving = [];
  }
}

class HeldModel {
  /** Of the file when the process was started, before it was loaded. */
  readonly mark: string;
  readonly #child: ChildProcess;
  #restMs: number;
  readonly #turns = new Map<number, HostedTurn>();
  readonly #stops = new Map<number, NodeJS.Timeout>();
  #rest: NodeJS.Timeout | undefined;
  #lastWords = '';
  #count = 0;
  isAlive = true;

  constructor(file: string, mark: string, { program, threads, restMs }: HostSettings) {
    this.mark = mark;
    this.#restMs = restMs;
    this.#child = fork(program.path, [], {
      execArgv: [...(program.execArgv ?? [])],
      env: { ...process.env, [MODEL_FILE]: file, [MODEL_THREADS]: String(threads) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const note = (text: Buffer): void => {
      this.#lastWords = (this.#lastWords + text.toString('utf8')).slice(-LAST_WORDS_MAX);
    };
    this.#child.stdout?.on('data', note);
    this.#child.stderr?.on('data', note);
    this.#child.on('message', (message: FromModel) => this.#hear(message));
    this.#child.on('error', (error) => this.#died(error.message));
    this.#child.on('exit', (code, signal) => this.#died(signal ?? `code ${code ?? 'unknown'}`));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  async take(parts: TurnParts): Promise<Done> {
    clearTimeout(this.#rest);
    this.#count += 1;
    const id = this.#count;
    const hosted = new HostedTurn(parts, () => this.#stop(id));
    this.#turns.set(id, hosted);
    this.#tell({ ...parts.asked, id });
    try {
      return await hosted.ended;
    } finally {
      this.#turns.delete(id);
      if (this.#turns.size === 0) this.#rest = setTimeout(() => this.end(), this.#restMs).unref();
    }
  }

  /** Ends with its last turn. */
  leave(): void {
    this.#restMs = 0;
    if (this.#turns.size === 0) this.end();
  }

  end(): void {
    this.isAlive = false;
    clearTimeout(this.#rest);
    this.#child.kill('SIGKILL');
  }

  #hear(message: FromModel): void {
    if (message.type === 'stopped' || message.type === 'done' || message.type === 'failed') {
      clearTimeout(this.#stops.get(message.id));
      this.#stops.delete(message.id);
    }
    this.#turns.get(message.id)?.hear(message);
  }

  /** Native code may not listen: then the process goes, and the next turn gets another. */
  #stop(id: number): void {
    this.#stops.set(
      id,
      setTimeout(() => this.end(), STOP_MS),
    );
    this.#tell({ type: 'stop', id });
  }

  #tell(message: ToModel): void {
    // Whether it went shows in what comes back, or in the end of the process.
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  #died(how: string): void {
    this.isAlive = false;
    for (const timer of this.#stops.values()) clearTimeout(timer);
    const last = this.#lastWords.trim().split('\n').at(-1) ?? '';
    const message = `the process of the local model died (${how})${last === '' ? '' : `: ${last}`}; the next attempt starts another`;
    for (const turn of this.#turns.values()) turn.fail(new TurnError({ kind: 'process-died' }, message));
  }
}
