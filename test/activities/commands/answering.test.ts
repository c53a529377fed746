/** Who answers for whom: members of groups, persons for others, and whoever made a model for it. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { useStore } from '../../store/harness/opened.ts';
import { rowOf } from '../../store/harness/triggered.ts';
import { commandsOf } from '../harness/commands-of.ts';

const opened = useStore();
const { person, step } = commandsOf(opened, builtInRegistry());

const voices = async (personaId: string): Promise<string[]> =>
  ((await person('persona/answers-for', { personaId })) as { among: string; person: string }[]).map(
    ({ among, person: whose }) => `${among} as ${whose}`,
  );
const member = (groupId: string, personaId: string, more = {}): Promise<Json> =>
  person('persona/member', { groupId, personaId, ...more });
const delegate = (personaId: string, to: string, more = {}, by = personaId): Promise<Json> =>
  person('persona/delegate', { personaId, to, ...more }, by);

beforeAll(async () => {
  await person('persona/create', { personaId: 'helper-ai' });
});

it('whoever is asked answers for themselves alone', async () => {
  expect(await voices('nobody-yet')).toEqual(['nobody-yet as nobody-yet']);
});

it('a member answers for the group, until they are taken out', async () => {
  expect(await member('ops', 'bob')).toMatchObject({ members: ['bob'] });
  expect(await member('ops', 'carl')).toMatchObject({ members: ['bob', 'carl'], text: 'ops: bob, carl' });
  expect(await voices('bob')).toEqual(['bob as bob', 'ops as bob']);
  await member('ops', 'bob', { ends: true });
  expect(await voices('bob')).toEqual(['bob as bob']);
  await member('ops', 'bob');
});

it('whom somebody has answer counts as them, also in their groups, and passes nothing on', async () => {
  await delegate('carl', 'dora');
  await delegate('dora', 'emil');
  expect(await voices('dora')).toEqual(['dora as dora', 'carl as carl', 'ops as carl']);
  expect(await voices('emil')).toEqual(['emil as emil', 'dora as dora']);
  await delegate('carl', 'dora', { ends: true });
  expect(await voices('dora')).toEqual(['dora as dora']);
});

it('ends by itself after its days', async () => {
  await delegate('carl', 'fred', { days: 1 });
  expect(await voices('fred')).toContain('carl as carl');
  await opened.database.query(
    "update persona_delegates set until = clock_timestamp() - interval '1 second' where delegate = 'fred'",
  );
  expect(await voices('fred')).toEqual(['fred as fred']);
});

it('who made a model answers for it, and the model for nobody', async () => {
  expect(await voices('ada')).toEqual(['ada as ada', 'helper-ai as ada']);
  expect(await voices('helper-ai')).toEqual([]);
});

it('the name of a group answers for nobody', async () => {
  expect(await voices('ops')).toEqual([]);
});

it('a group whose name a run was given for its owner loses members, and gets none', async () => {
  await member('night', 'hugo');
  await opened.store.runs.create({ ...rowOf('run-of-night'), persona: 'night' });
  await expect(member('night', 'ida')).rejects.toMatchObject({ code: 'PERSONA_EXISTS' });
  expect(await member('night', 'hugo', { ends: true })).toMatchObject({ members: [] });
  expect(await voices('hugo')).toEqual(['hugo as hugo']);
});

describe('refuses', () => {
  it.each([
    ['a model in a group', () => member('ops', 'helper-ai'), 'PERSONA_NOT_PERSON'],
    ['a group in a group', () => member('all', 'ops'), 'PERSONA_NOT_PERSON'],
    ['a group under the name of a persona', () => member('helper-ai', 'bob'), 'PERSONA_EXISTS'],
    ['a model under the name of a group', () => person('persona/create', { personaId: 'ops' }), 'PERSONA_EXISTS'],
    ['a model under the name of a member', () => person('persona/create', { personaId: 'bob' }), 'PERSONA_EXISTS'],
    ['a model that answers for somebody', () => delegate('carl', 'helper-ai'), 'PERSONA_NOT_PERSON'],
    ['a group that answers for somebody', () => delegate('carl', 'ops'), 'PERSONA_NOT_PERSON'],
    ['a group that has somebody answer', () => delegate('ops', 'eve'), 'PERSONA_NOT_PERSON'],
    ['to say it for another', () => delegate('carl', 'eve', {}, 'eve'), 'RIGHTS_EXCEEDED'],
    ['to say it for the model of another', () => delegate('helper-ai', 'eve', {}, 'eve'), 'RIGHTS_EXCEEDED'],
    ['to have oneself answer', () => delegate('carl', 'carl'), 'COMMAND_PARAMS_INVALID'],
  ])('%s', async (_what, act, code) => {
    await expect(act()).rejects.toMatchObject({ code });
    expect(await voices('eve')).toEqual(['eve as eve']);
  });

  it('steps and models', async () => {
    for (const over of [{}, { confinement: { byModel: true } } as const])
      for (const [name, params] of [
        ['persona/member', { groupId: 'ops', personaId: 'eve' }],
        ['persona/delegate', { personaId: 'ada', to: 'eve' }],
      ] as const)
        await expect(step(name, params, '/', over), name).rejects.toMatchObject({ code: 'RIGHTS_EXCEEDED' });
    expect(await voices('eve')).toEqual(['eve as eve']);
  });
});

it('whoever made a model has another person answer for it', async () => {
  await delegate('helper-ai', 'gina', {}, 'ada');
  expect(await voices('gina')).toEqual(['gina as gina', 'helper-ai as helper-ai']);
});
