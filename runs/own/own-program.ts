/**
 * A process that performs commands of a project, one at a time (own-process.ts starts it). Whatever their code does
 * to it, nothing but this process suffers.
 *
 * It does not outlive its worker. A loop that never ends would not see that the worker has gone, so a thread looks.
 */
import { writeSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import { runProjectConfig } from '../../services/config/project-config.ts';
import type { OwnCommand } from '../../services/commands/own-commands.ts';
import type { FromProcess, KeptCode, OwnCall, ToProcess } from './own-messages.ts';
import { PortToWorker } from './port-to-worker.ts';
import { performOwn } from './perform-own.ts';

/** With all that it has started: it leads a group of its own. */
const END = "process.kill(-process.pid, 'SIGKILL')";
const WATCH = `const { ppid } = process; setInterval(() => { if (process.ppid !== ppid) ${END}; }, 500);`;
/** What keeps going behind a command that has a result. */
const GOES_ON: ReadonlySet<string> = new Set(['Timeout', 'Immediate', 'ProcessWrap', 'Worker']);

/** By name, each with the settings of its system. */
const commands = new Map<string, { own: OwnCommand; settings: unknown; system?: string }>();
let aborting = new AbortController();
let port = new PortToWorker(() => undefined);
/** What goes on once the configuration is loaded goes on for as long as the process. */
let atRest = 0;

new Worker(WATCH, { eval: true, execArgv: [], stdout: false, stderr: false }).unref();
process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
process.on('unhandledRejection', (reason) => {
  writeSync(2, `a promise that nobody waited for was rejected: ${inspect(reason)}\n`);
});
process.on('message', (told: ToProcess) => {
  if ('load' in told) void load(told.load);
  else if ('call' in told) void perform(told.call);
  else if ('reply' in told) port.hear(told.reply);
  else aborting.abort(new Error(told.aborted));
});

const tell = (what: FromProcess): boolean | undefined => process.send?.(what);

const goingOn = (): number => process.getActiveResourcesInfo().filter((name) => GOES_ON.has(name)).length;

async function load({ path, digest, files }: KeptCode): Promise<void> {
  try {
    const config = await runProjectConfig({ path, digest, files: new Map(files) }, { asKept: true });
    for (const { name: system, commands: ofSystem, settings } of config.systems)
      for (const own of ofSystem) commands.set(own.name, { own, settings, system });
    // What clashes with one of these is not performed (project-systems.ts).
    for (const own of config.commands) commands.set(own.name, { own, settings: undefined });
    await turn();
    atRest = goingOn();
    tell({ ready: true });
  } catch (error) {
    tell({ refused: error instanceof Error ? error.message : String(error) });
  }
}

async function perform({ name, params, reserved, words, ...call }: OwnCall): Promise<void> {
  aborting = new AbortController();
  const found = commands.get(name);
  if (found === undefined) throw new Error(`bug: this process has no command "${name}"`);
  port = new PortToWorker(tell, words);
  const { own, settings, system } = found;
  const context = { ...call, ...port.context, signal: aborting.signal, settings };
  const outcome = await performOwn({ own, system, reserved }, params, context);
  await turn();
  tell({ outcome, isFree: goingOn() <= atRest });
}
