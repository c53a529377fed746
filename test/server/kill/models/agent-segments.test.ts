/** Agent segments: turns and their calls in one activity, over dead workers, pauses and long calls. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { once } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import { ModelDouble } from '../../harness/models/model-double.ts';
import { answers, calls } from '../../harness/models/model-runs.ts';
import type { Reply } from '../../../models/wires/double.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeEach(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

const paid = (): number => model.double.asked.filter(({ path }) => path === wire.path).length;
const kept = (n: number, silentMs = 0): Reply => ({
  ...calls({ id: String(n), name: 'data_create', input: { collection: 'kept', data: { n } } }),
  silentMs,
});

const definition = (durability?: 'step') =>
  once(
    'agent',
    [
      {
        type: 'llm',
        model: 'openai/some-model',
        prompt: 'Keep ten',
        tools: ['data/create', 'code/read', 'code/shell/execute'],
        outputTo: 'answer',
      },
      { type: 'emit', event: 'asked', data: { turns: '$answer.turns', usage: '$answer.usage.tokens' } },
    ],
    durability === undefined ? {} : { durability },
  );

async function activities(handle: string): Promise<string[]> {
  const { events } = await harness.history(handle);
  return (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    scheduled ? [scheduled.activityType?.name ?? ''] : [],
  );
}

const finished = async (handle: string): Promise<string[]> =>
  (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' ? [`${event.key} ${event.step} ${event.outcome}`] : [],
  );

test('ten turns with quick calls are one activity, and the same events as turns of their own', async () => {
  await harness.startWorker(model.env);
  const traces: string[][] = [];
  for (const durability of [undefined, 'step'] as const) {
    model.next(...Array.from({ length: 9 }, (_, n) => kept(n)), answers('Done.'));
    const handle = await harness.start(definition(durability));
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
    expect((await activities(handle)).filter((name) => name === 'llm' || name === 'agent')).toEqual(
      durability === undefined ? ['agent'] : Array.from({ length: 10 }, () => 'llm'),
    );
    traces.push(await finished(handle));
    expect((await harness.state(handle)).steps).toBe(20);
    expect((await harness.command('replay', handle)).code).toBe(0);
  }
  expect(traces[0]).toEqual(traces[1]);
  expect(await harness.rows('kept')).toHaveLength(18);
});

test('a worker that dies in a segment costs the turn under way, and no call is done twice', async () => {
  model.next(kept(0), kept(1), kept(2), { silentMs: Number.POSITIVE_INFINITY }, kept(3), answers('Done.'));
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  await until(() => paid() === 4);
  await first.kill9();
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(paid()).toBe(6);
  expect((await harness.rows('kept')).map((row) => row['n'])).toEqual([0, 1, 2, 3]);
  expect((await finished(handle)).filter((line) => line.includes('/call.'))).toEqual(
    [1, 2, 3, 4].map((turn) => `steps.0@1/turn.${turn}/call.0 command ok`),
  );
  expect((await activities(handle)).filter((name) => name === 'agent')).toEqual(['agent']);
  expect((await harness.command('replay', handle)).code).toBe(0);
});

const shell = (id: string, command: string): { id: string; name: string; input: { command: string } } => ({
  id,
  name: 'code_shell_execute',
  input: { command },
});
const lines = (name: string): string[] => {
  const file = join(harness.project, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};
const takenOver = async (handle: string): Promise<number> =>
  (await harness.store.logs.read(handle, 'combined', 0, 1_000)).filter((line) => line.includes('the same process'))
    .length;
const untilGo = 'echo begun >> log; until [ -e go ]; do sleep 0.05; done; echo ended >> log';

test('calls that write and calls of the shell are part of the same activity', async () => {
  model.next(
    kept(0),
    calls(shell('1', 'echo one >> log'), shell('2', 'echo two >> log')),
    calls(shell('3', 'cat log')),
    answers('Done.'),
  );
  await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect((await activities(handle)).filter((name) => name !== 'emit')).toEqual(['agent']);
  expect(lines('log')).toEqual(['one', 'two']);
  expect(JSON.stringify(model.double.asked.at(-1)?.body)).toContain(String.raw`one\\ntwo`);
  expect((await harness.command('replay', handle)).code).toBe(0);
});

test('a pause is heard in the middle of a turn, and nothing is called while it lasts', async () => {
  model.next(kept(0), kept(1, 1500), answers('Done.'));
  await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  await until(() => paid() === 2);
  await harness.say(handle, 'pause');
  await sleep(2500);
  expect(await harness.rows('kept')).toHaveLength(1);
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(await harness.rows('kept')).toHaveLength(2);
  expect(paid()).toBe(3);
});

test('a call under way is shown, and a pause meanwhile holds the run before the next one', async () => {
  model.next(calls(shell('1', untilGo), shell('2', 'echo next >> log')), answers('Done.'));
  await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  await until(() => lines('log').length === 1);
  await until(async () =>
    (await harness.events(handle)).some(({ type, key }) => type === 'step-started' && key.endsWith('turn.1/call.0')),
  );
  const askedAt = Date.now();
  await harness.say(handle, 'pause');
  expect((await harness.state(handle)).status).toBe('paused');
  expect(Date.now() - askedAt).toBeLessThan(10_000);
  writeFileSync(join(harness.project, 'go'), '');
  await until(() => lines('log').length === 2);
  await sleep(1500);
  expect(lines('log')).toEqual(['begun', 'ended']);
  await harness.say(handle, 'resume');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(lines('log')).toEqual(['begun', 'ended', 'next']);
  const started = (await harness.events(handle)).filter(({ type }) => type === 'step-started').map(({ key }) => key);
  expect(started.toSorted()).toEqual([...new Set(started)].toSorted());
  expect((await harness.command('replay', handle)).code).toBe(0);
});

test('a worker that dies in a call repeats none, and each event of it is there once', async () => {
  model.next(
    calls(shell('1', 'echo first >> log'), shell('2', untilGo), shell('3', 'echo last >> log')),
    answers('Done.'),
  );
  let worker = await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  for (const deaths of [1, 2]) {
    await until(() => lines('log').includes('begun'));
    await until(async () =>
      (await harness.events(handle)).some(({ type, key }) => type === 'step-started' && key.endsWith('turn.1/call.1')),
    );
    await worker.kill9();
    worker = await harness.startWorker(model.env);
    await until(async () => (await takenOver(handle)) === deaths);
  }
  writeFileSync(join(harness.project, 'go'), '');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(lines('log')).toEqual(['first', 'begun', 'ended', 'last']);
  expect(paid()).toBe(2);
  const events = (await harness.events(handle)).filter(({ key }) => key.includes('/call.'));
  expect(events.map(({ type, key }) => `${type} ${key.split('/').at(-1)}`)).toEqual(
    [0, 1, 2].flatMap((call) => [`step-started call.${call}`, `step-finished call.${call}`]),
  );
  expect((await harness.command('replay', handle)).code).toBe(0);
}, 180_000);

test('a cancelled run ends while a segment waits for the model, and tells what was used', async () => {
  model.next(kept(0), { silentMs: Number.POSITIVE_INFINITY });
  await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  await until(() => paid() === 2);
  await harness.workflow(handle).cancel();
  await until(async () => (await harness.events(handle)).some(({ type }) => type === 'run-finished'));
  const events = await harness.events(handle);
  expect(events.find((event) => event.type === 'step-finished' && event.step === 'llm')).toMatchObject({
    outcome: 'cancelled',
    usage: { tokens: expect.any(Number) as number },
  });
  await model.double.asked.at(-1)?.closed;
});

test('a worker that stood still for longer than its heartbeats may cancels nothing: another attempt goes on', async () => {
  model.next(kept(0), { silentMs: Number.POSITIVE_INFINITY }, kept(1), answers('Done.'));
  const worker = await harness.startWorker(model.env);
  const handle = await harness.start(definition());
  await until(() => paid() === 2);
  worker.signal('SIGSTOP');
  await sleep(20_000);
  worker.signal('SIGCONT');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(await harness.rows('kept')).toHaveLength(2);
}, 150_000);
