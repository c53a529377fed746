/** The shell command of a step by itself, without an engine. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { shellLine } from './definitions.ts';

const execute = promisify(execFile);

export async function runShell(index: number, cwd: string): Promise<string> {
  const { stdout } = await execute('/bin/sh', ['-c', shellLine(index)], { cwd });
  return stdout;
}
