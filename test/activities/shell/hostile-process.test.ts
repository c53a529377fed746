/** Processes that do what none should: nothing of them outlives the step, hangs it, or stays with the worker. */
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Failure } from '../../../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../../../world/processes/bounds.ts';
import { LineSplitter } from '../../../operations/shell/output/line-splitter.ts';
import type { ShellRequest } from '../../../operations/shell/request.ts';
import { runShell } from '../../../operations/shell/run-shell.ts';
import {
  isAlive,
  isGroupAlive,
  MemoryLog,
  shellContext,
  temporaryFolder,
  type TestContext,
} from '../harness/step-context.ts';

async function run(request: Partial<ShellRequest>, context?: TestContext) {
  return runShell({ command: 'true', timeoutMs: 60_000, ...request }, context ?? shellContext(await temporaryFolder()));
}

const pidIn = async (folder: string, name = 'pid'): Promise<number> => {
  for (;;) {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(text);
    await sleep(10);
  }
};

const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
const used = async () => ({ files: await openFiles(), resources: process.getActiveResourcesInfo().length });

it.each([
  ['of a shell line', { command: `env -i PATH="$PATH" setsid sh -c 'echo $$ > pid; exec sleep 60' & wait` }],
  [
    'two deep, ignoring SIGTERM',
    {
      command: `env -i PATH="$PATH" setsid sh -c 'env -i setsid sh -c "trap \\"\\" TERM; echo \\$\\$ > pid; while :; do sleep 0.1; done" & wait' & wait`,
    },
  ],
  [
    'which is the whole step',
    {
      command: 'env',
      args: [
        '-i',
        `PATH=${process.env['PATH'] ?? ''}`,
        'sh',
        '-c',
        `setsid sh -c 'echo $$ > pid; exec sleep 60' & wait`,
      ],
    },
  ],
])('a child that left group, session and environment behind ends with the step: %s', async (_name, request) => {
  const project = await temporaryFolder();
  const stop = new AbortController();
  const running = run({ ...request, graceMs: 300 }, shellContext(project, { signal: stop.signal }));
  const pid = await pidIn(project);
  stop.abort(new Error('cancelled'));
  await expect(running).rejects.toThrow('cancelled');
  expect(await isGroupAlive(pid)).toBe(false);
});

it('a child that left its environment behind counts for memory, and is ended for it', async () => {
  const project = await temporaryFolder();
  const holds = `env -i "$NODE" -e "require('fs').writeFileSync('pid', process.pid + '\\n'); const held = Buffer.alloc(3e8, 1); setInterval(() => held.length, 1000)"`;
  const failing = run(
    { command: `setsid ${holds} & wait`, env: { NODE: process.execPath } },
    shellContext(project, { confinement: { memoryMb: 150 } }),
  );
  await expect(failing).rejects.toMatchObject({ code: 'MEMORY_LIMIT' });
  expect(await isGroupAlive(await pidIn(project))).toBe(false);
});

it('stdin that somebody holds and does not read is let go of', async () => {
  const project = await temporaryFolder();
  const before = await openFiles();
  const startedAt = performance.now();
  const result = await run(
    { command: 'exec 3<&0; setsid sleep 30 <&3 >/dev/null 2>&1 & echo $! > pid', stdin: 'x'.repeat(5_000_000) },
    shellContext(project),
  );
  expect(result).toMatchObject({ exitCode: 0 });
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  await sleep(50);
  expect(await openFiles()).toBeLessThanOrEqual(before);
  expect(isAlive(await pidIn(project))).toBe(false);
});

it('a process that closes its stdin, or is killed while it is fed, is no failure of ours', async () => {
  expect(await run({ command: 'exec 0<&-; sleep 0.2; exit 3', stdin: 'x'.repeat(5_000_000) })).toMatchObject({
    exitCode: 3,
  });
  expect(await run({ command: 'head -c 1 >/dev/null; kill -9 $$', stdin: 'x'.repeat(5_000_000) })).toMatchObject({
    exitCode: 137,
    signal: 'SIGKILL',
  });
  await expect(
    run({ command: 'sleep 60', stdin: 'x'.repeat(5_000_000), timeoutMs: 200, graceMs: 200 }),
  ).rejects.toMatchObject({ code: 'STEP_TIMEOUT' });
});

it('hundreds of steps, ended in every way, leave no file and no timer open', async () => {
  const project = await temporaryFolder();
  const ways: (Partial<ShellRequest> & { isCancelled?: boolean })[] = [
    { command: 'echo a; echo b >&2' },
    { command: 'cat > /dev/null', stdin: 'x'.repeat(200_000) },
    { command: 'exit 7' },
    { command: 'kill -9 $$' },
    { command: 'no-such-program', args: [] },
    { command: 'sleep 60', timeoutMs: 20, graceMs: 100 },
    { command: 'sleep 60', isCancelled: true, graceMs: 100 },
    { command: 'true', cwd: 'nowhere' },
  ];
  const one = async (at: number): Promise<void> => {
    const { isCancelled = false, ...request } = ways[at % ways.length] ?? {};
    const context = shellContext(project, isCancelled ? { signal: AbortSignal.timeout(20) } : {});
    await run(request, context).catch(() => undefined);
  };
  for (const at of ways.keys()) await one(at);
  await sleep(100);
  const before = await used();
  for (let at = 0; at < 96; at += 24) await Promise.all(Array.from({ length: 24 }, (_, index) => one(at + index)));
  await sleep(200);
  const after = await used();
  expect(after.files - before.files).toBeLessThanOrEqual(2);
  expect(after.resources - before.resources).toBeLessThanOrEqual(5);
});

it('one line of hundreds of megabytes, and binary output, are kept within bounds', async () => {
  const context = shellContext(await temporaryFolder());
  const before = process.memoryUsage().rss;
  const result = await run(
    { command: `head -c 300000000 /dev/zero | tr '\\0' x; head -c 1000000 /dev/urandom` },
    context,
  );
  expect(result).toMatchObject({ exitCode: 0, truncated: true });
  expect(result.stdout.length).toBeLessThanOrEqual(SHELL_BOUNDS.captureBytes + 100);
  expect(context.log.text('stdout').length).toBeLessThan(SHELL_BOUNDS.logHeadBytes + SHELL_BOUNDS.logTailBytes + 1000);
  expect(process.memoryUsage().rss - before).toBeLessThan(400e6);
  expect(JSON.stringify(result)).not.toContain('\\u0000');
});

it('a project that vanishes under a process, and before one, is said to be missing', async () => {
  const project = await temporaryFolder();
  expect(await run({ command: `rm -rf "$PWD"; echo on` }, shellContext(project))).toMatchObject({
    exitCode: 0,
    stdout: 'on\n',
  });
  await expect(run({}, shellContext(project))).rejects.toMatchObject({
    code: 'PROJECT_MISSING',
    message: expect.stringContaining('is not on this host'),
  });
  await rm(project, { recursive: true, force: true });
});

it('a store that is away for good holds up no step that was cancelled', async () => {
  const log = new MemoryLog();
  log.isAway = true;
  const stop = new AbortController();
  const running = run(
    { command: 'yes' },
    shellContext(await temporaryFolder(), { signal: stop.signal, store: { logs: log } }),
  );
  await sleep(300);
  stop.abort(new Error('cancelled'));
  const startedAt = performance.now();
  await expect(running).rejects.toThrow('cancelled');
  expect(performance.now() - startedAt).toBeLessThan(6_000);
});

it.each([SHELL_BOUNDS.lineLengthMax - 1, SHELL_BOUNDS.lineLengthMax, SHELL_BOUNDS.lineLengthMax + 1])(
  'a line is not cut within a character (%d before it)',
  (length) => {
    for (const cut of [1, 7, 5000]) {
      const splitter = new LineSplitter();
      const bytes = Buffer.from(`${'x'.repeat(length)}😀${'y'.repeat(20)}\n`);
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += cut) lines.push(...splitter.write(bytes.subarray(at, at + cut)));
      expect(lines).toHaveLength(1);
      expect(lines[0]).not.toMatch(/\p{Surrogate}/u);
    }
  },
);

it('a failure quotes no half of a character, which no server would take', async () => {
  const failing = run({ command: `exec sleep 60 # ${'x'.repeat(183)}😀`, timeoutMs: 50, graceMs: 100 });
  await expect(failing).rejects.toMatchObject({
    code: 'STEP_TIMEOUT',
    message: expect.stringMatching(/x…" ran longer/),
  });
  expect(new Failure('X', 'half \ud83d').message).toBe('half \uFFFD');
});
