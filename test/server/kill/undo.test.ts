/** kill -9 of the worker in the middle of a write: the state before the first attempt is the one that an undo restores. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Undone } from '../../../operations/checkpoints/undo.ts';
import { once, shell } from '../harness/definitions.ts';
import { until } from '../harness/harness.ts';
import { useHarnesses } from '../harness/opened.ts';

const openHarness = useHarnesses();

test('what a lost attempt wrote by half is taken back with what the next one wrote', async () => {
  const harness = await openHarness();
  const text = join(harness.project, 'text.txt');
  writeFileSync(text, 'as it was\n');
  const first = await harness.startWorker();
  const handle = await harness.start(
    once('half', [
      shell(
        'echo half > text.txt; test -e begun || { touch begun; sleep 60; }; echo whole > text.txt; rm begun; echo n > new.txt',
      ),
    ]),
  );
  await until(() => existsSync(join(harness.project, 'begun')));
  await first.kill9();
  await harness.loseProcesses();
  await harness.startWorker();
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(readFileSync(text, 'utf8')).toBe('whole\n');
  const undone = JSON.parse((await harness.command('undo', handle, '--json')).out) as Undone;
  expect(undone.files).toEqual([
    { path: 'new.txt', done: 'removed' },
    { path: 'text.txt', done: 'restored' },
  ]);
  expect(readFileSync(text, 'utf8')).toBe('as it was\n');
  expect(readdirSync(harness.project).toSorted()).toEqual(['.sentinel', 'text.txt']);
});

test('a run that is ended while nobody works: what its lost step wrote is restored when that is forced', async () => {
  const harness = await openHarness();
  writeFileSync(join(harness.project, 'text.txt'), 'as it was\n');
  const worker = await harness.startWorker();
  const handle = await harness.start(once('lost', [shell('echo half > text.txt; touch begun; sleep 60')]));
  await until(() => existsSync(join(harness.project, 'begun')));
  await worker.kill9();
  await harness.command('cancel', handle, '--force');
  const held = await harness.command('undo', handle);
  expect(held).toMatchObject({ code: 1 });
  expect(held.out).toContain('nobody saw steps.0@1 end');
  expect(await harness.command('undo', handle, '--force')).toMatchObject({ code: 0 });
  expect(readdirSync(harness.project).toSorted()).toEqual(['.sentinel', 'text.txt']);
  expect(readFileSync(join(harness.project, 'text.txt'), 'utf8')).toBe('as it was\n');
});
