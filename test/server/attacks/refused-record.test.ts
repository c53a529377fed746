/** What the database refuses for good ends the run that recorded it: other runs, and the worker, go on. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

let harness: Harness;
let worker: WorkerProcess;
let database: Client;

/** Whoever records the word gets no further. */
const REFUSES = `
  create function refuse() returns trigger language plpgsql as $$
  begin
    if new.event::text like '%unspeakable%' then raise exception 'that word is not written here'; end if;
    return new;
  end $$;
  create trigger refuses before insert on run_events for each row execute function refuse()`;

beforeAll(async () => {
  harness = await Harness.open();
  database = new Client({ connectionString: harness.databaseUrl });
  await database.connect();
  await database.query(REFUSES);
  worker = await harness.startWorker();
});
afterAll(async () => {
  await database.end();
  await harness.close();
});

async function ended(handle: string): Promise<unknown> {
  await until(async () => ((await harness.store.runs.find(handle))?.finishedAt ?? null) !== null, 30_000);
  const { status } = await harness.workflow(handle).describe();
  return { run: await harness.store.runs.find(handle), workflow: status.name };
}

const refused = {
  run: {
    status: 'failed',
    outcome: 'failed',
    failure: { code: 'RECORD_REFUSED', message: expect.stringMatching(/that word is not written here/) as string },
  },
  workflow: 'TERMINATED',
};

test('a run whose step is refused has ended, with its steps and its questions', async () => {
  const handle = await harness.start(
    once('speaks', [
      {
        type: 'parallel',
        branches: [
          [{ type: 'approval', message: 'Go on?' }],
          [shell('sleep 1; printf un; printf speakable', { outputTo: 'said' })],
          [shell('sleep 300')],
        ],
      },
    ]),
  );
  await until(async () => (await harness.store.inbox.list({ handle })).length === 1);
  expect(await ended(handle)).toMatchObject(refused);
  expect(await harness.store.inbox.list({ handle })).toEqual([]);
  expect(worker.output).toContain(`${handle} is ended: RECORD_REFUSED`);
  // Whoever reaches Temporal reads why a workflow was terminated, and nothing of what the run recorded.
  const { events } = await harness.history(handle);
  expect(events?.at(-1)?.workflowExecutionTerminatedEventAttributes).toMatchObject({ reason: 'RECORD_REFUSED' });
});

test('so has one whose end is refused, and one whose start is', async () => {
  const handle = await harness.start(once('returns', [shell('printf un; printf speakable', { outputTo: 'said' })]));
  expect(await ended(handle)).toMatchObject(refused);
  const begins = await harness.start(once('begins', [shell('true')], { inputs: { word: '' } }), {
    inputs: { word: 'unspeakable' },
  });
  expect(await ended(begins)).toMatchObject(refused);
});

test('so has one whose segment is refused', async () => {
  const quick = await harness.start(
    once('quickly', [
      create('kept', { word: 'unspeakable' }, 'row'),
      { type: 'emit', event: 'said', data: 1, name: '$row.word unspeakable' },
    ]),
  );
  expect(await ended(quick)).toMatchObject(refused);
});

test('a nested run that cannot be recorded at all fails the step that started it', async () => {
  const inner = once('inner', [shell('true')]);
  const { result, handle } = await harness.run(
    once('outer', [{ type: 'sentinel', definition: inner, inputs: { word: 'unspeakable' } }]),
  );
  expect(result).toMatchObject({ outcome: 'failed', failure: { code: 'CHILD_FAILED' } });
  expect(await harness.store.runs.find(`${handle}/steps.0@1`)).toMatchObject({
    ...refused.run,
    name: 'inner',
    parent: handle,
    inputs: {},
  });
});

test('other runs go on, and the worker ends within its time', async () => {
  const { result } = await harness.run(once('after', [create('kept', { n: 1 }), shell('echo on')]));
  expect(result).toMatchObject({ outcome: 'completed' });
  const askedAt = Date.now();
  await worker.stop();
  expect(Date.now() - askedAt).toBeLessThan(10_000);
});
