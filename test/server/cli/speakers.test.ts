/** For whom each verb acts and in whose name it speaks, where the project names a persona. The user is ada. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers } from '../harness/models/model-runs.ts';
import { ModelDouble } from '../harness/models/model-double.ts';

let harness: Harness;
let model: ModelDouble;
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  model.double.answer(wire.path, () => ({ ...answers('said'), silentMs: 20_000 }));
  harness.variables = model.env;
  write('sentinel.config.ts', `export default { defaults: { persona: 'grace' } };`);
  write('says.json', JSON.stringify(once('says', [{ type: 'set', values: { who: '$PERSONA_ID' } }])));
  write('owned.json', JSON.stringify({ ...once('owned', [shell('true')]), parentPersonaId: 'eve' }));
  write('says.eval.json', JSON.stringify({ definition: './says.json', inputs: [{ name: 'one', input: {} }] }));
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const write = (name: string, text: string): void => writeFileSync(join(harness.project, name), text);

async function document(...args: string[]): Promise<JsonObject> {
  const { out, err, code } = await harness.command(...args, '--json');
  expect(code, err).toBe(0);
  return JSON.parse(out) as JsonObject;
}

const personaOf = async (handle: unknown): Promise<unknown> => (await document('status', String(handle)))['persona'];

let count = 0;
async function held(steps: Parameters<typeof once>[1]): Promise<string> {
  count += 1;
  const handle = `speakers-${harness.taskQueue.slice(5, 13)}-${count}`;
  await harness.start(once('held', steps), { handle });
  return handle;
}

const asks = { type: 'approval', message: 'Go on?' } as const;
const isAsked = (handle: string): Promise<void> =>
  until(async () => (await harness.store.inbox.open(handle)).length === 1);

const triggerOf = async (name: string): Promise<unknown> =>
  (await harness.store.triggers.list()).find((trigger) => trigger.name === name)?.persona;

/** Of the first event of the type. */
async function byOf(handle: string, type: 'told' | 'edited'): Promise<string | undefined> {
  const found = async (): Promise<RunEvent | undefined> =>
    (await harness.events(handle)).find((event) => event.type === type);
  await until(async () => (await found()) !== undefined);
  const event = await found();
  return event !== undefined && 'by' in event ? event.by : undefined;
}

/** Each says whom a verb took, given the option it has for a name, if any. */
const verbs: { verb: string; option: string | null; who: (...named: string[]) => Promise<unknown> }[] = [
  {
    verb: 'run',
    option: '--persona',
    who: async (...named) => personaOf((await document('run', 'says.json', '--detach', ...named))['handle']),
  },
  {
    verb: 'eval',
    option: '--persona',
    async who(...named) {
      await document('eval', 'says.eval.json', '--fresh', ...named);
      const [latest] = await harness.store.runs.list({ limit: 1 });
      return latest?.persona;
    },
  },
  {
    verb: 'simulate',
    option: '--persona',
    async who(...named) {
      const { variables, outputs = variables } = await document('simulate', 'says.json', ...named);
      return (outputs as JsonObject)['who'];
    },
  },
  {
    verb: 'schedule create',
    option: '--persona',
    who: async (...named) =>
      (await document('schedule', 'create', 'says.json', '--cron', '0 3 * * *', '--paused', '--replace', ...named))[
        'persona'
      ],
  },
  {
    verb: 'trigger add',
    option: '--persona',
    async who(...named) {
      await document('trigger', 'add', 'says.json', '--event', 'x:y', ...named);
      return triggerOf('says');
    },
  },
  {
    verb: 'answer',
    option: '--by',
    async who(...named) {
      const handle = await held([asks]);
      await isAsked(handle);
      return ((await document('answer', handle, 'approve', ...named))['answer'] as JsonObject)['by'];
    },
  },
  {
    verb: 'tell',
    option: '--by',
    async who(...named) {
      const before = model.turns.length;
      const handle = await held([{ type: 'llm', model: 'openai/big', prompt: 'x' }]);
      await until(() => Promise.resolve(model.turns.length > before));
      await document('tell', handle, 'go on', ...named);
      const by = await byOf(handle, 'told');
      await harness.command('cancel', handle);
      return by;
    },
  },
  {
    verb: 'step skip',
    option: '--by',
    async who(...named) {
      const handle = await held([asks, shell('true')]);
      await isAsked(handle);
      await document('step', 'skip', handle, 'steps.1', ...named);
      return byOf(handle, 'edited');
    },
  },
  {
    verb: 'chat --send',
    option: '--by',
    who: async (...named) => (await document('chat', 'general', '--send', 'hello', ...named))['author'],
  },
  {
    verb: 'inbox --clear',
    option: '--persona',
    async who(...named) {
      for (const persona of ['ada', 'grace', 'bob'])
        await harness.start(once('fails', [{ type: 'fail', message: 'no' }]), { persona });
      await until(async () => (await harness.store.inbox.list({})).filter(({ state }) => state === 'told').length >= 3);
      await document('inbox', '--clear', ...named);
      const left = (await harness.store.inbox.list({})).filter(({ state }) => state === 'told');
      return ['ada', 'grace', 'bob'].filter((persona) => left.every((item) => item.persona !== persona)).join();
    },
  },
  {
    verb: 'cancel --force',
    option: null,
    async who() {
      const handle = await held([asks]);
      await isAsked(handle);
      await document('cancel', handle, '--force');
      return / (\S+) ended /.exec(
        ` ${JSON.stringify((await harness.events(handle)).at(-1)).replaceAll('"', ' ')}`,
      )?.[1];
    },
  },
];

describe.each(verbs)('$verb', ({ option, who }) => {
  test('is of the persona of the project where nobody is named', async () => expect(await who()).toBe('grace'));

  test.skipIf(option === null)('is of whom the option names', async () =>
    expect(await who(option ?? '', 'bob')).toMatch(/^(?:bob|grace,bob)$/),
  );
});

test('the owner that a definition names comes before the persona of the project', async () => {
  const { handle } = await document('run', 'owned.json', '--detach');
  const schedule = await document('schedule', 'create', 'owned.json', '--cron', '0 3 * * *', '--paused');
  await document('trigger', 'add', 'owned.json', '--event', 'x:y');
  expect([await personaOf(handle), schedule['persona'], await triggerOf('owned')]).toEqual(['eve', 'eve', 'eve']);
});

test('where the project is not trusted, the user speaks, and is told why', async () => {
  harness.variables = { ...model.env, SENTINEL_TRUST: 'none' };
  const { out, err } = await harness.command('chat', 'general', '--send', 'hello', '--json');
  harness.variables = model.env;
  expect(JSON.parse(out)).toMatchObject({ author: 'ada' });
  expect(err).toMatch(/without the defaults of the project: .*sentinel trust/);
});
