/** Processes that outlive their step: their lines, their end, who watches them, and whose they are. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { BackgroundProcesses } from '../../../operations/shell/background.ts';
import { portIn } from '../../../world/processes/served-port.ts';
import type { WatchResult } from '../../../operations/shell/watch.ts';
import type { JsonObject } from '../../../language/json.ts';
import { finished, started, useStore } from '../../store/harness/opened.ts';
import { openRun, texts, until } from './background-run.ts';
import { isAlive } from '../harness/step-context.ts';

const opened = useStore();

async function publishedLines(handle: string): Promise<string[]> {
  const consumed: { [glob: string]: number } = {};
  const lines: string[] = [];
  for (;;) {
    const glob = `sentinel:${handle}:line`;
    const event = await opened.store.signals.next({ handle, glob, withCause: false, consumed });
    if (event === null) return lines;
    consumed[glob] = event.position;
    lines.push(((event.data as JsonObject)['line'] as string) ?? '');
  }
}

const RULES = [
  { pattern: String.raw`error TS\d+`, classification: 'error', action: 'Emit' },
  { pattern: String.raw`warning TS\d+|TS`, classification: 'warning' },
  { pattern: 'Successfully compiled', classification: 'success', action: 'Emit' },
];

test('starting returns at once; a watch that comes later sees all lines, classified by the first rule that fits', async () => {
  const { handle, project, run, start } = await openRun(opened);
  const { executionId, pid } = await start(
    `echo begin; while [ ! -e heard ]; do sleep 0.05; done; echo 'a.ts: error TS2304' >&2; while [ ! -e go ]; do sleep 0.05; done; echo 'warning TS1'; printf 'Successfully compiled\\r\\nlast'; exit 3`,
  );
  expect(isAlive(pid)).toBe(true);
  expect(await run('code/shell/sentinel', { executionId, rules: RULES })).toEqual({ executionId, rules: 3 });
  // Two pipes that are read late are read in any order.
  for (const [lines, file] of [
    [1, 'heard'],
    [2, 'go'],
  ] as const) {
    const said = () => opened.store.logs.read(handle, 'combined', 0, 10);
    await expect.poll(said, { timeout: 30_000 }).toHaveLength(lines);
    writeFileSync(join(project, file), '');
  }
  const result = await run<WatchResult>('code/shell/watch', { executionId });
  expect(result).toMatchObject({ executionId, reason: 'finished', exitCode: 3, success: false, length: 5 });
  expect(
    result.lines.map(({ n, stream, line, classification, rule }) => [n, stream, line, classification, rule]),
  ).toEqual([
    [1, 'stdout', 'begin', 'info', undefined],
    [2, 'stderr', 'a.ts: error TS2304', 'error', RULES[0]?.pattern],
    [3, 'stdout', 'warning TS1', 'warning', RULES[1]?.pattern],
    [4, 'stdout', 'Successfully compiled', 'success', RULES[2]?.pattern],
    [5, 'stdout', 'last', 'info', undefined],
  ]);
  expect(result.matches.map(({ n }) => n)).toEqual([2, 3, 4]);
  expect(await publishedLines(handle)).toEqual(['a.ts: error TS2304', 'Successfully compiled']);
  expect(await run<WatchResult>('code/shell/watch', { executionId })).toEqual(result);
  expect((await opened.store.logs.read(handle, 'stdout', 0, 10))[0]).toBe('begin');
});

test('a watch ends at the first error, or the first match, and the process goes on', async () => {
  const { run, start } = await openRun(opened);
  const { executionId, pid } = await start('echo one; sleep 0.2; echo warn; sleep 0.2; echo bad; sleep 30');
  const rules = [
    { pattern: 'warn', classification: 'warning' },
    { pattern: 'bad', classification: 'error' },
  ];
  const match = await run<WatchResult>('code/shell/watch', { executionId, rules, until: 'match' });
  expect([match.reason, match.exitCode, texts(match)]).toEqual(['match', null, ['one', 'warn']]);
  const error = await run<WatchResult>('code/shell/watch', { executionId, rules, until: 'error' });
  expect([error.reason, texts(error)]).toEqual(['error', ['one', 'warn', 'bad']]);
  expect(isAlive(pid)).toBe(true);
  await expect(run('code/shell/watch', { executionId, timeoutMs: 100 })).rejects.toMatchObject({
    code: 'STEP_TIMEOUT',
  });
  await expect(run('code/shell/watch', { executionId: 'exec-none' })).rejects.toMatchObject({
    code: 'EXECUTION_NOT_FOUND',
  });
  await expect(
    run('code/shell/watch', { executionId, rules: [{ pattern: '(', classification: 'x' }] }),
  ).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

test('a watch that is cancelled ends at once', async () => {
  const { run, start } = await openRun(opened);
  const { executionId } = await start('sleep 30');
  const cancelling = new AbortController();
  const watching = run('code/shell/watch', { executionId }, { signal: cancelling.signal });
  await sleep(100);
  cancelling.abort(new Error('cancelled'));
  await expect(watching).rejects.toThrow('cancelled');
});

test('a pattern that would hang a backtracking engine does not', async () => {
  const { run, start } = await openRun(opened);
  const { executionId } = await start(`printf '%0900d\\n' 0 | tr 0 a`);
  const startedAt = Date.now();
  await run<WatchResult>('code/shell/watch', { executionId, rules: [{ pattern: '(a+)+$b', classification: 'x' }] });
  expect(Date.now() - startedAt).toBeLessThan(5_000);
});

test('a result is bounded; what rules matched goes before the rest', async () => {
  const { run, start } = await openRun(opened);
  const { executionId } = await start(`seq 1 60000 | awk '{ print ($1 == 500 ? "ERROR " : "line ") $1 }'`);
  const result = await run<WatchResult>('code/shell/watch', {
    executionId,
    rules: [{ pattern: 'ERROR', classification: 'error' }],
  });
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(1.2 * 1024 * 1024);
  expect(result.matches.map(({ line }) => line)).toEqual(['ERROR 500']);
  expect(result.lines.at(-1)?.line).toBe('line 60000');
  expect((result.dropped ?? 0) + result.length).toBe(60_000);
});

test('the end of the run ends its processes with all that they started', async () => {
  const { handle, project, start } = await openRun(opened);
  const { executionId, pid } = await start(`trap '' HUP; (setsid sleep 60 & echo $! > inner); sleep 60`, {});
  const { readFileSync, existsSync } = await import('node:fs');
  await until(() => existsSync(`${project}/inner`));
  await sleep(100);
  await opened.store.events.append(handle, [{ ...started(1), project }, finished(2)]);
  await until(async () => (await opened.store.executions.find(executionId))?.isRunning === false);
  expect(isAlive(pid)).toBe(false);
  const inner = Number(readFileSync(`${project}/inner`, 'utf8'));
  await until(() => !isAlive(inner));
});

test('the process of a worker that is gone is started again by another, for whoever watches it', async () => {
  const first = await openRun(opened);
  const { executionId, pid } = await first.start('echo $$ >> pids; echo begin; sleep 1.5; echo end');
  const watching = first.run<WatchResult>('code/shell/watch', { executionId });
  await sleep(300);
  await first.background.close();
  expect(isAlive(pid)).toBe(false);
  const second = new BackgroundProcesses();
  onTestFinished(() => second.close());
  second.open(opened.store, () => Promise.resolve(null));
  const result = await watching;
  expect(result).toMatchObject({ reason: 'finished', exitCode: 0 });
  expect(texts(result)).toEqual(['begin', 'end']);
});

test('a process that cannot be started fails its step, and a second try may succeed', async () => {
  const { run } = await openRun(opened);
  const params = { command: 'nothing-of-that-name', args: [], wait: false };
  await expect(run('code/shell/execute', params, { key: 'steps.0@1' })).rejects.toMatchObject({
    code: 'SHELL_NOT_STARTED',
  });
  const again = { command: 'true', args: [], wait: false };
  const first = await run<{ executionId: string }>('code/shell/execute', again, { key: 'steps.0@1' });
  expect(await run('code/shell/execute', again, { key: 'steps.0@1' })).toMatchObject({
    executionId: first.executionId,
  });
});

test.each([
  ['  ➜  Local:   \u001B[36mhttp://localhost:\u001B[1m5173\u001B[22m/', 5173],
  ['Accepting connections at http://localhost:3000', 3000],
  ['Serving HTTP on 0.0.0.0 port 8000 (http://0.0.0.0:8000/) ...', 8000],
  ['listening on port 8080', 8080],
  ['[::1]:4000', 4000],
  ['built in 1200 ms at 10:42:07', null],
  ['src/main.ts:12:3 error', null],
])('the port in %j is %j', (line, port) => {
  expect(portIn(line)).toBe(port);
});

test('a served port is waited for: named by the output, or listened on; a stated one is told', async () => {
  const { start, run } = await openRun(opened);
  const said = await start('sleep 0.2; echo "ready on http://localhost:4321/"; sleep 30', { port: true });
  expect(said.port).toBe(4321);
  const silent = `require("node:net").createServer().listen(0, "127.0.0.1", function () { require("node:fs").writeFileSync("port", String(this.address().port)); })`;
  const listening = await start(`${process.execPath} -e '${silent}'`, { port: true });
  expect(listening.port).toBeGreaterThan(1024);
  expect((await start('true', { port: true })).port).toBeUndefined();
  const stated = await start('echo "port is $PORT"', { port: 6001 });
  expect(stated.port).toBe(6001);
  expect(texts(await run<WatchResult>('code/shell/watch', { executionId: stated.executionId }))).toEqual([
    'port is 6001',
  ]);
});
