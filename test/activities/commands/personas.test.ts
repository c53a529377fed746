/** Personas: persons from their first run on, models that a person makes, and whom they trust. */
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
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

it.each([
  ['create', { personaId: 'made-by-a-run' }],
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
