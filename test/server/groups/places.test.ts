/** Places of a persona on real services: so many of its runs are at work, the others wait in order. */
import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import { perform } from '../../../operations/perform.ts';
import { runController } from '../../../runs/run-controller.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import type { RunPort } from '../../../operations/command.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
beforeAll(async () => {
  harness = await Harness.open();
  worker = await harness.startWorker();
});
afterAll(() => harness.close());

let calls = 0;
async function person(command: string, params: { [name: string]: string | number | null }): Promise<unknown> {
  calls += 1;
  const runs = runController(harness.client) as unknown as RunPort;
  const parts = { store: harness.store, registry: builtInRegistry(), runs };
  const asked = { command: `persona/${command}`, params, by: 'ada', project: harness.project };
  return perform(parts, { ...asked, id: `call ${calls}`, timeoutMs: 30_000 });
}

const publish = (name: string, id = name): Promise<unknown> =>
  harness.store.triggers.publish({ source: '@emit', id, name, data: null, project: null });

/** It notes that it began, works until its file is there, and notes that it ended. */
const busy = (log: string): Definition =>
  once(
    'busy',
    [
      create(log, { did: 'began $name' }),
      { type: 'shell', command: 'until [ -e "go-$name" ]; do sleep 0.05; done' },
      create(log, { did: 'ended $name' }),
    ],
    { inputs: { name: 'a' } },
  );

const letGo = (name: string): Promise<void> => writeFile(`${harness.project}/go-${name}`, '');

const said = async (log: string): Promise<string[]> => (await harness.rows(log)).map(({ did }) => did as string);

const placesOf = async (handles: readonly string[]) =>
  (await harness.store.leases.placesOf(handles)).filter(({ kind }) => kind === 'persona');

test('of eight runs four are at work, also over the kill of a worker, and the others follow in order', async () => {
  await person('create', { personaId: 'helper-ai' });
  const start = (name: string): Promise<string> =>
    harness.start(busy('eight'), { persona: 'helper-ai', inputs: { name } });
  const handles: string[] = [];
  for (let n = 0; n < 8; n += 1) {
    const handle = await start(`r${n}`);
    handles.push(handle);
    await until(async () => (await placesOf([handle])).length === 1);
  }
  await until(async () => (await said('eight')).length === 4);
  const waiting = handles.slice(4);
  const stands = new Map((await placesOf(waiting)).map(({ handle, isTaken, ahead }) => [handle, { isTaken, ahead }]));
  expect(waiting.map((handle) => stands.get(handle))).toEqual([4, 5, 6, 7].map((ahead) => ({ isTaken: false, ahead })));
  const [, second = ''] = waiting;
  const words = 'waits for one of the 4 places of helper-ai, with 1 run before this one';
  expect((await harness.command('status', second)).out).toContain(words);
  const status = JSON.parse((await harness.command('status', second, '--json')).out) as { place: unknown };
  expect(status.place).toEqual({ persona: 'helper-ai', places: 4, state: 'waiting', ahead: 1 });
  expect((await harness.command('list')).out).toMatch(
    /running, waits for a place of helper-ai, with 1 run before this/,
  );
  expect(await person('show', { personaId: 'helper-ai' })).toMatchObject({
    places: 4,
    atWork: 4,
    waiting: 4,
    waits: waiting,
  });
  expect((await harness.state(second)).reason).toBe('waits for a place of helper-ai, with 1 run before this one');

  await worker.kill9();
  await harness.startWorker();
  expect((await placesOf(handles)).filter(({ isTaken }) => isTaken)).toHaveLength(4);
  for (const [n, handle] of handles.entries()) {
    await letGo(`r${n}`);
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
    const began = (await said('eight')).filter((word) => word.startsWith('began'));
    expect(began.length).toBeLessThanOrEqual(n + 5);
  }
  expect((await said('eight')).filter((word) => word.startsWith('began')).slice(4)).toEqual(
    ['r4', 'r5', 'r6', 'r7'].map((name) => `began ${name}`),
  );
  expect(await placesOf(handles)).toEqual([]);
});

test('a run that waits for a person has no place, and takes one when it goes on', async () => {
  await person('create', { personaId: 'one-ai', places: 1 });
  const asking = once('asking', [
    create('asked', { did: 'before' }),
    { type: 'approval', message: 'go on?' },
    create('asked', { did: 'after' }),
  ]);
  const first = await harness.start(asking, { persona: 'one-ai' });
  await until(async () => (await harness.store.inbox.open(first)).length === 1);
  await until(async () => (await placesOf([first])).length === 0);
  const second = await harness.start(busy('asked'), { persona: 'one-ai', inputs: { name: 'other' } });
  await until(async () => (await said('asked')).includes('began other'));
  expect((await harness.command('answer', first, 'steps.1@1', 'approve', '--by', 'ada')).code).toBe(0);
  await harness.untilEvent(first, (event) => event.type === 'group' && event.state === 'waiting');
  expect(await said('asked')).toEqual(['before', 'began other']);
  await letGo('other');
  expect(await harness.result(second)).toMatchObject({ outcome: 'completed' });
  expect(await harness.result(first)).toMatchObject({ outcome: 'completed' });
  expect(await said('asked')).toEqual(['before', 'began other', 'ended other', 'after']);
});

test('four parents with nested runs never wait for each other', async () => {
  await person('create', { personaId: 'parent-ai' });
  const inner = once('inner', [
    { type: 'shell', command: 'sleep 0.3' },
    { type: 'sleep', durationMs: 200 },
  ]);
  const nested: Step = { type: 'sentinel', definition: inner };
  const around = once('around', [
    { type: 'parallel', branches: [[nested], [nested]] },
    { type: 'shell', command: 'true' },
  ]);
  const handles = await Promise.all(Array.from({ length: 4 }, () => harness.start(around, { persona: 'parent-ai' })));
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  for (const handle of handles)
    expect((await harness.events(handle)).filter(({ type }) => type === 'group')).toEqual([]);
});

test('who is stopped or terminated leaves the queue, and more places let more go on at once', async () => {
  await person('create', { personaId: 'queue-ai', places: 1 });
  const start = (name: string): Promise<string> =>
    harness.start(busy('queue'), { persona: 'queue-ai', inputs: { name } });
  const holder = await start('q0');
  await until(async () => (await said('queue')).includes('began q0'));
  const queue: string[] = [];
  for (const name of ['q1', 'q2', 'q3', 'q4']) {
    const handle = await start(name);
    queue.push(handle);
    await harness.untilEvent(handle, (event) => event.type === 'group' && event.state === 'waiting');
  }
  const [stopped = '', held = '', third = '', fourth = ''] = queue;
  await harness.say(stopped, 'stop');
  expect(await harness.result(stopped)).toMatchObject({ outcome: 'stopped' });
  // Held, it gives up its turn.
  await harness.say(held, 'pause');
  await until(async () => (await placesOf([held])).length === 0);
  await person('limit', { personaId: 'queue-ai', places: 2 });
  await until(async () => (await said('queue')).includes('began q3'));
  expect(await said('queue')).toEqual(['began q0', 'began q3']);
  await harness.workflow(holder).terminate('somebody ended it');
  await until(async () => (await said('queue')).includes('began q4'), 60_000);
  await harness.say(held, 'resume');
  await letGo('q3');
  expect(await harness.result(third)).toMatchObject({ outcome: 'completed' });
  await until(async () => (await said('queue')).includes('began q2'));
  for (const name of ['q2', 'q4']) await letGo(name);
  for (const handle of [held, fourth]) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
});

test('a loop over events has a place for each of its passes, and none between them', async () => {
  await person('create', { personaId: 'event-ai', places: 1 });
  const loop: Definition = {
    ...once('handler', [create('handled', { did: 'pass' })]),
    loop: { type: 'event', event: 'event-ai:task', maxIterations: 2 },
  };
  const handle = await harness.start(loop, { persona: 'event-ai' });
  await publish('event-ai:task');
  await until(async () => (await said('handled')).length === 1);
  await until(async () => (await placesOf([handle])).length === 0);
  const other = await harness.run(once('other', [{ type: 'shell', command: 'true' }]), { persona: 'event-ai' });
  expect(other.result).toMatchObject({ outcome: 'completed' });
  await publish('event-ai:task', 'again');
  await until(async () => (await said('handled')).length === 2);
  await harness.result(handle);
});
