/** A program that is run for what it prints. */
import { spawn } from 'node:child_process';

/** Resolves with stdout; rejects with the last lines of stderr. */
export function runToEnd(
  command: string,
  args: readonly string[],
  options: {
    timeoutMs: number;
    signal?: AbortSignal;
    env?: NodeJS.ProcessEnv;
    uid?: number;
    gid?: number;
    cwd?: string;
  },
): Promise<string> {
  const { timeoutMs, ...rest } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...rest,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr?.on('data', (chunk: Buffer) => (stderr = `${stderr}${chunk.toString('utf8')}`.slice(-4000)));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const how = signal === 'SIGKILL' ? `was ended after ${timeoutMs / 1000} s` : `ended with ${code ?? signal}`;
      const said = stderr.trim().split('\n').slice(-4).join(' | ');
      return reject(new Error(`${command} ${args[0] ?? ''} ${how}${said === '' ? '' : `: ${said}`}`));
    });
  });
}
