/** Installing the trainer, with programs of our own in the place of Python: what is there, what is kept, what is said. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { trainerEntry } from '../../../services/inspect-trainer.ts';
import { trainerEnvironment, type TrainerEnvironment } from '../../../services/trainer/environment.ts';
import { installTrainer } from '../../../services/trainer/install-trainer.ts';

/** A Python that makes an environment in no time, and whose pip does what a test says. */
const python = (pip: string): string => `#!/bin/sh
case "$1 $2" in
  "-c "*) echo "(3, 13)" ;;
  "-m venv") /bin/mkdir -p "$3/bin" && /bin/cp "$0" "$3/bin/python" ;;
  "-m pip") ${pip} ;;
esac
`;

interface Place {
  cacheDir: string;
  source: string;
  env: { PATH: string };
  environment: TrainerEnvironment;
}

function place(pip = 'exit 0'): Place {
  const folder = mkdtempSync(join(tmpdir(), 'sentinel-install-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [bin, cacheDir, source] = ['bin', 'cache', 'trainer'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(bin);
  mkdirSync(cacheDir);
  mkdirSync(join(source, 'locks'), { recursive: true });
  writeFileSync(join(source, 'locks', 'pypi.txt'), 'torch==2.15.0\n');
  writeFileSync(join(bin, 'python3.13'), python(pip), { mode: 0o755 });
  return { cacheDir, source, env: { PATH: bin }, environment: trainerEnvironment(cacheDir, source) };
}

/** What an installer that came to its end has left. */
function finish({ python: program, mark, lock }: TrainerEnvironment, packages: string): void {
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, '', { mode: 0o755 });
  writeFileSync(packages, 'five gigabytes');
  writeFileSync(mark, JSON.stringify({ lock, by: 'uv', python: program, at: new Date(0).toISOString() }));
}

test('what another process has installed by the time that the lock is free is kept', async () => {
  const { environment, ...install } = place();
  const packages = join(environment.folder, 'packages');
  // The lock of a dead process, which somebody is about to remove: the installer waits, after its look at what is there.
  const guard = `${environment.folder}.lock.takeover`;
  mkdirSync(guard, { recursive: true });
  writeFileSync(`${environment.folder}.lock`, '');
  const waiting = installTrainer({ ...install, onProgress: () => undefined });
  finish(environment, packages);
  rmSync(guard, { recursive: true });
  const report = await waiting;
  expect(existsSync(packages)).toBe(true);
  expect(report).toMatchObject({ wasInstalled: true, environment: { installed: { by: 'uv' } } });
});

test('an environment is made anew where it is asked for, and where there is none', async () => {
  const { environment, ...install } = place();
  const packages = join(environment.folder, 'packages');
  finish(environment, packages);
  const again = await installTrainer({ ...install, isForced: true, onProgress: () => undefined });
  expect(again).toMatchObject({ wasInstalled: false, environment: { installed: { by: 'pip' }, isUnfinished: false } });
  expect(existsSync(packages)).toBe(false);
});

test('an environment whose Python is gone is installed in part', () => {
  const { cacheDir } = place();
  const environment = trainerEnvironment(cacheDir);
  expect(trainerEntry(cacheDir).found).toBe('not installed');
  finish(environment, join(environment.folder, 'packages'));
  expect(trainerEntry(cacheDir).found).toBe('installed by uv');
  rmSync(environment.python);
  expect(trainerEnvironment(cacheDir)).toMatchObject({ installed: null, isUnfinished: true });
  expect(trainerEntry(cacheDir).found).toBe('installed in part');
});

test('an installer that fails is heard line by line, and its last lines are the reason', async () => {
  const install = place('printf "Collecting to"; /bin/sleep 0.3; echo rch; echo "ERROR: no such hash" >&2; exit 3');
  const said: string[] = [];
  const installing = installTrainer({ ...install, onProgress: (line) => said.push(line) });
  const error = await installing.then(String, String);
  expect(error).toContain('The trainer could not be installed: ');
  expect(error).toContain('Collecting torch');
  expect(error).toContain('ERROR: no such hash');
  expect(said).toEqual(expect.arrayContaining(['Collecting torch', 'ERROR: no such hash']));
  expect(trainerEnvironment(install.cacheDir, install.source)).toMatchObject({ installed: null, isUnfinished: true });
});
