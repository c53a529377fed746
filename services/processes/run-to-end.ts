/** A program that is run for what it prints. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The lines that are the reason where a program fails. */
const REASON_LINES = 6;
const REASON_MAX = 4000;

/**
 * Resolves with stdout; rejects with the last lines of stderr. `onLine` hears each line of both as it comes, and the
 * last lines of both are then the reason.
 */
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
    onLine?: (line: string) => void;
  },
): Promise<string> {
  const { timeoutMs, onLine, ...rest } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      ...rest,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let reason = '';
    const note = (text: string): void => {
      reason = `${reason}${text}`.slice(-REASON_MAX);
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk));
    if (onLine === undefined) child.stderr.setEncoding('utf8').on('data', note);
    else
      for (const stream of [child.stdout, child.stderr])
        eachLine(stream, (line) => {
          note(`${line}\n`);
          onLine(line);
        });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(stdout);
      const how = signal === 'SIGKILL' ? `was ended after ${timeoutMs / 1000} s` : `ended with ${code ?? signal}`;
      const said = reason.trim().split('\n').slice(-REASON_LINES).join(' | ');
      return reject(new Error(`${command} ${args[0] ?? ''} ${how}${said === '' ? '' : `: ${said}`}`));
    });
  });
}

function eachLine(input: Readable, hear: (line: string) => void): void {
  createInterface({ input, crlfDelay: Infinity }).on('line', hear);
}
