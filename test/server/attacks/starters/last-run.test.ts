/** `--last` is the run that a person started last: what starts by itself, or by another's hand, comes between nobody and it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SentinelClient } from '../../../../client/client.ts';
import type { Json } from '../../../../language/json.ts';
import type { Definition, Step } from '../../../../language/model.ts';
import type { RunStarter } from '../../../../prisma/store/contract/contract.ts';
import { once, shell } from '../../harness/definitions.ts';
import { CLI, Harness, until } from '../../harness/harness.ts';

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

/** What a process of a step says with the command line. */
function within(...lines: string[][]): Step {
  const env = Object.entries({ ...harness.env, HOME: harness.project }).map(([name, value]) => `${name}='${value}'`);
  const say = (words: readonly string[]): string =>
    `env -i PATH="$PATH" ${env.join(' ')} '${process.execPath}' '${CLI}' ${words.join(' ')}`;
  return shell(lines.map(say).join('\n'), { outputTo: 'said' });
}

test('neither does a fork or an immediate trigger of a process of a step, which gives no handle of the engine', async () => {
  await harness.command('run', written(once('origin', [shell('true')])), '--id', 'forked-by-steps');
  const immediate = written(once('immediate', [shell('true')], { trigger: { type: 'immediate' } }));
  const { result } = await harness.run(
    once('by-process', [
      within(
        ['fork', 'forked-by-steps', '--at', 'steps.0@1', '--detach', '--id', 'fork-of-a-step'],
        ['trigger', 'add', immediate],
        ['run', immediate, '--detach', '--id', 'nightly-0123456789abcdef'],
      ),
    ]),
  );
  expect(JSON.stringify(result.outputs)).toContain('as the engine gives one');
  expect((await harness.store.runs.find('fork-of-a-step'))?.startedBy).toBe('step');
  expect(await startedBy('immediate')).toEqual(['step']);
  expect(await last()).not.toBe('fork-of-a-step');
});

test('ids of builds, spans and times are given by persons, and none of those that agents give', async () => {
  const file = written(once('typed', [shell('true')]));
  for (const handle of ['eval-1', 'job-1732750000000000', 'pr-17-00f067aa0ba902b7', 'nightly-2026-11-27T23:35:52Z'])
    expect((await harness.command('run', file, '--id', handle)).code).toBe(0);
  expect((await harness.command('run', file, '--id', 'agent:mine')).code).toBe(2);
});

test('a program does not say what started its run', async () => {
  const client = new SentinelClient({ env: harness.env });
  onTestFinished(() => client.close());
  const origin = { type: 'event', trigger: 'x', event: 'deploy:2', seq: 1 } as unknown as {
    type: 'saved';
    version: number;
    id: string;
  };
  await expect(
    client.start(once('forged', [shell('true')]), { project: harness.project, inputs: { event: {} }, origin }),
  ).rejects.toMatchObject({ code: 'USAGE' });
});
