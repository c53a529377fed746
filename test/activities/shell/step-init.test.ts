/** The init in each language that it is written in, whichever this host would choose. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { processStart } from '../../../world/processes/processes.ts';
import { LANGUAGES, probe, readReport, underInit } from '../../../world/processes/step-init.ts';
import { MARK_MAX } from '../../../world/processes/step-mark.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const bounds = { mark: { own: 2 ** 40 + 7, most: MARK_MAX }, dataBytes: 2 ** 32 };

async function below(language: (typeof LANGUAGES)[number], line: string, env: Record<string, string> = {}) {
  const init = await probe([language]);
  if (init === null) throw new Error(`${language.name} runs no init here`);
  const cwd = await temporaryFolder();
  const own = { PATH: process.env['PATH'] ?? '', ...env };
  const launch = underInit({ file: '/bin/sh', args: ['-c', line], cwd, env: own }, init, bounds);
  const child = execa(launch.file, launch.args, {
    cwd,
    env: launch.env,
    extendEnv: false,
    detached: true,
    reject: false,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    buffer: { fd3: false },
  });
  const { pid, exit } = readReport(child.stdio[3]);
  const { stdout, stderr } = await child;
  return { cwd, pid: await pid, exit: await exit, stdout, stderr };
}

const sleeper = `(setsid env -i sh -c 'echo $$ > pid; exec sleep 600' > /dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.02; done`;

describe.each(LANGUAGES)('an init in $name', (language) => {
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

  it('waits for the last that is below', async () => {
    const started = performance.now();
    expect((await below(language, '(setsid sh -c "sleep 0.4" > /dev/null 2>&1 &); exit 3')).exit?.code).toBe(3);
    expect(performance.now() - started).toBeGreaterThan(400);
  });
});
