/** A system of a project: in steps, in segments, as tools of a model, and for followers of its events. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Step } from '../../../language/model.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';
import { CONFIG, NOTES } from './notes-project.ts';

let harness: Harness;
let model: ModelDouble;
let client: SentinelClient;
beforeAll(async () => {
  model = await new ModelDouble().open();
  harness = await Harness.open();
  writeFileSync(join(harness.project, 'notes.ts'), NOTES);
  writeFileSync(join(harness.project, 'sentinel.config.ts'), CONFIG);
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
  await model.close();
});

const add = (text: string, rest: Partial<Step> = {}): Step =>
  ({ type: 'command', command: 'notes/add', params: { text }, ...rest }) as Step;

let runs = 0;
async function run(steps: Step[], options: { slow?: true } = {}) {
  runs += 1;
  const handle = `notes-${runs}`;
  const definition = once('notes', steps, options.slow === true ? { durability: 'step' } : {});
  await client.start(definition, { handle, project: harness.project, persona: 'ada' });
  return client.result(handle);
}

async function query<Row extends object>(sql: string): Promise<Row[]> {
  const database = new Client({ connectionString: harness.databaseUrl });
  await database.connect();
  try {
    return (await database.query<Row>(sql)).rows;
  } finally {
    await database.end();
  }
}

const rows = (sql: string): Promise<{ text: string }[]> => query(sql);

test.each(['in a segment', 'in activities'])(
  '%s: each row once, with its event, and what fails leaves nothing',
  async (how) => {
    const slow = how === 'in activities' ? ({ slow: true } as const) : {};
    const [first, second] = [`first ${how}`, `second ${how}`];
    const report = await run(
      [
        add(first, { outputTo: 'added' }),
        add(first, { onError: 'skip' }),
        add('x'.repeat(41), { onError: 'skip' }),
        add(second),
        { type: 'command', command: 'notes/list', params: { like: `% ${how}` }, outputTo: 'list' },
      ],
      slow,
    );
    expect(report).toMatchObject({ status: 'completed' });
    expect(report.outputs['list']).toMatchObject([{ text: first, by: 'ada' }, { text: second }]);
    expect(report.outputs['added']).toMatchObject({ text: first });
    const failed = (await harness.events(report.handle)).flatMap((event) =>
      event.type === 'step-finished' && event.failure !== undefined ? [event.failure.code] : [],
    );
    expect(failed).toEqual(['NOTE_THERE', 'NOTE_TOO_LONG']);
    const published = await query<{ data: { text: string } }>(
      `select data from published_events where name = 'notes:added' and handle = '${report.handle}' order by seq`,
    );
    expect(published.map(({ data }) => data.text)).toEqual([first, second]);
  },
);

test('a code that no repeat changes is tried again only where the step names it', async () => {
  const [often, code] = [{ attempts: 3, backoffMs: 1 }, 'NOTE_THERE'];
  const again = { ...often, on: [code] };
  const { handle, failure } = await run([
    add('once'),
    add('once', { retry: often, onError: 'skip' }),
    add('x'.repeat(41), { retry: often, onError: 'skip' }),
    add('once', { retry: again }),
  ]);
  expect(failure).toMatchObject({ code });
  const tried = (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined
      ? [`${event.key} ${event.outcome} ${event.failure.code}`]
      : [],
  );
  expect(tried).toEqual([
    'steps.1@1 skipped NOTE_THERE',
    'steps.2@1 retried NOTE_TOO_LONG',
    'steps.2#2@1 retried NOTE_TOO_LONG',
    'steps.2#3@1 skipped NOTE_TOO_LONG',
    'steps.3@1 retried NOTE_THERE',
    'steps.3#2@1 retried NOTE_THERE',
    'steps.3#3@1 failed NOTE_THERE',
  ]);
});

test('a long command writes and calls in one transaction, and logs', async () => {
  const step: Step = { type: 'command', command: 'notes/import', params: { texts: ['one', 'two'] }, outputTo: 'done' };
  const report = await run([step]);
  expect(report.outputs['done']).toEqual({ added: 2, attempt: 1, resumed: null });
  expect(await rows("select text from notes_note where text in ('one', 'two') order by id")).toHaveLength(2);
  const again = await run([{ ...step, params: { texts: ['three', 'one'] } }]);
  expect(again).toMatchObject({
    status: 'failed',
    failure: { code: 'STATEMENT_REFUSED', details: { sqlState: '23505' } },
  });
  expect(await rows("select text from notes_note where text = 'three'")).toEqual([]);
  expect(await query("select 1 from records where collection = 'imports'")).toHaveLength(1);
});

test('as a tool of a model', async () => {
  model.next(callsTo('1', 'notes_add', { text: 'by a model' }), says('done'));
  const report = await run([
    { type: 'llm', model: MODEL, prompt: 'Note it.', tools: ['notes/add', 'notes/list'], outputTo: 'said' },
  ]);
  expect(report).toMatchObject({ status: 'completed', outputs: { said: 'done' } });
  expect(await rows("select text from notes_note where text = 'by a model'")).toHaveLength(1);
});

test.each([
  ['write', 'STATEMENT_REFUSED'],
  ['others', 'STATEMENT_REFUSED'],
  ['commit', 'STATEMENT_REFUSED'],
  ['publish', 'EVENT_NOT_STATED'],
  ['call', 'RIGHTS_EXCEEDED'],
  ['fail', 'FAILURE_NOT_STATED'],
])('a command that reads may do nothing else: %s', async (what, code) => {
  const before = await rows('select text from notes_note');
  const report = await run([{ type: 'command', command: 'notes/peek', params: { what } }]);
  expect(report).toMatchObject({ status: 'failed', failure: { code } });
  expect(await rows('select text from notes_note')).toEqual(before);
  expect(existsSync(join(harness.project, 'acted'))).toBe(false);
});

const heard = (): Promise<{ text: string }[]> =>
  rows("select text from notes_heard where text like 'heard %' order by position");

test('its follower hears each event once, in order', async () => {
  const texts = Array.from({ length: 10 }, (_, index) => `heard ${index}`);
  await run(texts.map((text) => add(text)));
  for (const end = Date.now() + 20_000; (await heard()).length < texts.length && Date.now() < end;) await sleep(100);
  expect((await heard()).map(({ text }) => text)).toEqual(texts);
});

test('a system whose tables cannot be made fails alone, and is named', async () => {
  const report = await run([
    { type: 'command', command: 'broken/get', onError: 'skip' },
    { type: 'command', command: 'notes/list', params: {}, outputTo: 'list' },
  ]);
  expect(report).toMatchObject({ status: 'completed' });
  const failures = (await harness.events(report.handle)).flatMap((event) =>
    event.type === 'step-finished' && event.failure !== undefined ? [event.failure] : [],
  );
  expect(failures).toMatchObject([
    { code: 'SYSTEM_UNUSABLE', message: expect.stringContaining('nothing of them was kept') as string },
  ]);
  const { out } = await harness.command('doctor', '--json');
  const { entries } = JSON.parse(out) as { entries: { name: string; ok: boolean }[] };
  expect(entries.filter(({ name }) => name.startsWith('system '))).toMatchObject([
    { name: 'system notes', ok: true },
    { name: 'system broken', ok: false },
  ]);
});
