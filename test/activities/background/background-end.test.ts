/** How processes that outlive their step end: by a bound, by their run, with their worker; and what of a secret is kept with them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { secretsOf } from '../../../operations/secrets/secrets.ts';
import { BackgroundProcesses } from '../../../operations/shell/background.ts';
import type { WatchResult } from '../../../operations/shell/watch.ts';
import { sealEnvironment } from '../../../runs/seal-environment.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { finished, started, useStore } from '../../store/harness/opened.ts';
import { openRun, texts, until } from './background-run.ts';
import { isAlive, isGroupAlive } from '../harness/step-context.ts';

const opened = useStore();

/** Grows by 5 MB every 10 ms, and touches what it holds. */
const grows = `console.log('begun'); const held = []; setInterval(() => held.push(Buffer.alloc(5e6, 1)), 10);`;

test('one that passes its bound on memory says so: in what a watch gives, as its last line, and in the log', async () => {
  const { handle, run, start } = await openRun(opened);
  const { executionId } = await start(process.execPath, { args: ['-e', grows] }, { confinement: { memoryMb: 150 } });
  const result = await run<WatchResult>('code/shell/watch', { executionId });
  expect(result).toMatchObject({
    reason: 'finished',
    success: false,
    failure: {
      code: 'MEMORY_LIMIT',
      message: expect.stringMatching(/^".*" held \d+ MB and was ended; raise safety\.maxMemoryMb \(150\)/),
    },
  });
  expect(result.failure?.details).toMatchObject({ maxMemoryMb: 150, usedMb: expect.any(Number) });
  expect(Number(result.failure?.details?.['usedMb'])).toBeGreaterThan(150);
  expect(texts(result)).toEqual(['begun', result.failure?.message]);
  expect(await opened.store.logs.read(handle, 'stderr', 0, 10)).toEqual([result.failure?.message]);
});

test('one that ends by itself has no such failure', async () => {
  const { run, start } = await openRun(opened);
  const { executionId } = await start('exit 9', {}, { confinement: { memoryMb: 150 } });
  const result = await run<WatchResult>('code/shell/watch', { executionId });
  expect(result).toMatchObject({ exitCode: 9 });
  expect(result.failure).toBeUndefined();
});

test('a secret is given to it, also by the worker that starts it again, and is kept nowhere with it', async () => {
  const { handle, run, start, background } = await openRun(opened);
  const env = await sealEnvironment(opened.store, handle, { DEPLOY_TOKEN: 's3cret-value', STAGE: 'production' });
  const token = env['DEPLOY_TOKEN'] ?? '';
  const secrets = await secretsOf(opened.store, env);
  const { executionId } = await start(
    'echo "$A $B" "${#A}"; sleep 1.5',
    { env: { A: token, B: env['STAGE'] ?? '' } },
    { secrets },
  );
  const watching = run<WatchResult>('code/shell/watch', { executionId });
  const expected = [`${token} production 12`];
  await until(async () => (await opened.store.executions.lines(executionId, 0)).length === 1);
  expect((await opened.store.executions.lines(executionId, 0)).map(({ text }) => text)).toEqual(expected);
  await background.close();
  const second = new BackgroundProcesses();
  onTestFinished(() => second.close());
  second.open(opened.store, () => Promise.resolve(null));
  expect(texts(await watching)).toEqual(expected);
  expect(await opened.store.logs.read(handle, 'stdout', 0, 10)).toEqual([
    '[env DEPLOY_TOKEN] [env STAGE] 12',
    '[env DEPLOY_TOKEN] [env STAGE] 12',
  ]);
  const rows = await opened.database.query(
    'select * from executions e left join execution_lines l on l.execution_id = e.id left join log_chunks c on c.handle = e.handle where e.id = $1',
    [executionId],
  );
  expect(rows.length).toBeGreaterThan(0);
  expect(JSON.stringify(rows)).not.toContain('s3cret');
});

test('one whose secret is gone is not started again, and says why', async () => {
  const { handle, run, start, background } = await openRun(opened);
  const env = await sealEnvironment(opened.store, handle, { DEPLOY_TOKEN: 's3cret-value' });
  const secrets = await secretsOf(opened.store, env);
  const { executionId } = await start('sleep 60', { env: { A: env['DEPLOY_TOKEN'] ?? '' } }, { secrets });
  await background.close();
  await opened.database.query('delete from sealed_values');
  // Of a process that has never seen the value.
  const store = openStore({ url: opened.database.url });
  const second = new BackgroundProcesses();
  second.open(store, () => Promise.resolve(null));
  const result = await run<WatchResult>('code/shell/watch', { executionId });
  expect([result.exitCode, ...texts(result)]).toEqual([127, expect.stringContaining('DEPLOY_TOKEN')]);
  await second.close();
  await store.close();
});

const pidIn = async (project: string): Promise<number> => {
  const file = join(project, 'inner');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  return Number(readFileSync(file, 'utf8'));
};

/** Leaves its group, its session and its environment behind, as daemons of tools do. */
const escape = `env -i PATH="$PATH" setsid sh -c 'echo $$ > inner; exec sleep 60'`;

test.each([
  ['fails', { status: 'failed', outcome: 'failed' }],
  ['is cancelled', { status: 'cancelled', outcome: 'cancelled' }],
  ['is stopped', { outcome: 'stopped' }],
] as const)('a run that %s ends its processes, also one that left group and environment', async (_name, how) => {
  const { handle, project, start } = await openRun(opened);
  const { executionId, pid } = await start(`${escape} & sleep 60`);
  const inner = await pidIn(project);
  await opened.store.events.append(handle, [{ ...started(1), project }, finished(2, how)]);
  await until(async () => (await opened.store.executions.find(executionId))?.isRunning === false);
  expect(isAlive(pid)).toBe(false);
  await until(() => !isAlive(inner));
});

test('what a process left behind when it ended goes with the worker', async () => {
  const { project, run, start, background } = await openRun(opened);
  const { executionId } = await start(`setsid sh -c 'echo $$ > inner; exec sleep 60' & sleep 0.3`);
  const inner = await pidIn(project);
  await run<WatchResult>('code/shell/watch', { executionId });
  expect(isAlive(inner)).toBe(true);
  await background.close();
  expect(await isGroupAlive(inner)).toBe(false);
});

test('a run that comes to its end while a process starts ends it', async () => {
  const { handle, project, start } = await openRun(opened);
  await opened.store.events.append(handle, [{ ...started(1), project }, finished(2)]);
  const { pid } = await start('sleep 60');
  await until(() => !isAlive(pid));
});
