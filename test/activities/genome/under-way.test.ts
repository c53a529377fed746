/** Who waits for a training that is not over, and who does not. */
import { beforeAll, expect, test } from 'vitest';
import type { Json } from '../../../language/json.ts';
import { noTraining } from '../../../operations/training.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { finished, started, useStore } from '../../store/harness/opened.ts';
import { commandsOf } from '../harness/commands-of.ts';

const opened = useStore();
const registry = builtInRegistry({ training: { ...noTraining, folder: () => '/nowhere' } });
const { step, person } = commandsOf(opened, registry);

const LATER = { waitMs: expect.any(Number) as number, because: expect.stringContaining('training') as string };

const begun = async (handle: string, parent: string | null = null): Promise<void> => {
  await opened.store.runs.create({
    handle,
    name: 'n',
    definitionHash: 'h',
    project: '/p',
    persona: 'ada',
    parent,
    inputs: {},
    startedAt: Date.now(),
  });
  await opened.store.events.append(handle, [started(1)]);
};
const ended = (handle: string): Promise<void> => opened.store.events.append(handle, [finished(2)]);

async function training(handle: string, name: string, state: string, persona = 'ada'): Promise<void> {
  const session = opened.store.session();
  await session.write(
    `insert into genome_trainings (handle, key, name, persona, state) values ($1, 'steps.0@1', $2, $3, $4)
     on conflict (handle, key) do update set state = excluded.state`,
    [handle, name, persona, state],
  );
  await session.end();
  await session.close();
}

const asked = (command: string, params: { [name: string]: string }, by: string): Promise<Json> =>
  step(command, params, '/', {
    run: { handle: by, project: '/p', persona: 'genome', definitionHash: '' },
    caller: { kind: 'background', name: 'layers' },
  });
const layer = (name: string, by: string): Promise<Json> => asked('genome/layer', { name }, by);
const genome = (persona: string, by: string): Promise<Json> => asked('genome/of-persona', { persona }, by);

beforeAll(async () => {
  await begun('asks');
  await person('persona/create', { personaId: 'eve' });
});

test('a layer is waited for while a run trains it and until that run has ended', async () => {
  expect(await layer('style', 'asks')).toBeNull();
  await begun('trains');
  await training('trains', 'style', 'training');
  expect(await layer('style', 'asks')).toEqual(LATER);
  expect(await layer('another', 'asks')).toBeNull();
  // What registers it is still to come.
  await training('trains', 'style', 'trained');
  expect(await layer('style', 'asks')).toEqual(LATER);
  await ended('trains');
  expect(await layer('style', 'asks')).toBeNull();
});

test('what failed is not waited for, although its run goes on', async () => {
  await begun('fails');
  await training('fails', 'failing', 'failed', 'eve');
  expect(await layer('failing', 'asks')).toBeNull();
  expect(await genome('eve', 'asks')).toEqual([]);
});

test('what was cut off is not waited for, although its run goes on and nobody has said that it failed', async () => {
  await begun('cut');
  await training('cut', 'cutting', 'training');
  expect(await layer('cutting', 'asks')).toEqual(LATER);
  await opened.store.events.append('cut', [
    {
      ...finished(2),
      type: 'step-finished',
      key: 'steps.0@1',
      step: 'command',
      label: 'genome/train',
      outcome: 'failed',
      durationMs: 1,
    } as never,
  ]);
  expect(await layer('cutting', 'asks')).toBeNull();
  // It waits for others' trainings again, as its own is over.
  await begun('not-cut');
  await training('not-cut', 'of-other', 'training');
  expect(await layer('of-other', 'cut')).toEqual(LATER);
});

test('what a persona uses is waited for while a training of it is not over', async () => {
  await begun('teaches');
  await training('teaches', 'lesson', 'trained', 'eve');
  expect(await genome('eve', 'asks')).toEqual(LATER);
  await ended('teaches');
  expect(await genome('eve', 'asks')).toEqual([]);
});

test('a run waits for no later step of its own, nor of one in which it is nested', async () => {
  await begun('whole');
  await begun('whole/inner', 'whole');
  await training('whole', 'own', 'trained', 'eve');
  for (const by of ['whole', 'whole/inner']) {
    expect(await layer('own', by)).toBeNull();
    expect(await genome('eve', by)).toEqual([]);
  }
  expect(await layer('own', 'asks')).toEqual(LATER);
  // Another branch of it, or one that was cut off.
  await training('whole', 'own', 'training', 'eve');
  expect(await layer('own', 'whole/inner')).toBeNull();
  expect(await genome('eve', 'whole/inner')).toEqual([]);
  await ended('whole');
});

test('a run with a training of its own waits for no other, so that no two wait for each other', async () => {
  await begun('one');
  await begun('other');
  await begun('one/inner', 'one');
  await training('one', 'first', 'trained', 'eve');
  await training('other', 'second', 'training', 'eve');
  expect(await layer('first', 'other')).toBeNull();
  for (const by of ['one', 'one/inner']) {
    expect(await layer('second', by)).toBeNull();
    expect(await genome('eve', by)).toEqual([]);
  }
  await training('one', 'first', 'failed', 'eve');
  expect(await layer('second', 'one')).toEqual(LATER);
  await ended('one');
  await ended('other');
});

test('a run that goes on is not waited for once a persona uses what it has trained', async () => {
  await begun('nightly');
  await training('nightly', 'night', 'trained', 'eve');
  expect(await genome('eve', 'asks')).toEqual(LATER);
  await step('genome/set-active', { personaId: 'eve', composition: null }, '/', {
    run: { handle: 'nightly', project: '/p', persona: 'eve', definitionHash: '' },
  });
  expect(await genome('eve', 'asks')).toEqual([]);
  expect(await layer('night', 'asks')).toBeNull();
  // The next night.
  await training('nightly', 'night', 'training', 'eve');
  expect(await genome('eve', 'asks')).toEqual(LATER);
  await ended('nightly');
});

test('a run that goes on is not waited for once the gate has refused its layer', async () => {
  await begun('retries');
  await training('retries', 'weak', 'trained');
  const session = opened.store.session();
  await session.write(
    `insert into genome_adapters (id, name, base_asked, base_path, base_hash, manifest, dataset, match, persona, handle, project)
     values ('weak-id', 'weak', 'm', '/m', 'h', '{}', 'd', 'exact', 'ada', 'retries', '/p')`,
    [],
  );
  await session.write(
    `insert into genome_gates (adapter, has_passed, verdict) values ('weak-id', false, '{"passed":false,"reasons":["weak"]}')`,
    [],
  );
  await session.end();
  await session.close();
  expect(await layer('weak', 'asks')).toEqual(LATER);
  const run = { handle: 'retries', project: '/p', persona: 'ada', definitionHash: '' };
  await expect(
    step('genome/layer-register', { adapterPath: 'weak-id', domain: 'd' }, '/', { run }),
  ).rejects.toMatchObject({ code: 'GATE_REFUSED' });
  expect(await layer('weak', 'asks')).toBeNull();
  await ended('retries');
});

test('an older training that goes on is seen behind many that have ended', async () => {
  await begun('long');
  await training('long', 'many', 'trained', 'eve');
  for (let number = 0; number < 21; number += 1) {
    await begun(`short ${number}`);
    await training(`short ${number}`, 'many', 'trained', 'eve');
    await ended(`short ${number}`);
  }
  expect(await layer('many', 'asks')).toEqual(LATER);
  await ended('long');
});

test('the longer a training has gone on, the less often it is asked for', async () => {
  await begun('slow');
  await training('slow', 'slow-one', 'training');
  for (const [age, waitMs] of [
    ['1 second', 5_000],
    ['10 minutes', 30_000],
    ['3 hours', 60_000],
  ] as const) {
    const session = opened.store.session();
    await session.write(`update genome_trainings set at = now() - $1::text::interval where name = 'slow-one'`, [age]);
    await session.end();
    await session.close();
    const later = (await layer('slow-one', 'asks')) as { waitMs: number };
    expect(later.waitMs).toBeGreaterThanOrEqual(waitMs);
    expect(later.waitMs).toBeLessThan(waitMs + 1_000);
  }
  await ended('slow');
});

test.each([
  ['neither a data set nor runs', {}],
  ['both', { dataset: 'd', fromRuns: 'review' }],
])('a training with %s is refused', async (_what, rows) => {
  await expect(step('genome/train', { baseModel: 'm', outputAdapter: 'a', ...rows }, '/')).rejects.toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
    message: expect.stringContaining('"dataset" or "fromRuns"') as string,
  });
});
