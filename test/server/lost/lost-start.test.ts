/** A start that died on its way is made good by the next one with the same handle, and never runs twice. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../../runs/start-run.ts';
import { create, once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { catalogue } from '../../catalogue.ts';

let harness: Harness;
let sql: Client;
beforeAll(async () => {
  harness = await Harness.open();
  sql = new Client({ connectionString: harness.databaseUrl });
  await sql.connect();
  await harness.startWorker();
});
afterAll(async () => {
  await sql.end();
  await harness.close();
});

const definition = once('started', [create('started', {})]);

const row = (handle: string): Parameters<Harness['store']['runs']['create']>[0] => ({
  handle,
  name: 'started',
  definitionHash: '',
  project: harness.project,
  persona: 'tester',
  parent: null,
  inputs: {},
  startedAt: Date.now(),
});

const isKnownToTemporal = (handle: string): Promise<boolean> =>
  harness
    .workflow(handle)
    .describe()
    .then(
      () => true,
      () => false,
    );

test('a row without a run is a start that got no further', async () => {
  const { store, client, taskQueue, project } = harness;
  await store.runs.create(row('half'));
  await startRun(
    { store, client, catalogue, taskQueue },
    { definition, inputs: {}, project, persona: 'tester', handle: 'half' },
  );
  expect(await isKnownToTemporal('half')).toBe(true);
  expect(await harness.result('half')).toMatchObject({ outcome: 'completed' });
});

test('a start that fails leaves the row of another one alone', async () => {
  const { store, client } = harness;
  const request = { definition, inputs: {}, project: harness.project, persona: 'tester' };
  await store.runs.create(row('others'));
  await expect(
    startRun({ store, client, catalogue, taskQueue: '' }, { ...request, handle: 'others' }),
  ).rejects.toThrow();
  expect(await store.runs.find('others')).not.toBeNull();
  await expect(startRun({ store, client, catalogue, taskQueue: '' }, { ...request, handle: 'own' })).rejects.toThrow();
  expect(await store.runs.find('own')).toBeNull();
});

test('a run that has ended is not run again, although its events are not there yet', async () => {
  const before = (await harness.rows('started')).length;
  expect((await harness.run(definition, { handle: 'ended' })).result).toMatchObject({ outcome: 'completed' });
  await sql.query(`delete from run_events where handle = 'ended'`);
  const { store, client, taskQueue, project } = harness;
  const again = await startRun(
    { store, client, catalogue, taskQueue },
    { definition, inputs: {}, project, persona: 'tester', handle: 'ended' },
  );
  await harness.result('ended');
  expect(again.isNew).toBe(false);
  expect(await harness.rows('started')).toHaveLength(before + 1);
});

test('a handle that is drawn and taken is drawn again, also where only a row is left of its run', async () => {
  const { store, client, taskQueue, project } = harness;
  await harness.run(definition, { handle: 'drawn-once' });
  await store.runs.create(row('drawn-row'));
  const drawn = ['drawn-once', 'drawn-row', 'drawn-free'];
  const draw = (): string => drawn.shift() ?? '';
  const request = { definition, inputs: {}, project, persona: 'tester', draw };
  expect(await startRun({ store, client, catalogue, taskQueue }, request)).toMatchObject({
    handle: 'drawn-free',
    isNew: true,
  });
  expect(await harness.result('drawn-free')).toMatchObject({ outcome: 'completed' });
  expect(await isKnownToTemporal('drawn-row')).toBe(false);
  expect(await harness.start(definition)).toMatch(/^started-[2-9a-hjkmnp-z]{8}$/);
});
