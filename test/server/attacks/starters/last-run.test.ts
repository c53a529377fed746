/** `--last` is the run that a person started last: what starts by itself, or by another's hand, comes between nobody and it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../../language/json.ts';
import type { Definition } from '../../../../language/model.ts';
import type { RunStarter } from '../../../../prisma/store/contract/contract.ts';
import { once, shell } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

const last = async (): Promise<string> =>
  (JSON.parse((await harness.command('status', '--last', '--json')).out) as { handle: string }).handle;
const startedBy = async (name: string): Promise<(RunStarter | undefined)[]> =>
  (await harness.store.runs.list({ name })).map((run) => run.startedBy);

function written(definition: Definition): string {
  const file = join(harness.project, `${definition.name}.json`);
  writeFileSync(file, JSON.stringify(definition));
  return file;
}

test('neither a step, nor a nested run, nor an event, nor a process of a step starts the last run', async () => {
  await harness.command(
    'trigger',
    'add',
    written(once('on-event', [shell('true')], { trigger: { type: 'event', event: 'go' } })),
  );
  const child = once('child', [shell('true')]);
  const own = await harness.start(
    once('own', [
      {
        type: 'command',
        command: 'sentinel/run',
        params: { definition: once('by-step', [shell('true')]) as unknown as Json },
      },
      { type: 'sentinel', definition: child },
      { type: 'emit', event: 'go', data: {} },
    ]),
  );
  expect(await harness.result(own)).toMatchObject({ outcome: 'completed' });
  for (const name of ['by-step', 'on-event', 'child']) await until(async () => (await startedBy(name)).length === 1);
  expect([await startedBy('by-step'), await startedBy('child'), await startedBy('on-event')]).toEqual([
    ['step'],
    ['step'],
    ['trigger'],
  ]);
  expect(await last()).toBe(own);
  expect(await startedBy('own')).toEqual(['person']);
});

test('the command line and a fork by a person do', async () => {
  const file = written(once('typed', [shell('true')]));
  expect((await harness.command('run', file, '--id', 'typed-one')).code).toBe(0);
  expect(await last()).toBe('typed-one');
  expect((await harness.command('fork', 'typed-one', '--at', 'steps.0@1', '--id', 'typed-two', '--detach')).code).toBe(
    0,
  );
  expect(await last()).toBe('typed-two');
});

test.each(['run-0123456789abcdef', 'nightly-0123456789abcdef', 'eval-weekly-m1-i1-r1', 'nightly-2026-11-27T10:00:00Z'])(
  'nobody gives a run the handle that the engine would give another: %s',
  async (handle) => {
    const { code, err } = await harness.command('run', written(once('typed', [shell('true')])), '--id', handle);
    expect(code).toBe(2);
    expect(err).toContain('as the engine gives one');
  },
);

test('what only looks like one is given', async () => {
  const file = written(once('typed', [shell('true')]));
  for (const handle of ['eval-1', 'build-0123456789abcde', 'run-2026-11-27'])
    expect((await harness.command('run', file, '--id', handle)).code).toBe(0);
});
