/** The trainer for the tests of this folder: installed from its lock file, or the reason why it is not. */
import { spawnSync } from 'node:child_process';
import { inject } from 'vitest';
import { readConfig } from '../../services/config/config.ts';
import { trainerVariables, type TrainerEnvironment } from '../../services/trainer/environment.ts';
import { installTrainer } from '../../services/trainer/install-trainer.ts';

const BUFFER_MAX = 64 * 1024 * 1024;

export const { cacheDir } = readConfig();

const found = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined }).then(
  ({ environment }): { environment: TrainerEnvironment | null; reason: string } => ({ environment, reason: '' }),
  (error: unknown) => ({ environment: null, reason: String(error).split('\n')[0] ?? '' }),
);
const small = inject('smallModel');

export const environment = found.environment;
/** The file of the small real model. */
export const model = 'path' in small ? small.path : null;
/** For the names of tests that are skipped. */
export const why = environment === null ? ` (skipped: ${found.reason})` : '';
export const whyModel = 'missing' in small ? ` (skipped: no small model: ${small.missing})` : why;

export function need<Value>(value: Value | null): Value {
  if (value === null) throw new Error('bug: this test should have been skipped');
  return value;
}

export type Line = Record<string, unknown>;

/** What a Python program of the environment says, line by line; throws where it fails. */
export function python(args: readonly string[], input = ''): Line[] {
  const { python: program, source } = need(environment);
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: source,
    input,
    encoding: 'utf8',
    maxBuffer: BUFFER_MAX,
    env: {
      ...trainerVariables(need(environment), process.env),
      ...(model === null ? {} : { SENTINEL_TEST_MODEL: model }),
    },
  });
  if (status !== 0)
    throw new Error(`python ${args.join(' ')} ended with ${status}: ${stdout.slice(-3000)}${stderr.slice(-3000)}`);
  return stdout
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);
}

export const trainer = (...args: string[]): Line[] => python(['-m', 'sentinel_trainer', ...args]);
