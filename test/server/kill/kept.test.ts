/** Processes of steps outlive their worker: killed, replaced by a new build, or cancelled while there is none. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { once, shell } from '../harness/definitions.ts';
import { until } from '../harness/harness.ts';
import { isAlive, useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();

const linesOf = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

const branches = 20;

test('a new build in the middle of 20 running steps repeats none of them', async () => {
  const definition = once('deployed', [
    {
      type: 'parallel',
      branches: Array.from({ length: branches }, (_, i) => [
        shell(`echo begun ${i} >> effects; sleep 6; echo ended ${i} >> effects; echo said ${i}`, {
          outputTo: `out${i}`,
        }),
      ]),
    },
  ]);
  const harness = await openHarness();
  const first = await harness.startWorker();
  const handle = await harness.start(definition);
  const effects = join(harness.project, 'effects');
  await until(() => linesOf(effects).length >= branches);
  await first.leave();
  await harness.startWorker();
  const result = await harness.result(handle);
  expect(result.outcome).toBe('completed');
  for (let i = 0; i < branches; i += 1)
    expect(result.outputs).toMatchObject({ [`out${i}`]: { exitCode: 0, stdout: `said ${i}\n` } });
  const told = Array.from({ length: branches }, (_, i) => [`begun ${i}`, `ended ${i}`]).flat();
  expect(linesOf(effects).toSorted()).toEqual(told.toSorted());
});

test('a step whose worker is killed again and again runs once, and its log is whole', async () => {
  const definition = once('built', [
    shell('for i in $(seq 1 60); do echo part $i; echo $i >> effects; sleep 0.3; done', { outputTo: 'out' }),
  ]);
  const harness = await openHarness();
  let worker = await harness.startWorker();
  const handle = await harness.start(definition);
  const effects = join(harness.project, 'effects');
  for (const reached of [3, 20, 40]) {
    await until(() => linesOf(effects).length >= reached, 120_000);
    await worker.kill9();
    worker = await harness.startWorker();
  }
  const { outputs } = await harness.result(handle);
  const parts = Array.from({ length: 60 }, (_, i) => String(i + 1));
  expect(linesOf(effects)).toEqual(parts);
  expect(outputs).toMatchObject({ out: { exitCode: 0, stdout: parts.map((part) => `part ${part}\n`).join('') } });
  const logged = await harness.store.logs.read(handle, 'combined', 0, 1_000);
  expect(logged.filter((line) => !line.startsWith('sentinel:'))).toEqual(parts.map((part) => `part ${part}`));
  expect(logged.filter((line) => line.startsWith('sentinel:')).length).toBeLessThanOrEqual(3);
});

test('checks of a project whose worker is killed run once each, and the last of them with the one after', async () => {
  const harness = await openHarness();
  const at = (...names: string[]): string => join(harness.project, ...names);
  const effects = at('effects');
  const runs = (name: string): string =>
    `echo begun ${name} >> ${effects}; until [ -e ${at(`${name}-may-end`)} ]; do sleep 0.1; done; echo ended ${name} >> ${effects}`;
  mkdirSync(at('node_modules', '.bin'), { recursive: true });
  writeFileSync(at('tsconfig.json'), '{}');
  writeFileSync(at('node_modules', '.bin', 'tsc'), `#!/bin/sh\n${runs('types')}\n`, { mode: 0o755 });
  writeFileSync(at('package.json'), JSON.stringify({ scripts: { test: runs('tests') } }));
  let worker = await harness.startWorker();
  const handle = await harness.start(
    once('checked', [{ type: 'command', command: 'code/verify', params: {}, outputTo: 'checked' }]),
  );
  const killed = async (): Promise<void> => {
    await worker.kill9();
    worker = await harness.startWorker();
  };
  await until(() => linesOf(effects).length === 1);
  await killed();
  writeFileSync(at('types-may-end'), '');
  await until(() => linesOf(effects).length === 3, 60_000);
  await killed();
  writeFileSync(at('tests-may-end'), '');
  const { outcome, outputs } = await harness.result(handle);
  expect({ outcome, outputs }).toMatchObject({
    outcome: 'completed',
    outputs: {
      checked: {
        success: true,
        checks: [
          { name: 'typescript', success: true },
          { name: 'npm test', success: true },
        ],
      },
    },
  });
  expect(linesOf(effects)).toEqual(['begun types', 'ended types', 'begun tests', 'ended tests']);
});

test('a run that is cancelled while there is no worker leaves no process, and nothing of it on disk', async () => {
  const harness = await openHarness();
  const worker = await harness.startWorker();
  const handle = await harness.start(once('ended', [shell('echo $$ > pid; sleep 300')]));
  const pid = join(harness.project, 'pid');
  await until(() => linesOf(pid).length === 1);
  await worker.kill9();
  await harness.workflow(handle).terminate('no longer wanted');
  await sleep(500);
  expect(isAlive(Number(linesOf(pid)[0]))).toBe(true);
  await harness.startWorker();
  await until(() => !isAlive(Number(linesOf(pid)[0])));
  const kept = join(harness.project, '.sentinel', 'processes');
  await until(() => readdirSync(kept).every((host) => readdirSync(join(kept, host)).length === 0));
});
