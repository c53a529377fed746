/**
 * The processes in which the commands of a project are performed, each of them one command at a time. They run
 * outside the worker because nothing bounds their code from within: a loop, `process.exit`, an error that nobody
 * catches or a full heap would take every other step of the worker with it.
 *
 * A process that is done with a command is used again, because starting one takes a quarter of a second; one in which something
 * of a command may still go on is not.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../../operations/command.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../world/processes/bounds.ts';
import type { Json } from '../../language/json.ts';
import { QUICK_MS_MAX, type OwnCommand } from '../../services/commands/own-commands.ts';
import type { ProjectCode } from '../../services/trust/project-code.ts';
import type { KeptCode, Outcome } from './own-messages.ts';
import { endText, OwnProcess, type Exit } from './own-process.ts';
import { ContextServer } from './serve-context.ts';
import { StepOutput } from './step-output.ts';

/** Between the word that its time is over and the end of its process. */
const endsWithinMs = 2_000;
/** At rest; each takes about 50 MB. */
const IDLE_MAX = 4;
const OUT_OF_MEMORY = /heap out of memory/;

type Named = Pick<OwnCommand, 'name' | 'speed'>;
type Stated = Pick<OwnCommand, 'name' | 'speed' | 'permission' | 'queue'>;
type Ending = { type: 'outcome'; outcome: Outcome } | { type: 'exit'; exit: Exit } | { type: 'left' };

export class OwnProcesses {
  readonly #code: KeptCode;
  readonly #say: (text: string) => void;
  readonly #reserved: readonly string[];
  readonly #all = new Set<OwnProcess>();
  #idle: OwnProcess[] = [];
  #isClosed = false;

  /** `reserved`: codes that commands of ours state. */
  constructor({ path, digest, files }: ProjectCode, say: (text: string) => void, reserved: readonly string[] = []) {
    this.#reserved = reserved;
    this.#code = { path, digest, files: [...files] };
    this.#say = say;
  }

  async perform(own: Stated, params: Json, context: Context): Promise<Json> {
    const { run, key, attempt, signal: cancelled } = context;
    const child = await this.#take(own, cancelled);
    const output = new StepOutput(context);
    child.listen(output.write);
    const timeoutMs = Math.min(context.timeoutMs, own.speed === 'quick' ? QUICK_MS_MAX : SHELL_BOUNDS.timeoutMsMax);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`${own.name} took longer than ${timeoutMs} ms`)), timeoutMs);
    const signal = AbortSignal.any([cancelled, late.signal]);
    const server = new ContextServer(own, context);
    try {
      const { caller, resumed = null } = context;
      const call = {
        name: own.name,
        params,
        project: rootOf(context),
        key: `${run.handle}/${key}`,
        attempt,
        caller,
        resumed,
        words: context.commands.words,
        reserved: this.#reserved,
      };
      const called = child.call(call, (asked) => server.answer(asked));
      const ending = await endingOf(child, called, signal);
      await server.end(ending.type === 'outcome' && ending.outcome.ok);
      if (ending.type === 'outcome' && ending.outcome.ok) return JSON.parse(ending.outcome.text) as Json;
      if (cancelled.aborted) throw cancelled.reason;
      if (late.signal.aborted)
        throw new Failure('STEP_TIMEOUT', `${own.name} took longer than ${timeoutMs} ms; give the step more time`);
      await output.drain();
      throw server.lost ?? failureOf(own, ending, output);
    } finally {
      clearTimeout(timer);
      if (signal.aborted) await this.#end(child);
      await output.drain();
      this.#giveBack(child);
      const isBrief = signal.aborted || own.speed === 'quick';
      await output.finish(isBrief ? SHELL_BOUNDS.logGiveUpCancelledMs : SHELL_BOUNDS.logGiveUpMs);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((child) => this.#end(child)));
  }

  async #take({ name }: Named, cancelled: AbortSignal): Promise<OwnProcess> {
    cancelled.throwIfAborted();
    this.#idle = this.#idle.filter((child) => child.isUsable);
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const starting = this.#start(name);
    const signal = AbortSignal.any([cancelled]);
    const child = await Promise.race([starting, whenAborted(signal)]);
    if (child !== undefined) return child;
    void starting.then((late) => this.#giveBack(late)).catch(() => undefined);
    throw cancelled.reason;
  }

  async #start(name: string): Promise<OwnProcess> {
    const child = await OwnProcess.start(this.#code, this.#rest).catch((error: unknown) => {
      const finding = error instanceof Error ? error.message : String(error);
      throw new Failure(
        'COMMAND_PROCESS_ENDED',
        `${name}: no process with ${this.#code.path} could be started (${finding}); run "sentinel up" there once that is corrected`,
        { retryable: true },
      );
    });
    this.#all.add(child);
    void child.exit.then(() => this.#all.delete(child));
    if (this.#isClosed) child.end();
    return child;
  }

  #giveBack(child: OwnProcess): void {
    child.listen(this.#rest);
    if (child.isUsable && this.#idle.length < IDLE_MAX && !this.#isClosed) this.#idle.push(child);
    else child.end();
  }

  async #end(child: OwnProcess): Promise<void> {
    child.end();
    await Promise.race([child.exit, sleep(SHELL_BOUNDS.killWaitMs, undefined, { ref: false })]);
  }

  /** What is printed while nobody's command is performed. */
  readonly #rest = (_stream: string, chunk: Buffer): void => {
    const text = chunk.toString('utf8').trim();
    if (text !== '') this.#say(text);
  };
}

/** Once the signal has aborted, the command has a moment to end by itself. */
const endingOf = (child: OwnProcess, called: Promise<Outcome>, signal: AbortSignal): Promise<Ending> =>
  Promise.race([
    called.then((outcome): Ending => ({ type: 'outcome', outcome })),
    child.exit.then((exit): Ending => ({ type: 'exit', exit })),
    whenAborted(signal).then(async (): Promise<Ending> => {
      const reason: unknown = signal.reason;
      child.abort(reason instanceof Error ? reason.message : 'the step was cancelled');
      await sleep(endsWithinMs, undefined, { ref: false });
      return { type: 'left' };
    }),
  ]);

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

function failureOf({ name }: Named, ending: Ending, output: StepOutput): Failure {
  if (ending.type === 'outcome' && !ending.outcome.ok) {
    const { failure, trace } = ending.outcome;
    if (trace !== undefined) output.write('stderr', Buffer.from(`${trace}\n`));
    const { code, message, details } = failure;
    return new Failure(code, message, details === undefined ? {} : { details });
  }
  const { stderr } = output;
  const exit = ending.type === 'exit' ? ending.exit : { code: null, signal: null };
  const [finding, remedy] = OUT_OF_MEMORY.test(stderr)
    ? ['its memory ran out', 'have it hold less at once']
    : [endText(exit), 'look for process.exit, and for errors in timers and callbacks that nobody catches'];
  return new Failure(
    'COMMAND_PROCESS_ENDED',
    `${name}: its process ended before it had a result (${finding}); ${remedy}; "sentinel logs" shows what it printed`,
    { retryable: true, ...(stderr === '' ? {} : { details: { stderr } }) },
  );
}
