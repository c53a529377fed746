/** A worker as its users run it, `node dist/worker/main.js`, which a test may kill without notice. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownRoot } from '../../../services/home/package-root.ts';
import { pidOf } from '../../pids.ts';

const program = join(ownRoot, 'dist', 'worker', 'main.js');
const readyWithinMs = 60_000;

export class WorkerProcess {
  readonly pid: number;
  output = '';
  private readonly child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.child = child;
    this.pid = pidOf(child);
    const keep = (chunk: Buffer): void => {
      this.output = `${this.output}${chunk.toString('utf8')}`.slice(-50_000);
    };
    child.stdout?.on('data', keep);
    child.stderr?.on('data', keep);
  }

  /** Resolves when the worker says that it is ready. */
  static async start(env: NodeJS.ProcessEnv, args: readonly string[] = [program]): Promise<WorkerProcess> {
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const worker = new WorkerProcess(child);
    await new Promise<void>((resolve, reject) => {
      const fail = (finding: string) => (): void => {
        // Nobody else has it to end it.
        child.kill('SIGKILL');
        reject(new Error(`the worker ${finding}: ${worker.output}`));
      };
      const timer = setTimeout(fail('was not ready in time'), readyWithinMs);
      child.once('exit', fail('ended'));
      const look = (): void => {
        if (!worker.output.includes('"ready":true')) return;
        clearTimeout(timer);
        child.stdout.off('data', look);
        child.removeAllListeners('exit');
        resolve();
      };
      child.stdout.on('data', look);
    });
    return worker;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  get exitCode(): number | null {
    return this.child.exitCode;
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  kill9(): Promise<void> {
    return this.end('SIGKILL');
  }

  /** As an operator ends it: what runs may finish first. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** As a supervisor ends one that another build follows. */
  leave(): Promise<void> {
    return this.end('SIGUSR2');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isAlive) return;
    const ended = once(this.child, 'exit');
    this.child.kill(signal);
    await ended;
  }

  /** Largest and present memory in bytes. */
  memory(): { peak: number; now: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    const field = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
    return { peak: field('VmHWM'), now: field('VmRSS') };
  }

  /** Processor time used so far, in ticks of 10 ms. */
  processorTicks(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8');
    const [userTicks, systemTicks] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13);
    return Number(userTicks) + Number(systemTicks);
  }
}
