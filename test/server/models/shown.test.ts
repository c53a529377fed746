/** What people see of a model step that is under way: for whom it waits, and how far its turn is. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { beginsToSay, callsTo, ModelDouble, MODEL } from '../harness/models/model-double.ts';
import { openAiWire } from '../../models/wires/openai-wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeAll(async () => {
  model = await new ModelDouble().open();
  harness = await Harness.open();
  await harness.startWorker(model.env);
});
afterAll(async () => {
  await harness.close();
  await model.close();
});
beforeEach(() => model.double.forget());

const definition = once('shown', [
  { type: 'llm', model: MODEL, prompt: 'Look', tools: ['data/list'], outputTo: 'answer' },
]);

test('a status says for which provider a step waits and until when, and no longer once it does not', async () => {
  model.next(openAiWire.errors.rateLimited({ 'retry-after': '1200' }));
  const handle = await harness.start(definition);
  await harness.untilEvent(handle, ({ type }) => type === 'warning');
  const [warning] = (await harness.events(handle)).filter((event) => event.type === 'warning');
  const until20 = new Date(warning?.until ?? 0);
  expect(until20.getTime() - (warning?.at ?? 0)).toBeGreaterThan(1_190_000);
  const clock = [until20.getHours(), until20.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
  const shown = await harness.command('status', handle);
  expect(shown.out).toContain(`  waiting for openai until ${clock} (steps.0@1)\n`);
  const { waits, waiting } = JSON.parse((await harness.command('status', handle, '--json')).out) as Record<
    string,
    unknown
  >;
  expect(waits).toEqual([
    {
      step: 'steps.0@1',
      for: 'openai',
      until: until20.toISOString(),
      why: expect.stringMatching(/^steps\.0@1 is waiting for openai until .*: .*Rate limit reached/) as string,
    },
  ]);
  expect(waiting).toEqual([]);
  expect(await harness.command('cancel', handle)).toMatchObject({ code: 0 });
  expect((await harness.command('status', handle)).out).not.toContain('waiting for');
});

test.each([
  [
    'step',
    'steps.0@1/turn.2',
    ['turn 1 openai/some-model, steps.0@1', 'turn 2 openai/some-model, 110 tokens so far, steps.0@1'],
    {},
  ],
  ['usual', 'steps.0@1/turn.1', ['from turn 1 openai/some-model, steps.0@1'], { calls: 1, usd: 0 }],
] as const)(
  'the Web UI has the turn, the model and the tokens so far, and how much has been said (%s)',
  async (durability, activity, summaries, besides) => {
    model.next(callsTo('1', 'data_list', { collection: 'nothing' }), beginsToSay('Half an ', 'answer'));
    const handle = await harness.start(durability === 'step' ? { ...definition, durability } : definition);
    const beat = async (): Promise<unknown> => {
      const { raw } = await harness.workflow(handle).describe();
      const payload = raw.pendingActivities?.find(({ activityId }) => activityId === activity)?.heartbeatDetails
        ?.payloads?.[0];
      return payload ? harness.opened(payload) : null;
    };
    await until(async () => JSON.stringify(await beat()).includes('"characters":14'));
    expect(await beat()).toEqual({
      turn: 2,
      model: 'openai/some-model',
      tokensSoFar: 110,
      answer: { characters: 14, calls: 0 },
      ...besides,
    });
    const { events } = await harness.history(handle);
    const shown = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled, userMetadata }) =>
      ['llm', 'agent'].includes(scheduled?.activityType?.name ?? '') && userMetadata?.summary
        ? [harness.opened(userMetadata.summary)]
        : [],
    );
    expect(await Promise.all(shown)).toEqual(summaries);
    await harness.workflow(handle).cancel();
    await harness.result(handle);
  },
);
