/** The init in each language that it is written in, whichever this host would choose. */
import { existsSync, ftruncateSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { defined } from '../../../language/defined.ts';
import { processStart } from '../../../world/processes/processes.ts';
import type { Launch } from '../../../world/confinement/sandbox.ts';
import { type KeptBelow, LANGUAGES, probe, readReport, underInit } from '../../../world/processes/step-init.ts';
import { MARK_MAX } from '../../../world/processes/step-mark.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const bounds = { mark: { own: 2 ** 40 + 7, most: MARK_MAX }, dataBytes: 2 ** 32 };

interface Asked {
  env?: Record<string, string>;
  isPiped?: boolean;
  kept?: KeptBelow;
  streams?: readonly ('pipe' | number)[];
  stdin?: number;
}

async function launchOf(
  language: (typeof LANGUAGES)[number],
  line: string,
  { env, isPiped, kept }: Asked,
): Promise<Launch> {
  const init = await probe([language]);
  if (init === null) throw new Error(`${language.name} runs no init here`);
  const cwd = await temporaryFolder();
  const own = { PATH: process.env['PATH'] ?? '', ...env };
  const how = { ...bounds, ...defined({ isPiped, kept }) };
  return underInit({ file: '/bin/sh', args: ['-c', line], cwd, env: own }, init, how);
}

async function started(language: (typeof LANGUAGES)[number], line: string, asked: Asked) {
  const { streams: [out = 'pipe', err = 'pipe'] = [], stdin } = asked;
  const launch = await launchOf(language, line, asked);
  const { cwd } = launch;
  const child = execa(launch.file, launch.args, {
    cwd,
    env: launch.env,
    extendEnv: false,
    detached: true,
    reject: false,
    stdio: [(stdin ?? 'ignore') as 'ignore', out as 'pipe', err as 'pipe', 'pipe'],
    buffer: { fd3: false },
  });
  return { cwd, child, ...readReport(child.stdio[3]) };
}

async function below(language: (typeof LANGUAGES)[number], line: string, env: Record<string, string> = {}) {
  const { cwd, child, pid, exit } = await started(language, line, { env });
  const { stdout, stderr } = await child;
  return { cwd, pid: await pid, exit: await exit, stdout, stderr };
}

const sleeper = `(setsid env -i sh -c 'echo $$ > pid; exec sleep 600' > /dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.02; done`;

describe.each(LANGUAGES)('an init in $name', (language) => {
  it('gives pipes to a program that nobody keeps, and lets go of them as its worker does', async () => {
    const line = 'echo a > /dev/stderr; echo b > /dev/stdout; (sleep 0.2; echo late) & exit 3';
    const { child, exit } = await started(language, line, { isPiped: true });
    expect(await exit).toEqual({ code: 3, signal: null });
    expect(await child).toMatchObject({ stdout: 'b\nlate', stderr: 'a' });
    const endless = await started(language, 'yes; echo $? > status', { isPiped: true });
    endless.child.stdout.destroy();
    expect((await endless.exit)?.code).toBe(0);
    expect(await readFile(join(endless.cwd, 'status'), 'utf8')).toMatch(/^(141|1)\n$/);
  });

  it('says how its program ended, and is as if it were not there', async () => {
    const line = `echo "$PYTHONPATH|$PERL5OPT|$0"; grep -E 'file locks|data size' /proc/self/limits | tr -s ' '; exit 5`;
    const env = { PYTHONPATH: '/no', PERL5OPT: '-Mno::such' };
    expect(await below(language, line, env)).toMatchObject({
      exit: { code: 5, signal: null },
      pid: expect.any(Number),
      stdout: `/no|-Mno::such|/bin/sh\nMax data size 4294967296 4294967296 bytes \nMax file locks ${2 ** 40 + 7} ${2 ** 41} locks `,
      stderr: '',
    });
    expect((await below(language, 'kill -KILL $$')).exit).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it.each([
    ['the init', 'kill -9 $PPID'],
    ['its guard', 'kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)'],
    ['all at once', 'kill -USR1 $(cut -d " " -f 4 /proc/$PPID/stat)'],
  ])('ends all that is below when it is ended: %s', async (_which, kill) => {
    const { cwd, exit } = await below(language, `${sleeper}; ${kill}; sleep 600`);
    expect(exit).toBeNull();
    expect(await processStart(Number(await readFile(join(cwd, 'pid'), 'utf8')))).toBeNull();
  });

  it('ends when it is told to, though nobody reads what its program prints', async () => {
    const { file, args, env, cwd } = await launchOf(language, 'yes', { isPiped: true });
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true });
    await sleep(700);
    process.kill(child.pid ?? 0, 'SIGUSR1');
    const end = await Promise.race([once(child, 'exit'), sleep(3_000, 'stuck')]);
    if (end === 'stuck') process.kill(-(child.pid ?? 0), 'SIGKILL');
    expect(end).not.toBe('stuck');
  });

  it('keeps what is printed, with the outcome behind it', async () => {
    const folder = await temporaryFolder();
    const files = ['out', 'err'].map((name) => openSync(join(folder, name), 'a'));
    const line = 'echo a; echo b > /dev/stderr; seq 1 200000 > /dev/stdout; (sleep 0.3; echo late) & exit 5';
    const kept = { folder, timeoutMs: 20_000, graceMs: 500, outputBytes: 2 ** 28 };
    const { child, exit } = await started(language, line, { kept, streams: files });
    expect(await exit).toEqual({ code: 5, signal: null });
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    const printed = `a\n${Array.from({ length: 200_000 }, (_, i) => i + 1).join('\n')}\n`;
    expect(read('out')).toBe(printed);
    expect(read('err')).toBe('b\n');
    expect(read('outcome')).toMatch(/^exit 1280 [\d.]+ open *\n$/);
    await child;
    expect(read('out')).toBe(`${printed}late\n`);
    expect(existsSync(join(folder, 'closed'))).toBe(true);
  });

  it('gives its input through a pipe, of which each reads what the one before has left', async () => {
    const folder = await temporaryFolder();
    const files = ['out', 'err'].map((name) => openSync(join(folder, name), 'a'));
    writeFileSync(join(folder, 'in'), `one\ntwo\n${'three\n'.repeat(100_000)}`);
    const kept = { folder, timeoutMs: 20_000, graceMs: 500, outputBytes: 2 ** 28 };
    for (const [line, said] of [
      ['read a < /dev/stdin; read b < /dev/stdin; echo $a $b; wc -c', 'one two\n600000\n'],
      ['exit 0', ''],
    ] as const) {
      const stdin = openSync(join(folder, 'in'), 'r');
      const { child, exit } = await started(language, line, { kept, streams: files, stdin });
      expect(await exit).toEqual({ code: 0, signal: null });
      await child;
      expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(said);
      for (const file of files) ftruncateSync(file);
    }
  });

  it('ends what has had its time, and keeps what it said then', async () => {
    const folder = await temporaryFolder();
    const files = ['out', 'err'].map((name) => openSync(join(folder, name), 'a'));
    const line = 'trap "echo told; exit 3" TERM; while :; do sleep 0.05; done';
    const kept = { folder, timeoutMs: 500, graceMs: 2_000, outputBytes: 2 ** 28 };
    await (
      await started(language, line, { kept, streams: files })
    ).child;
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('told\n');
    expect(readFileSync(join(folder, 'reason'), 'utf8')).toBe('timeout\n');
    expect(readFileSync(join(folder, 'outcome'), 'utf8')).toMatch(/^exit 768 [\d.]+ closed *\n$/);
  });

  it('waits for the last that is below', async () => {
    const before = performance.now();
    expect((await below(language, '(setsid sh -c "sleep 0.4" > /dev/null 2>&1 &); exit 3')).exit?.code).toBe(3);
    expect(performance.now() - before).toBeGreaterThan(400);
  });
});
