/**
 * What is said to a run while a local activity of it outlasts its workflow task: the live run and every
 * replay hear it at the same place, in the order in which it was said.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerRun } from '../../client/steer-run.ts';
import type { Definition } from '../../language/model.ts';
import { contentHash } from '../../prisma/store/content-hash.ts';
import { LEVEL_NOW } from '../../workflows/changes.ts';
import { QUERIES, SIGNALS, WORKFLOW_TYPE, workflowIdOf, type ControlVerb } from '../../workflows/messages.ts';
import type { StartInput } from '../../workflows/start-input.ts';
import { create, once, shell } from './definitions.ts';
import { Harness } from './harness.ts';
import { notReplayed } from './replayed.ts';

let harness: Harness;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
});
afterAll(() => harness.close());

/** So short that a task is over while its local activity waits for the store. */
const workflowTaskTimeout = '1 second';
/** The worker lets a task go on in another one after four fifths of that; in some of the runs just when the store goes on. */
const runs = 30;
const betweenMs = 40;
const sayAfterMs = 100;

async function start(handle: string, definition: Definition): Promise<void> {
  const { store, project, client, taskQueue } = harness;
  const row = { handle, name: definition.name, definitionHash: contentHash(definition), project, persona: 'tester', parent: null, inputs: {}, startedAt: Date.now() };
  await store.runs.create(row);
  const input: StartInput = { definition, project, persona: 'tester', level: LEVEL_NOW };
  await client.workflow.start(WORKFLOW_TYPE, { workflowId: workflowIdOf(handle), taskQueue, workflowTaskTimeout, args: [input] });
}

/** Nobody can write records until it is called. */
async function recordsHeld(): Promise<() => Promise<void>> {
  const holder = new Client({ connectionString: harness.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('lock table records in exclusive mode');
  return async () => {
    await holder.query('commit');
    await holder.end();
  };
}

const many = (name: string): string[] => Array.from({ length: runs }, (_, n) => `outlasted-${name}-${n}`);

/** Starts one run after the other, says something to each while it waits for the store, and lets the store go on. */
async function outlast(handles: readonly string[], definition: Definition, say: (handle: string) => Promise<unknown>): Promise<void> {
  const letGo = await recordsHeld();
  const said = handles.map(async (handle, n) => {
    await sleep(n * betweenMs);
    await start(handle, definition);
    await sleep(sayAfterMs);
    await say(handle);
  });
  await sleep(runs * betweenMs + 200);
  await letGo();
  await Promise.all(said);
}

/** Temporal refuses for a while what is said to a run whose short tasks time out on a busy machine. */
async function heard(handle: string, verb: ControlVerb): Promise<void> {
  await harness.say(handle, verb).catch(() => undefined);
}

test('pauses and resumes said in the first steps', async () => {
  const handles = many('first');
  await outlast(handles, once('first', [create('kept', { n: 1 }), { type: 'approval', message: 'Go on?' }, create('kept', { n: 2 })]), async (handle) => {
    const verbs = ['resume', 'pause', 'resume', 'pause'] as const;
    await Promise.all(verbs.map((verb, nth) => sleep(10 * nth).then(() => heard(handle, verb))));
  });
  for (const handle of handles) {
    await heard(handle, 'resume');
    await harness.untilEvent(handle, (event) => event.type === 'asked');
    const { questions } = await harness.state(handle);
    await answerRun(harness.client, handle, { id: questions[0]?.id ?? '', choice: 'approve', by: 'ada' });
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});

test('words of a parent in the last steps', async () => {
  const handles = many('last');
  await outlast(handles, once('last', [shell('true'), create('kept', { n: 3 })]), async (handle) => {
    await harness.untilEvent(handle, (event) => event.type === 'step-finished');
    for (const verb of ['pause', 'resume'] as const) await harness.workflow(handle).signal(SIGNALS.control, verb);
  });
  for (const handle of handles) expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});

test('questions about a run, those of the Web UI too', async () => {
  const handles = many('asked');
  const fork = once('asked', [{ type: 'parallel', branches: [[create('kept', { n: 4 }), shell('true')], [shell('true'), create('kept', { n: 5 })], [create('kept', { n: 6 })]] }, create('kept', { n: 7 })]);
  await outlast(handles, fork, async (handle) => {
    const asked = [QUERIES.status, QUERIES.steps, '__temporal_workflow_metadata'].map((query) => harness.workflow(handle).query(query));
    await Promise.all([...asked, heard(handle, 'pause')]);
    await heard(handle, 'resume');
  });
  for (const handle of handles) {
    await heard(handle, 'resume');
    expect(await harness.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  expect(await notReplayed(harness, handles, 0)).toEqual([]);
});
