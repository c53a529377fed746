/** Personas: persons from their first run on, models that a person makes, and whom they trust. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { dayAt } from '../../../language/references/days.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { perform } from '../../../operations/perform.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';

const registry = builtInRegistry();
const opened = useStore();

let calls = 0;
async function person(command: string, params: JsonObject, by = 'ada', as: 'person' | 'agent' = 'person') {
  calls += 1;
  const parts = { store: opened.store, registry, runs: commandContext('/').runPort };
  const asked = { command: `persona/${command}`, params, by, as, project: '/', id: `call ${calls}`, timeoutMs: 30_000 };
  return (await perform(parts, asked)) as JsonObject;
}

async function step(command: string, params: JsonObject, over: Partial<CommandContext> = {}) {
  const session = opened.store.session();
  try {
    const context = commandContext('/', { store: opened.store, session, ...over });
    return (await registry.run(`persona/${command}`, params, context)) as JsonObject;
  } finally {
    await session.close();
  }
}

const byModel = (project: string): Partial<CommandContext> => ({
  run: { handle: 'by-model', project, persona: 'ada', definitionHash: '' },
  confinement: { byModel: true },
});

async function owns(persona: string, handle: string, project = '/one'): Promise<void> {
  const row = { handle, name: 'stored', definitionHash: 'h', project, persona, parent: null, inputs: {} };
  await opened.store.runs.create({ ...row, startedAt: 5 });
}

it('knows whoever owns a run as a person, and how many of the runs are under way', async () => {
  await owns('grace', 'of-grace');
  await owns('grace', 'of-grace-too');
  await owns('notes/sort', 'background:notes:sort:1');
  expect(await person('show', { personaId: 'grace' })).toMatchObject({
    kind: 'human',
    madeBy: null,
    runs: 2,
    underWay: 2,
    trusts: [],
    trustedBy: [],
  });
  const ids = ((await person('list', {})) as unknown as { id: string }[]).map(({ id }) => id);
  expect(ids).toContain('grace');
  expect(ids).not.toContain('notes/sort');
  await expect(person('show', { personaId: 'nobody' })).rejects.toMatchObject({ code: 'PERSONA_UNKNOWN' });
});

it('makes a model of an id that nobody has, once', async () => {
  expect(await person('create', { personaId: 'helper-ai' })).toMatchObject({
    id: 'helper-ai',
    kind: 'model',
    madeBy: 'ada',
    runs: 0,
    text: expect.stringContaining('helper-ai: a model, made by ada') as string,
  });
  await owns('helper-ai', 'of-helper');
  expect(await person('show', { personaId: 'helper-ai' })).toMatchObject({ kind: 'model', runs: 1 });
  await owns('hopper', 'of-hopper');
  for (const personaId of ['helper-ai', 'hopper'])
    await expect(person('create', { personaId })).rejects.toMatchObject({ code: 'PERSONA_EXISTS' });
  const racing = await Promise.allSettled(Array.from({ length: 5 }, () => person('create', { personaId: 'raced' })));
  expect(racing.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it.each(['', 'a b', 'ada/x', 'ada-genome', 'x'.repeat(101), 'Zoë'])('refuses the id "%s"', async (personaId) => {
  await expect(person('create', { personaId })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

it('gives a model four places, or as many as a person says, and a person any number', async () => {
  expect(await person('create', { personaId: 'four-ai' })).toMatchObject({
    places: 4,
    atWork: 0,
    waiting: 0,
    waits: [],
  });
  expect(await person('create', { personaId: 'two-ai', places: 2 })).toMatchObject({ places: 2 });
  expect(await opened.store.personaLimits.of('two-ai')).toEqual({ places: 2 });
  expect(await person('limit', { personaId: 'two-ai', places: 7 })).toMatchObject({
    places: 7,
    text: expect.stringContaining('places: 7, 0 taken') as string,
  });
  expect(await person('limit', { personaId: 'two-ai', places: null })).toMatchObject({ places: null });
  await owns('lovelace', 'of-lovelace');
  expect(await person('show', { personaId: 'lovelace' })).toMatchObject({ places: null });
  expect(await opened.store.personaLimits.of('lovelace')).toBeNull();
  expect(await person('limit', { personaId: 'lovelace', places: 1 })).toMatchObject({ kind: 'human', places: 1 });
  await expect(person('limit', { personaId: 'nobody', places: 1 })).rejects.toMatchObject({ code: 'PERSONA_UNKNOWN' });
  for (const places of [0, -1, 1.5, 10_001])
    await expect(person('limit', { personaId: 'lovelace', places })).rejects.toMatchObject({
      code: 'COMMAND_PARAMS_INVALID',
    });
});

it('gives a persona a budget a day, of which what is not said stays, and takes it off', async () => {
  expect(await person('create', { personaId: 'day-ai' })).toMatchObject({ budget: null, waitsForBudget: [] });
  const set = { personaId: 'day-ai', budgetUsd: 2.5, budgetSteps: 10, timeZone: 'Asia/Kathmandu' };
  const { until } = dayAt(Date.now(), 'Asia/Kathmandu');
  expect(await person('limit', set)).toMatchObject({
    places: 4,
    budget: {
      usd: 2.5,
      tokens: null,
      steps: 10,
      timeZone: 'Asia/Kathmandu',
      used: { usd: 0, tokens: 0, steps: 0 },
      until,
    },
    text: expect.stringContaining('budget: 0 of 2.5 US dollars, 0 of 10 steps used until') as string,
  });
  expect(await person('limit', { personaId: 'day-ai', budgetUsd: null, places: 2 })).toMatchObject({
    places: 2,
    budget: { usd: null, steps: 10, timeZone: 'Asia/Kathmandu' },
  });
  expect(await person('limit', { personaId: 'day-ai', budgetSteps: null })).toMatchObject({ places: 2, budget: null });
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  expect(await person('create', { personaId: 'here-ai', budgetTokens: 0 })).toMatchObject({
    budget: { tokens: 0, timeZone: here },
  });
  for (const wrong of [{}, { budgetUsd: -1 }, { budgetSteps: 1.5 }, { timeZone: 'Europe/Nowhere' }])
    await expect(person('limit', { personaId: 'day-ai', ...wrong })).rejects.toMatchObject({
      code: 'COMMAND_PARAMS_INVALID',
    });
});

it('wakes the runs that wait for a budget once it is raised, and no others', async () => {
  const woken: string[] = [];
  const runs = { ...commandContext('/').runPort, wake: async (handle: string) => void woken.push(handle) };
  for (const [persona, handle] of [
    ['day-ai', 'poor'],
    ['here-ai', 'not-raised'],
    ['day-ai', 'has-not-asked'],
  ] as const)
    await owns(persona, handle);
  await opened.store.personaDays.wait('poor', 'day-ai', Date.now() + 60_000);
  await opened.store.personaDays.wait('not-raised', 'here-ai', Date.now() + 60_000);
  expect(await person('show', { personaId: 'day-ai' })).toMatchObject({
    waitsForBudget: ['poor'],
    text: expect.stringContaining('waits for budget: poor') as string,
  });
  const asked = { command: 'persona/limit', by: 'ada', project: '/', timeoutMs: 30_000 };
  const parts = { store: opened.store, registry, runs };
  await perform(parts, { ...asked, params: { personaId: 'day-ai', places: 3 }, id: 'only places' });
  expect(woken).toEqual([]);
  await perform(parts, { ...asked, params: { personaId: 'day-ai', budgetSteps: 20 }, id: 'raised' });
  expect(woken).toEqual(['poor']);
});

it('says who is at work and who waits, in order', async () => {
  await person('create', { personaId: 'busy-ai', places: 1 });
  for (const handle of ['busy-1', 'busy-2', 'busy-3']) {
    await owns('busy-ai', handle);
    const lease = { kind: 'persona', project: null, name: 'busy-ai' } as const;
    await opened.store.leases.ask({ ...lease, handle, capacity: 1, whenHeld: 'wait' });
  }
  expect(await person('show', { personaId: 'busy-ai' })).toMatchObject({
    places: 1,
    atWork: 1,
    waiting: 2,
    waits: ['busy-2', 'busy-3'],
    text: expect.stringContaining('places: 1, 1 taken, 2 runs wait\n  waits for a place: busy-2 (1 of 2)') as string,
  });
  const listed = (await person('list', {})) as unknown as { id: string }[];
  expect(listed.find(({ id }) => id === 'busy-ai')).toMatchObject({ places: 1, atWork: 1, waiting: 2 });
});

it('wakes those who have their turn with more places', async () => {
  const woken: string[] = [];
  const runs = { ...commandContext('/').runPort, wake: async (handle: string) => void woken.push(handle) };
  const asked = { command: 'persona/limit', by: 'ada', project: '/', timeoutMs: 30_000 };
  const parts = { store: opened.store, registry, runs };
  await perform(parts, { ...asked, params: { personaId: 'busy-ai', places: 2 }, id: 'two places' });
  expect(woken).toEqual(['busy-2']);
  await perform(parts, { ...asked, params: { personaId: 'busy-ai', places: null }, id: 'any places' });
  expect(woken).toEqual(['busy-2', 'busy-2', 'busy-3']);
});

it.each([
  ['create', { personaId: 'made-by-a-run' }],
  ['limit', { personaId: 'helper-ai', places: 100 }],
  ['trust', { personaId: 'ada', trusts: 'helper-ai' }],
])('takes "%s" from a person alone', async (command, params) => {
  const refused = { code: 'RIGHTS_EXCEEDED' };
  await expect(step(command, params)).rejects.toMatchObject(refused);
  await expect(step(command, params, byModel('/one'))).rejects.toMatchObject(refused);
  await expect(step(command, params, { caller: { kind: 'follower', name: 'a/b' } })).rejects.toMatchObject(refused);
  await expect(step(command, params, { caller: { kind: 'background', name: 'a/b' } })).rejects.toMatchObject(refused);
  await expect(person(command, params, 'program', 'agent')).rejects.toMatchObject(refused);
});

it('gives trust one way, and takes it back', async () => {
  await person('create', { personaId: 'trusted' });
  expect(await person('trust', { personaId: 'ada', trusts: 'trusted' })).toMatchObject({ trusts: ['trusted'] });
  await person('trust', { personaId: 'ada', trusts: 'trusted' });
  expect(await person('show', { personaId: 'trusted' })).toMatchObject({ trusts: [], trustedBy: ['ada'] });
  await expect(person('trust', { personaId: 'ada', trusts: 'misspelt' })).rejects.toMatchObject({
    code: 'PERSONA_UNKNOWN',
  });
  await expect(person('trust', { personaId: 'trusted', trusts: 'trusted' })).rejects.toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
  });
  await person('trust', { personaId: 'ada', trusts: 'trusted', ends: true });
  expect(await person('show', { personaId: 'trusted' })).toMatchObject({ trustedBy: [] });
});

it('shows a model the personas of its project alone', async () => {
  await owns('turing', 'of-turing', '/two');
  const seen = (await step('list', {}, byModel('/two'))) as unknown as { id: string }[];
  expect(seen.map(({ id }) => id)).toEqual(['turing']);
  await expect(step('show', { personaId: 'grace' }, byModel('/two'))).rejects.toMatchObject({
    code: 'PERSONA_UNKNOWN',
  });
});
