/**
 * The supervisor's program. SIGTERM: stop everything. SIGHUP: leave the servers running for the
 * next supervisor, which the sender starts. Its output is `.sentinel/logs/supervisor.log`.
 */
import { mkdirSync } from 'node:fs';
import { readConfig } from '../config/config.ts';
import { identifyProcess } from '../processes/process-identity.ts';
import { Supervisor } from './supervisor.ts';
import { acquireSupervisorLock } from './supervisor-lock.ts';

const SERVERS_ONLY = '--servers-only';

function log(text: string): void {
  process.stdout.write(`${new Date().toISOString()} [${process.pid}] ${text}\n`);
}

async function run(): Promise<void> {
  const config = readConfig();
  mkdirSync(config.home, { recursive: true });
  const lock = await acquireSupervisorLock(config.home);
  if (lock === null) return log('another supervisor keeps these services');
  const self = identifyProcess(process.pid);
  if (self === null) throw new Error('bug: this process cannot see itself');
  const options = { config, withWorker: !process.argv.includes(SERVERS_ONLY), log };
  const supervisor = new Supervisor(options, { ...self, startedAt: Date.now() });
  let isEnding = false;
  const end = (how: string, finish: () => Promise<void>): void => {
    if (isEnding) return;
    isEnding = true;
    log(how);
    void finish().then(
      () => leave(0),
      (error: unknown) => {
        log(String(error));
        leave(1);
      },
    );
  };
  const leave = (code: number): never => {
    lock.release();
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => end('stopping', () => supervisor.stop()));
  process.on('SIGHUP', () => end('handing over', () => supervisor.handOver()));
  // With everything external there is nothing to watch, yet the lock and the record stay ours.
  setInterval(() => undefined, 60_000);
  try {
    await supervisor.start();
    log('all services are up');
  } catch (error) {
    if (isEnding) return;
    log(`could not start: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    leave(1);
  }
}

await run();
