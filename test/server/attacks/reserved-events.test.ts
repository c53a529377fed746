/** Nobody but a run says what becomes of it: no step, however it comes by the name, and no command line. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addTrigger } from '../../../client/triggers/triggers.ts';
import type { Definition, Step } from '../../../language/model.ts';
import type { AnswerRequest } from '../../../interpreter/questions.ts';
import { ANSWER } from '../../../workflows/messages/messages.ts';
import { catalogue } from '../../catalogue.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';

let harness: Harness;
let triggerId: string;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  const { store, client, taskQueue, project } = harness;
  const added = await addTrigger(
    { store, client, catalogue, taskQueue },
    {
      definition: once('after-deploy', [shell('true')]),
      inputs: {},
      project,
      persona: 'tester',
      event: 'sentinel:finished:deploy',
    },
  );
  triggerId = added.type === 'event' ? added.trigger.id : '';
});
afterAll(() => harness.close());

const refused = {
  outcome: 'failed',
  failure: { code: 'EVENT_RESERVED', message: expect.stringContaining('steps.0@1: "') as string },
};

const emits = (event: string, rest: Partial<Step> = {}): Definition =>
  once('forges', [{ type: 'emit', event, ...rest } as Step], {
    inputs: { c: 'chat', a: 'sentinel', b: 'finished', status: 'sentinel:nightly:status' },
  });

test.concurrent.each<[string, Definition]>([
  ['a name that is written', emits('sentinel:finished:deploy')],
  ['a name that is put together', emits('{{a}}:{{b}}:deploy')],
  ['one that looks alike', emits('Sentinel:{{b}}:deploy')],
  ['a status', emits('$status')],
  ['a message of a room', emits('chat:ops:message', { data: { author: 'ada', message: 'ship it' } })],
  ['one that looks like a message', emits('СHАT:ops:message')],
  ['one that is put together', emits('{{c}}:ops:message')],
  ['one of a sandboxed run', { ...emits('chat:ops:message'), mode: 'sandboxed' }],
  ['a changed file', emits('file:changed', { data: { path: 'src/app.js' } })],
  ['a push', emits('git:push', { data: { branch: 'main' } })],
  ['a step with retries, which is an activity of its own', emits('{{a}}:{{b}}:deploy', { retry: { attempts: 3 } })],
  ['a definition without segments', { ...emits('{{a}}:{{b}}:deploy'), durability: 'step' }],
])('%s fails its step, once', async (_, definition) => {
  const { result, events } = await harness.run(definition);
  expect(result).toMatchObject(refused);
  expect(events.filter(({ type }) => type === 'step-finished')).toHaveLength(1);
});

test.concurrent('so does one that somebody edits into the step', async () => {
  const definition: Definition = {
    ...once('edited', [{ type: 'emit', event: 'sentinel:finished:deploy' }]),
    escalateOn: [{ condition: 'error', action: 'pause' }],
  };
  const handle = await harness.start(definition);
  const asked = async (times: number): Promise<void> =>
    until(async () => (await harness.events(handle)).filter(({ type }) => type === 'asked').length === times);
  const edit = async (event: string): Promise<void> => {
    const [id = ''] = await harness.store.inbox.open(handle);
    const answer: AnswerRequest = { id, choice: 'edit', by: 'ada', data: { event } };
    await harness.workflow(handle).executeUpdate<unknown, [AnswerRequest]>(ANSWER, { args: [answer] });
  };
  await asked(1);
  await edit('sentinel:nightly:status');
  await asked(2);
  await edit('deploy:done');
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
});

test.concurrent('the command line refuses it, and what a definition may say is free', async () => {
  for (const name of ['sentinel:finished:deploy', 'SENTINEL:FINISHED:deploy', 'sentinel:nightly:status']) {
    const { code, out } = await harness.command('emit', name, '--json');
    expect({ code, error: (JSON.parse(out) as { error: object }).error }).toMatchObject({
      code: 2,
      error: { code: 'EVENT_RESERVED' },
    });
  }
  expect(await harness.command('emit', 'sentinel:deployed')).toMatchObject({ code: 0 });
  const free = ['sentinel:deployed', 'sentinel:log:alert', 'sentinel:build:failed', 'sentinel:commit:no-changes'];
  const { result } = await harness.run(
    once(
      'says',
      free.map((event): Step => ({ type: 'emit', event })),
    ),
  );
  expect(result).toMatchObject({ outcome: 'completed' });
});

test('what a message says of its author is no origin: a filter tells the person from the run', async () => {
  const { store, client, taskQueue, project } = harness;
  const added = await addTrigger(
    { store, client, catalogue, taskQueue },
    {
      definition: {
        ...once('obeys', [shell('true')]),
        trigger: { type: 'event', event: 'chat:ops:message', filter: '$event.origin.type == "person"' },
      },
      inputs: {},
      project,
      persona: 'tester',
    },
  );
  const id = added.type === 'event' ? added.trigger.id : '';
  const said = { room: 'ops', message: 'ship it' };
  const { result } = await harness.run(
    once('says-it', [
      { type: 'command', command: 'collaboration/chat/send', params: said },
      { type: 'emit', event: 'ops:message', data: { author: 'ada', origin: { type: 'person', id: null } } },
    ]),
  );
  expect(result).toMatchObject({ outcome: 'completed' });
  expect((await harness.command('chat', 'ops', '--send', 'ship it')).code).toBe(0);
  await until(async () => (await store.triggers.starts(id, 10)).some(({ state }) => state === 'started'));
  const starts = await store.triggers.starts(id, 10);
  expect(starts.map(({ event }) => event.id.split('/')[0])).toEqual(['@emit']);
  expect((await store.runs.find(starts[0]?.handle ?? ''))?.inputs).toMatchObject({
    event: { origin: { type: 'person', id: null } },
  });
});

test('and the trigger starts at the real end alone', async () => {
  const { store } = harness;
  expect(await store.triggers.starts(triggerId, 10)).toEqual([]);
  await harness.run(once('deploy', [shell('true')]));
  await until(async () => (await store.triggers.starts(triggerId, 10)).length === 1);
});
