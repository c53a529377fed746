/**
 * The supervisor's program. SIGTERM: stop everything; a second signal: at once. SIGUSR2: stop, and let the processes
 * of steps go on. SIGHUP: leave the servers
 * running for the next supervisor, which sends it (`--take-over`). Its output is `.sentinel/logs/supervisor.log`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolders } from '../home/home-files.ts';
import { type Config, readConfig } from '../config/config.ts';
import { LEAVE_SIGNAL } from '../processes/end-signals.ts';
import { closeInherited } from '../processes/own-descriptors.ts';
import type { ProcessLock } from '../processes/process-lock.ts';
import { identifyProcess, isGoneWithin, signalProcess } from '../processes/process-identity.ts';
import { SERVERS_ONLY, TAKE_OVER } from './start-supervisor.ts';
import { stopMaxMs } from './stop-times.ts';
import { Supervisor } from './supervisor.ts';
import { acquireSuccession, acquireSupervisorLock, lockHolder } from './supervisor-lock.ts';

function log(text: string): void {
  process.stdout.write(`${new Date().toISOString()} [${process.pid}] ${text}\n`);
}

closeInherited();

/** What the signals ask for, from the first moment on; `supervisor` is there once the lock is. */
const asked = {
  wish: null as 'stop' | 'hand over' | null,
  keepsProcesses: false,
  supervisor: null as Supervisor | null,
};

for (const signal of ['SIGTERM', 'SIGINT', LEAVE_SIGNAL] as const) {
  process.on(signal, () => {
    if (asked.supervisor === null) return leave(0);
    if (asked.wish === 'stop') return asked.supervisor.hurry();
    const isEnding = asked.wish !== null;
    asked.wish = 'stop';
    asked.keepsProcesses = signal === LEAVE_SIGNAL;
    if (!isEnding) end(asked.supervisor);
  });
}
process.on('SIGHUP', () => {
  if (asked.supervisor === null || asked.wish !== null) return;
  asked.wish = 'hand over';
  end(asked.supervisor);
});

let release = (): void => undefined;

function leave(code: number): never {
  release();
  process.exit(code);
}

function end(supervisor: Supervisor): void {
  void finish(supervisor).then(
    () => leave(0),
    (error: unknown) => {
      log(String(error));
      leave(1);
    },
  );
}

/** A stop that is asked for while it hands over leaves nothing running. */
async function finish(supervisor: Supervisor): Promise<void> {
  if (asked.wish === 'hand over') {
    log('handing over');
    await supervisor.handOver();
  }
  if (asked.wish === 'hand over') return;
  log('stopping');
  await supervisor.stop(asked);
}

interface Locks {
  keeper: ProcessLock;
  /** Held until the record says that the services are coming. */
  succession: ProcessLock | null;
}

async function acquireLocks(config: Config, takesOver: boolean): Promise<Locks | null> {
  if (takesOver) return await takeOver(config);
  const keeper = await acquireSupervisorLock(config.home);
  return keeper === null ? null : { keeper, succession: null };
}

/** Waits for the supervisor before this one to end its worker; null where another one waits already. */
async function takeOver(config: Config): Promise<Locks | null> {
  const succession = await acquireSuccession(config.home);
  if (succession === null) return null;
  release = () => succession.release();
  for (;;) {
    const keeper = await acquireSupervisorLock(config.home);
    if (keeper !== null) return { keeper, succession };
    const holder = lockHolder(config.home);
    if (holder !== null && signalProcess(holder, 'SIGHUP') && !(await isGoneWithin(holder, stopMaxMs(config)))) {
      log(`the supervisor before this one (pid ${holder.pid}) does not end`);
      return leave(1);
    }
    await sleep(20);
  }
}

async function run(): Promise<void> {
  const config = readConfig();
  makeFolders(config.home);
  const locks = await acquireLocks(config, process.argv.includes(TAKE_OVER));
  if (locks === null) return log('another supervisor keeps these services');
  release = () => locks.keeper.release();
  const self = identifyProcess(process.pid);
  if (self === null) throw new Error('bug: this process cannot see itself');
  const options = { config, withWorker: !process.argv.includes(SERVERS_ONLY), log };
  const supervisor = new Supervisor(options, { ...self, startedAt: Date.now() });
  asked.supervisor = supervisor;
  // With everything external there is nothing to watch, yet the lock and the record stay ours.
  setInterval(() => undefined, 60_000);
  try {
    const started = supervisor.start();
    locks.succession?.release();
    await started;
    log('all services are up');
  } catch (error) {
    if (asked.wish !== null) return;
    log(`could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    leave(1);
  }
}

await run();
