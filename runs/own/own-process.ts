/** One process for commands of a project, as its worker sees it (own-program.ts is what runs in it). */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { StreamName } from '../../operations/shell/output/step-log.ts';
import { withNobodyThere } from '../../world/processes/nobody-there.ts';
import { ownRoot } from '../../services/home/package-root.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Asked, FromProcess, KeptCode, Outcome, OwnCall, ToProcess } from './own-messages.ts';

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

type Hear = (stream: StreamName, chunk: Buffer) => void;

const PROGRAM = join(ownRoot, 'dist', 'runs', 'own', 'own-program.js');
const LOAD_MS = 60_000;
/** From the end of a process until its pipes are let go of: what it started may hold them. */
const DRAIN_MS = 1_000;

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );

export class OwnProcess {
  readonly #child: ChildProcess;
  readonly exit: Promise<Exit>;
  #hear: Hear;
  #told: (what: FromProcess) => void = () => undefined;
  #isGone = false;
  /** Nothing of an earlier call goes on in it. */
  isFree = true;

  private constructor(rest: Hear) {
    this.#hear = rest;
    this.#child = fork(PROGRAM, [], {
      // A group of its own: it is ended with all that it has started, and no Ctrl-C of a terminal reaches it.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--enable-source-maps'],
      env: withNobodyThere(ownEnvironment()),
    });
    for (const stream of ['stdout', 'stderr'] as const)
      this.#child[stream]?.on('data', (chunk: Buffer) => this.#hear(stream, chunk));
    this.#child.on('message', (what: FromProcess | null) => {
      // Code of a project may say things to its parent, too.
      if (typeof what === 'object' && what !== null) this.#told(what);
    });
    // One that nobody can talk to any more is of no use.
    this.#child.on('disconnect', () => this.end());
    this.exit = new Promise((resolve) => {
      this.#child.once('error', () => resolve({ code: null, signal: null }));
      this.#child.once('exit', (code, signal) => {
        this.#isGone = true;
        const closed = new Promise((done) => this.#child.once('close', done));
        void Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]).then(() => resolve({ code, signal }));
      });
    });
  }

  /** Rejects with what the configuration, or the process, says against it. `rest`: hears what no call prints. */
  static async start(code: KeptCode, rest: Hear): Promise<OwnProcess> {
    const started = new OwnProcess(rest);
    const late = sleep(LOAD_MS, 'it was not loaded in time', { ref: false });
    const refused = await Promise.race([started.#load(code), late, started.exit.then(endText)]);
    if (refused === null) return started;
    started.end();
    throw new Error(refused);
  }

  get isUsable(): boolean {
    return this.isFree && !this.#isGone && this.#child.connected;
  }

  /** Until another hears. */
  listen(hear: Hear): void {
    this.#hear = hear;
  }

  /** `answer`: what the command asks meanwhile. */
  call(call: OwnCall, answer: (asked: Asked) => Promise<Json>): Promise<Outcome> {
    this.isFree = false;
    return new Promise((resolve) => {
      this.#told = (what) => {
        if ('asked' in what) void this.#reply(what.id, answer(what.asked));
        if (!('outcome' in what)) return;
        this.isFree = what.isFree;
        resolve(what.outcome);
      };
      this.#tell({ call });
    });
  }

  async #reply(id: number, answered: Promise<Json>): Promise<void> {
    try {
      this.#tell({ reply: { id, ok: true, value: await answered } });
    } catch (error) {
      this.#tell({ reply: { id, ok: false, failure: failureIn(error) } });
    }
  }

  abort(why: string): void {
    this.#tell({ aborted: why });
  }

  /** With all that it has started. */
  end(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended, and all of its group.
    }
  }

  #load(load: KeptCode): Promise<string | null> {
    return new Promise((resolve) => {
      this.#told = (what) => {
        if ('ready' in what) resolve(null);
        if ('refused' in what) resolve(what.refused);
      };
      this.#tell({ load });
    });
  }

  /** One that has gone is seen by its exit. */
  #tell(what: ToProcess): void {
    if (this.#child.connected) this.#child.send(what, () => undefined);
  }
}

/** What is no failure ends the step by itself: the command is told all the same. */
function failureIn(error: unknown): { code: string; message: string; details?: JsonObject } {
  if (!(error instanceof Failure))
    return { code: 'ACTIVITY_FAILED', message: error instanceof Error ? error.message : String(error) };
  const { code, message, details } = error;
  return { code, message, ...defined({ details }) };
}

export const endText = ({ code, signal }: Exit): string =>
  code !== null
    ? `it ended with exit code ${code}`
    : signal === null
      ? 'it could not be started'
      : `${signal} ended it`;
