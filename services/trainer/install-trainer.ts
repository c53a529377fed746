/**
 * `sentinel trainer install`: makes the trainer's environment with uv where it is there, and with Python's own venv and
 * pip elsewhere. Every package has to have the hash of the lock file.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { makeFolders } from '../home/home-files.ts';
import { ServicesError } from '../config/services-error.ts';
import { acquireLock } from '../processes/process-lock.ts';
import { runToEnd } from '../processes/run-to-end.ts';
import { onPath } from '../temporal/temporal-binary.ts';
import { trainerEnvironment, type TrainerEnvironment } from './environment.ts';

/** The versions that the lock file was resolved for. */
const PYTHONS = ['python3.13', 'python3.12', 'python3.11', 'python3', 'python'];
const MINOR_MIN = 11;
const MINOR_MAX = 13;
const INSTALL_MAX_MS = 60 * 60_000;
const VERSION_MAX_MS = 60_000;

export interface Install {
  cacheDir: string;
  env: NodeJS.ProcessEnv;
  onProgress: (text: string) => void;
  /** Install again what is there. */
  isForced?: boolean;
  source?: string;
}

export interface InstallReport {
  environment: TrainerEnvironment;
  wasInstalled: boolean;
  ms: number;
}

/** Throws `ServicesError` with what was missing or what the installer said; what is half installed is not taken for an environment. */
export async function installTrainer(install: Install): Promise<InstallReport> {
  const begun = Date.now();
  const look = (): TrainerEnvironment => trainerEnvironment(install.cacheDir, install.source);
  const report = (environment: TrainerEnvironment, wasInstalled: boolean): InstallReport => ({
    environment,
    wasInstalled,
    ms: Date.now() - begun,
  });
  const isEnough = ({ installed }: TrainerEnvironment): boolean => installed !== null && install.isForced !== true;
  const found = look();
  if (isEnough(found)) return report(found, true);
  makeFolders(join(install.cacheDir, 'trainer'), 0o700);
  const lock = await acquireLock(`${found.folder}.lock`);
  if (lock === null) throw new ServicesError('The trainer is being installed by another process. Wait for it to end.');
  try {
    // Another process may have come to its end between the look and the lock.
    const now = look();
    if (isEnough(now)) return report(now, true);
    await build(now, install);
    return report(look(), false);
  } finally {
    lock.release();
  }
}

async function build(target: TrainerEnvironment, install: Install): Promise<void> {
  const python = await findPython(install.env);
  rmSync(target.folder, { recursive: true, force: true });
  const uv = onPath('uv', install.env);
  const steps = uv === null ? pipSteps(target, python) : uvSteps(target, python, uv);
  install.onProgress(`installing the trainer with ${uv === null ? 'pip' : 'uv'} into ${target.folder}`);
  for (const [command, ...args] of steps) await runAloud(command, args, install);
  const mark = { lock: target.lock, by: uv === null ? 'pip' : 'uv', python, at: new Date().toISOString() };
  writeAtomically(target.mark, JSON.stringify(mark));
}

type Step = [command: string, ...args: string[]];

const uvSteps = ({ folder, python, lockFile }: TrainerEnvironment, base: string, uv: string): Step[] => [
  [uv, 'venv', '--python', base, folder],
  [uv, 'pip', 'install', '--python', python, '--require-hashes', '--no-deps', '-r', lockFile],
];

const pipSteps = ({ folder, python, lockFile }: TrainerEnvironment, base: string): Step[] => [
  [base, '-m', 'venv', folder],
  [
    python,
    '-m',
    'pip',
    'install',
    '--require-hashes',
    '--no-deps',
    '--no-input',
    '--progress-bar',
    'off',
    '-r',
    lockFile,
  ],
];

/** The first Python on PATH that the lock file was resolved for. */
async function findPython(env: NodeJS.ProcessEnv): Promise<string> {
  const tried: string[] = [];
  for (const name of PYTHONS) {
    const path = onPath(name, env);
    if (path === null) continue;
    const minor = await minorOf(path, env);
    if (minor !== null && minor >= MINOR_MIN && minor <= MINOR_MAX) return path;
    tried.push(`${path} is ${minor === null ? 'no Python 3' : `Python 3.${minor}`}`);
  }
  throw new ServicesError(
    `The trainer needs Python 3.${MINOR_MIN} to 3.${MINOR_MAX} on PATH. ${tried.length === 0 ? 'There is none.' : `${tried.join('; ')}.`}`,
  );
}

async function minorOf(path: string, env: NodeJS.ProcessEnv): Promise<number | null> {
  try {
    const said = await runToEnd(path, ['-c', 'import sys; print(sys.version_info[:2])'], {
      timeoutMs: VERSION_MAX_MS,
      env,
    });
    const [, minor] = /^\(3, (\d+)\)/.exec(said) ?? [];
    return minor === undefined ? null : Number(minor);
  } catch {
    return null;
  }
}

/** Each line that the installer says is progress; the last ones are the reason where it fails. */
async function runAloud(command: string, args: readonly string[], { env, onProgress }: Install): Promise<void> {
  const onLine = (line: string): void => {
    if (line.trim() !== '') onProgress(line.trim());
  };
  try {
    await runToEnd(command, args, { timeoutMs: INSTALL_MAX_MS, env, onLine });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ServicesError(`The trainer could not be installed: ${reason}`, { cause: error });
  }
}
