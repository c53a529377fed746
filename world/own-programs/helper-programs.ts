/**
 * Programs that Sentinel itself starts beside a step's own: bubblewrap, git where it only reads, `ps`.
 *
 * - H1 They are found on the worker's own PATH, and never in a folder that a run may write: not in its
 *      project, not in a `node_modules`.
 * - H2 Their environment is fixed. No variable of a step and none of a definition reaches them, because
 *      the loader, git and most shells take orders from variables.
 * - H3 They end: none has longer than it takes, whatever it is given to read.
 */
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, isAbsolute, join, sep } from 'node:path';
import { execa } from 'execa';
import { defined } from '../../language/defined.ts';

/** The folders of the worker's PATH in which its helper programs are looked for. */
export function helperPath(project?: string, path: string = process.env['PATH'] ?? ''): string {
  const root = project === undefined ? null : realOf(project);
  const isTrusted = (folder: string): boolean => {
    const real = realOf(folder);
    const parts = real.split(sep);
    return isAbsolute(folder) && !parts.includes('node_modules') && (root === null || !isBelow(real, root));
  };
  return path.split(delimiter).filter(isTrusted).join(delimiter);
}

/** The whole path of a helper program; null where there is none. */
export function findHelper(name: string, path: string = helperPath()): string | null {
  const places = path.split(delimiter).filter(isAbsolute);
  return places.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}

/** All that a helper program is told. */
export const helperEnvironment = (path: string = helperPath()): Record<string, string> => ({
  PATH: path,
  LC_ALL: 'C',
});

/** Unless stated; each of them takes milliseconds. */
const HELPER_MS = 10_000;

export interface HelperRun {
  timeoutMs?: number;
  cwd?: string;
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  /** What it reads from its descriptor 3. */
  told?: Buffer;
}

/** Runs a helper program to its end, whatever that is; one that had to be ended has no exit code. */
export async function runHelper(
  file: string,
  args: readonly string[],
  { timeoutMs = HELPER_MS, cwd, env, stdin, told }: HelperRun = {},
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(file, args, {
    reject: false,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...(told === undefined ? [] : [told])],
    ...defined({ input: stdin }),
    extendEnv: false,
    stripFinalNewline: false,
    env: { ...helperEnvironment(), ...env },
    timeout: timeoutMs,
    ...defined({ cwd }),
  });
  return { exitCode, stdout, stderr };
}

export function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** With its links followed; what is not there stays as it is written. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Settings of git for one process, as git takes them from its environment: above those of every file. */
export const gitVariables = (
  settings: readonly (readonly [name: string, value: string])[],
): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([name, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, name],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
});
