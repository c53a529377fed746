/** A step's processes take off every mark, leave every parent, and turn on what holds them together. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ShellRequest } from '../../operations/shell/request.ts';
import { runShell } from '../../operations/shell/run-shell.ts';
import { processStart } from '../../world/processes/processes.ts';
import { shellContext, temporaryFolder, type TestContext } from '../activities/harness/step-context.ts';

const run = (request: Partial<ShellRequest>, context: TestContext) =>
  runShell({ command: 'true', timeoutMs: 60_000, graceMs: 300, ...request }, context);

const isHere = async (project: string): Promise<boolean> =>
  (await processStart(Number(await readFile(join(project, 'pid'), 'utf8')))) !== null;

/** In a session of its own, without variables, without the bound that marks it, below nobody. */
const unmarked = (line: string): string =>
  `(setsid env -i PATH="$PATH" sh -c 'ulimit -S -w unlimited; ${line}' > /dev/null 2>&1 &); while [ ! -s pid ]; do sleep 0.02; done`;
const sleeper = 'echo $$ > pid; exec sleep 600';

describe('a process without any mark ends with its step', () => {
  it.each([
    ['without a parent', unmarked(sleeper)],
    [
      'from another folder, under another name',
      unmarked(`echo $$ > pid; cd /; exec perl -e "\\$0 = q(init); sleep 600"`),
    ],
    ['stopped', unmarked('echo $$ > pid; kill -STOP $$; sleep 600')],
    ['deaf to everything', unmarked('trap "" TERM INT HUP USR1 USR2; echo $$ > pid; while :; do sleep 0.1; done')],
    [
      'one of many, each with a session of its own',
      `${unmarked('echo $$ > pid; exec sleep 600')}; for i in $(seq 60); do (setsid env -i sleep 600 > /dev/null 2>&1 &); done`,
    ],
  ])('%s', async (_how, command) => {
    const project = await temporaryFolder();
    await run({ command, timeoutMs: 10_000 }, shellContext(project));
    expect(await isHere(project)).toBe(false);
  });

  it('while it forks and ends, again and again', async () => {
    const project = await temporaryFolder();
    const hop = `perl -e "for (1 .. 100000) { fork and exit; open my \\$f, q(>), q(pid); print \\$f \\$\\$; close \\$f; }"`;
    await run({ command: unmarked(hop) }, shellContext(project));
    const [first, second] = [
      await readFile(join(project, 'pid'), 'utf8'),
      await sleep(300).then(() => readFile(join(project, 'pid'), 'utf8')),
    ];
    expect(second).toBe(first);
  });

  it('where it has stopped the init', async () => {
    const project = await temporaryFolder();
    const command = `${unmarked(sleeper)}; kill -STOP $PPID; sleep 600`;
    const failing = run({ command, timeoutMs: 1_000 }, shellContext(project));
    await expect(failing).rejects.toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(await isHere(project)).toBe(false);
  });

  it('when the step is out of time, and when it is cancelled', async () => {
    const [late, cancelled] = [await temporaryFolder(), await temporaryFolder()];
    const command = `${unmarked(sleeper)}; sleep 600`;
    await expect(run({ command, timeoutMs: 1_000 }, shellContext(late))).rejects.toMatchObject({
      code: 'STEP_TIMEOUT',
    });
    expect(await isHere(late)).toBe(false);
    const context = shellContext(cancelled, { signal: AbortSignal.timeout(1_000) });
    await expect(run({ command }, context)).rejects.toThrow();
    expect(await isHere(cancelled)).toBe(false);
  });
});

describe('a step that kills what holds its processes together has failed, and they end', () => {
  it.each([
    ['the init', 'kill -9 $PPID'],
    ['its guard', 'kill -9 $(cut -d " " -f 4 /proc/$PPID/stat)'],
  ])('%s', async (_which, kill) => {
    const project = await temporaryFolder();
    const command = `${unmarked(sleeper)}; ${kill}; sleep 600`;
    expect(await run({ command }, shellContext(project))).toMatchObject({ success: false, signal: 'SIGKILL' });
    await sleep(100);
    expect(await isHere(project)).toBe(false);
  });

  it('or asks it to end', async () => {
    const project = await temporaryFolder();
    const command = `kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; echo on`;
    expect(await run({ command }, shellContext(project))).toMatchObject({ success: true, stdout: 'on\n' });
  });
});

const holding = (mb: number): string =>
  `(setsid env -i "$NODE" -e "require('fs').writeFileSync('pid', process.pid + '\\n'); const held = Buffer.alloc(${mb}e6, 1); setInterval(() => held.length, 1000)" > /dev/null 2>&1 &)`;

describe('memory of a process without any mark', () => {
  const env = { NODE: process.execPath };

  it('counts when its parent has ended', async () => {
    const project = await temporaryFolder();
    const failing = run(
      { command: `${holding(300)}; sleep 20`, env },
      shellContext(project, { confinement: { memoryMb: 150 } }),
    );
    await expect(failing).rejects.toMatchObject({ code: 'MEMORY_LIMIT' });
    expect(await isHere(project)).toBe(false);
  });

  it('is the step’s to use below the bound', async () => {
    const project = await temporaryFolder();
    const command = `${holding(20)}; while [ ! -s pid ]; do sleep 0.02; done; sleep 0.3; echo done`;
    const context = shellContext(project, { confinement: { memoryMb: 150 } });
    expect(await run({ command, env }, context)).toMatchObject({ success: true, stdout: 'done\n' });
  });
});

describe('below an init everything is as without', () => {
  it.each<[string, Partial<ShellRequest>, object]>([
    ['the exit code', { command: 'exit 41' }, { exitCode: 41 }],
    ['a signal', { command: 'kill -SEGV $$' }, { exitCode: 139, signal: 'SIGSEGV' }],
    ['what comes from stdin', { command: 'cat', stdin: 'said' }, { stdout: 'said' }],
    ['the order of what it says', { command: 'echo 1; echo 2 >&2; sleep 0.1; echo 3' }, { output: '1\n2\n3\n' }],
    ['no terminal', { command: '(: < /dev/tty) 2> /dev/null || echo none' }, { stdout: 'none\n' }],
    [
      'a group and session of its own',
      { command: 'set -- $(cut -d " " -f 5,6 /proc/$$/stat); [ "$1 $2" = "$$ $$" ] && echo own' },
      { stdout: 'own\n' },
    ],
    [
      'signals that end a process',
      {
        command:
          'sh -c "kill -TERM \\$\\$; echo on"; sh -c "kill -USR1 \\$\\$; echo on"; sh -c "kill -PIPE \\$\\$; echo on"; echo end',
      },
      { stdout: 'end\n' },
    ],
    ['nothing open that it was not given', { command: '[ -e /proc/$$/fd/3 ] || echo none' }, { stdout: 'none\n' }],
    [
      'its variables',
      { command: 'echo "$PERL5OPT|$S_X|$LC_ALL"', env: { PERL5OPT: '-Mno::such', S_X: 'x', LC_ALL: 'xx_XX' } },
      { stdout: '-Mno::such|x|xx_XX\n', stderr: '' },
    ],
    [
      'a child that is ended with its group',
      { command: 'trap : TERM; sleep 60 & sleep 0.1; kill 0; wait; echo end' },
      { stdout: 'end\n' },
    ],
  ])('%s', async (_what, request, result) => {
    expect(await run(request, shellContext(await temporaryFolder()))).toMatchObject(result);
  });

  it('and a helper that ends with its step keeps nobody waiting', async () => {
    const project = await temporaryFolder();
    const startedAt = performance.now();
    const context = shellContext(project);
    const result = await run({ command: 'sleep 0.2 & echo $! > pid; wait; echo done' }, context);
    expect(result).toMatchObject({ stdout: 'done\n' });
    expect(context.log.text('stderr')).toBe('');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
