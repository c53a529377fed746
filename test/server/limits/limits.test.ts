/** Limits of a project over real runs: what waits, what it says while it does, and what is left alone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import type { Warning } from '../../../language/events/run-event.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';

let harness: Harness;
let model: ScriptedModel;
/** Whether the provider answers. */
let isAway = false;

beforeAll(async () => {
  harness = await Harness.open();
  writeFileSync(
    join(harness.project, 'sentinel.config.mjs'),
    `export default {
      limits: {
        providers: { openai: { concurrent: 50 } },
        tools: { 'code/tree': { concurrent: 1 }, 'code/read': { perMinute: 2 }, 'data/list': { perMinute: 1 } },
        breaker: { failures: 2, windowMs: 60000, restMs: 6000 },
      },
    };\n`,
  );
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  model = await new ScriptedModel(({ name, turn }) => {
    if (isAway) return { status: 503, headers: { 'content-type': 'application/json' }, pieces: ['{}'] };
    if (name === 'reads' && turn === 1) return calls({ id: 'one', name: 'code_read', input: { path: 'a.txt' } });
    return answers('done');
  }).open();
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const read = (rest: Partial<Step> = {}): Step =>
  ({ type: 'command', command: 'code/read', params: { path: 'a.txt' }, ...rest }) as Step;

const waitsOf = async (handle: string): Promise<Warning[]> =>
  (await harness.events(handle)).filter(
    (event) => event.type === 'warning' && event.waitsFor !== undefined,
  ) as Warning[];

/** A minute is long for a test: the limit was used up most of one ago, and the next may begin in four seconds. */
async function usedUp(tool: string, times: number): Promise<void> {
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  await client.query('delete from permits where subject = $1', [`tool:${tool}`]);
  await client.query(
    `insert into permits (subject, id, at) select $1, 'before ' || n, now() - interval '56 seconds' from generate_series(1, $2) n`,
    [`tool:${tool}`, times],
  );
  await client.end();
}

test('a step over its limit waits by name, and no attempt is used up', async () => {
  await usedUp('code/read', 2);
  const handle = await harness.start(
    once('reads', [read({ retry: { attempts: 2, backoffMs: 10 }, outputTo: 'read' })]),
  );
  await until(async () => (await waitsOf(handle)).length > 0);
  const [wait] = await waitsOf(handle);
  expect(wait).toMatchObject({ code: 'RATE_LIMITED', waitsFor: 'code/read' });
  expect(wait?.message).toMatch(/is waiting for code\/read until 20\S+Z: limit of 2 a minute/);
  // As a person sees it.
  const { out } = await harness.command('status', handle);
  expect(out).toMatch(/waiting for code\/read until \d\d:\d\d:\d\d: limit of 2 a minute/);
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: { read: { content: 'what a says' } },
  });
  const finished = (await harness.events(handle)).filter(({ type }) => type === 'step-finished');
  expect(finished.map((event) => (event as { outcome: string }).outcome)).toEqual(['retried', 'ok']);
  expect(await harness.store.incidents.find({ handle })).toEqual([]);
});

test('a quick step in a segment hands the wait to its run', async () => {
  await usedUp('data/list', 1);
  const list: Step = { type: 'command', command: 'data/list', params: { collection: 'x' } };
  const { result, events } = await harness.run(once('lists', [{ ...list, outputTo: 'found' }]));
  expect(result).toMatchObject({ outcome: 'completed', outputs: { found: [] } });
  expect(events.filter((event) => event.type === 'warning')).toHaveLength(1);
});

test('after failures in a row a provider is left alone, and turns wait for it', async () => {
  isAway = true;
  const first = await harness.start(
    once('alone', [{ type: 'llm', model: 'openai/some-model', prompt: 'alone Say it', outputTo: 'answer' }]),
  );
  await until(async () => (await harness.store.limits.circuits()).some(({ state }) => state !== 'closed'));
  await until(async () =>
    (await waitsOf(first)).some(({ message }) => message.includes('openai is left alone after 2 failures')),
  );
  const { out } = await harness.command('doctor');
  expect(out).toMatch(/provider openai\s.*2 failures in a row/);
  const asked = model.turns.length;
  isAway = false;
  expect(await harness.result(first)).toMatchObject({ outcome: 'completed', outputs: { answer: 'done' } });
  // One request found out, and it was the answer.
  expect(model.turns.length).toBe(asked + 1);
  expect(await harness.store.limits.circuits()).toEqual([]);
});

test('after failures in a row a tool is refused at once, and works again after its rest', async () => {
  const slow: Step = {
    type: 'command',
    command: 'code/shell/execute',
    params: { command: 'sleep 5' },
    timeoutMs: 200,
    onError: 'skip',
  };
  const quick: Step = {
    type: 'command',
    command: 'code/shell/execute',
    params: { command: 'echo hi' },
  };
  const { events } = await harness.run(once('trips', [slow, slow, { ...quick, onError: 'skip' }]));
  const codes = events.flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
  );
  expect(codes).toEqual(['STEP_TIMEOUT', 'STEP_TIMEOUT', 'CIRCUIT_OPEN']);
  // Its retry waits until it is tried again.
  const { result } = await harness.run(
    once('recovers', [{ ...quick, retry: { attempts: 5, backoffMs: 10 }, outputTo: 'said' }]),
  );
  expect(result).toMatchObject({ outcome: 'completed', outputs: { said: { stdout: 'hi\n' } } });
});

test('what a model calls waits its turn, and the model is told nothing of it', async () => {
  await usedUp('code/read', 2);
  const handle = await harness.start(
    once('asks', [
      { type: 'llm', model: 'openai/some-model', prompt: 'reads Read it', tools: ['code/read'], outputTo: 'answer' },
    ]),
  );
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'done' } });
  expect(await waitsOf(handle)).toHaveLength(1);
  const told = JSON.stringify(model.turnsOf('reads').at(-1));
  expect(told).toContain('what a says');
  expect(told).not.toContain('limit of');
});
