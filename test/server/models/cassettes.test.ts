/** Runs that are recorded over the scripted wire and replayed without it: the same events, and nobody is asked. */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sample } from '../../../operations/samples/samples.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition, Step } from '../../../language/model.ts';
import type { Run as RunRow } from '../../../prisma/store/contract/contract.ts';
import { create, once, shell } from '../harness/definitions.ts';
import { Harness, until, type Said } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

let harness: Harness;
let model: ModelDouble;
let recorded: Ran;
/** Requests to the provider while both runs were recorded. */
let asked: number;
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  harness.variables = model.env;
  await harness.startWorker();
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  scriptWhole();
  recorded = await run(write(whole), '--record', 'whole.cassette.json');
  model.next(says('once'), says('twice'));
  await run(write(two), '--record', 'two.cassette.json');
  model.next(says('started'));
  const starting = await run(write(starts));
  await ended(starting);
  await harness.command('cassette', starting.handle, '-o', 'starts.cassette.json');
  asked = model.double.asked.length;
  // Nobody answers any more.
  await model.close();
});
afterAll(async () => {
  await harness.close();
});

function write(definition: Definition): string {
  const file = `${definition.name}.json`;
  writeFileSync(join(harness.project, file), JSON.stringify(definition));
  return file;
}

interface Ran extends Said {
  handle: string;
  report: JsonObject;
  events: JsonObject[];
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

async function run(...args: string[]): Promise<Ran> {
  const said = await harness.command('run', ...args, '--json');
  const lines = said.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
  const report = lines.at(-1) ?? {};
  return {
    ...said,
    handle: textOf(report['handle']),
    report,
    events: lines.slice(0, -1).filter(({ type }) => type !== 'said'),
  };
}

/** Without what time and the run's own name decide, those of each run together. */
const VARYING = new Set(['at', 'durationMs', 'webUrl', 'until', 'seq', 'definitionHash']);
function steady(value: unknown, handle: string, project: string): Json {
  const text = JSON.stringify(value, (name, field: unknown) => (VARYING.has(name) ? undefined : field));
  return JSON.parse(
    text
      .replaceAll(handle, 'HANDLE')
      .replaceAll(project, 'PROJECT')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32,}/g, 'ID')
      .replaceAll(/(\\"(?:durationMs|createdAt)\\":)\d+/g, '$10'),
  ) as Json;
}
const eventsOf = ({ events, handle }: Ran, project = harness.project): Json =>
  steady(
    events.toSorted((a, b) => (textOf(a['handle']) < textOf(b['handle']) ? -1 : a['handle'] === b['handle'] ? 0 : 1)),
    handle,
    project,
  );

const look: Step = {
  type: 'llm',
  model: MODEL,
  prompt: 'Look at a.txt in $PROJECT_ROOT',
  tools: ['code/read', 'code/shell/execute'],
  outputTo: 'answer',
};
const nested = once('inner', [{ type: 'llm', model: MODEL, prompt: 'Say it again: $answer', outputTo: 'again' }]);
const whole = once('recorded', [
  look,
  shell('echo "$ANSWER" && pwd', { env: { ANSWER: '$answer' }, outputTo: 'printed' }),
  { type: 'sentinel', definition: nested, outputTo: 'below' },
  { type: 'command', command: 'ai/generate', params: { model: MODEL, prompt: 'And a third time' }, outputTo: 'third' },
  create('ends', { answer: '$answer', third: '$third.text' }),
]);

/** The same each time: it is told of no variable. */
const ask = (outputTo: string): Step => ({
  type: 'command',
  command: 'ai/generate',
  params: { model: MODEL, prompt: 'How often?' },
  outputTo,
});
const two = once('two', [ask('answer'), create('often', { said: '$answer.text' }), ask('second')]);

const starts = once('starts', [
  {
    type: 'command',
    command: 'sentinel/run',
    params: {
      definition: {
        name: 'started',
        loop: { type: 'once' },
        steps: [{ type: 'llm', model: MODEL, prompt: 'Who?', outputTo: 'who' }],
      },
    },
    outputTo: 'started',
  },
]);

/** The run that a step of this one has started, once it has ended. */
async function ended({ report }: Ran): Promise<RunRow | null> {
  const { started } = report['outputs'] as { started: { handle: string } };
  const find = (): Promise<RunRow | null> => harness.store.runs.find(started.handle);
  await until(async () => ((await find())?.finishedAt ?? null) !== null);
  return find();
}

/** A call that reads, one whose result differs each time it is made, an overload in between, and answers. */
function scriptWhole(): void {
  model.next(
    callsTo('one', 'code_read', { path: join(harness.project, 'a.txt') }),
    callsTo('two', 'code_shell_execute', { command: 'pwd; date +%s > /dev/null' }),
    {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '0' },
      pieces: ['{"error":{"message":"busy"}}'],
    },
    says('a says ', 'what it says'),
    says('again'),
    says('third'),
  );
}

test('a recorded run replays without a network, event by event, here and in another folder', async () => {
  expect(recorded.report, recorded.err).toMatchObject({
    outcome: 'completed',
    outputs: { answer: 'a says what it says' },
  });
  const cassette = readFileSync(join(harness.project, 'whole.cassette.json'), 'utf8');
  expect(cassette).not.toContain(harness.project);
  expect(cassette).not.toContain(recorded.handle);
  expect(JSON.parse(cassette)).toMatchObject({ requests: { length: 6 } });

  const replayed = await run('recorded.json', '--replay', 'whole.cassette.json');
  expect(replayed.report, replayed.err).toMatchObject({ outcome: 'completed' });
  expect(eventsOf(replayed)).toEqual(eventsOf(recorded));
  expect(steady(replayed.report['outputs'], replayed.handle, harness.project)).toEqual(
    steady(recorded.report['outputs'], recorded.handle, harness.project),
  );

  const other = mkdtempSync(join(tmpdir(), 'sentinel-another-'));
  mkdirSync(join(other, 'sentinels'));
  writeFileSync(join(other, 'a.txt'), 'what a says');
  const elsewhere = await run('recorded.json', '--project', other, '--replay', 'whole.cassette.json');
  expect(elsewhere.report, elsewhere.err).toMatchObject({ outcome: 'completed' });
  expect(eventsOf(elsewhere, other)).toEqual(eventsOf(recorded));
  expect(model.double.asked).toHaveLength(asked);

  // Nobody was paid, and the transcript is the same.
  const costs = await harness.command('costs', replayed.handle, '--json');
  expect(JSON.parse(costs.out)).toMatchObject({ total: { requests: 0, usd: 0 } });
  const transcript = async ({ handle }: Ran): Promise<string[]> =>
    (await harness.command('transcript', handle, '--markdown')).out
      .replaceAll(/"durationMs":\d+/g, '"durationMs":0')
      .split('\n')
      .filter((line) => !line.startsWith('#'));
  expect(await transcript(replayed)).toEqual(await transcript(recorded));

  // Of a run that was not started with --record, too; and of a replay the cassette is the same.
  const again = await harness.command('cassette', replayed.handle);
  expect(again.code).toBe(0);
  expect(again.out).toBe(cassette);
});

test('what the cassette does not hold fails its step, and shows the nearest request', async () => {
  const file = write({ ...whole, name: 'changed', steps: [{ ...look, prompt: 'Look at b.txt in $PROJECT_ROOT' }] });
  const { code, report } = await run(file, '--replay', 'whole.cassette.json');
  expect(code).toBe(1);
  expect(report).toMatchObject({ outcome: 'failed', failure: { code: 'CASSETTE_MISS' } });
  const { message } = report['failure'] as { message: string };
  expect(message).toContain('turn 1 of steps.0@1');
  expect(message).toContain('-user: Look at a.txt in ⟦project⟧');
  expect(message).toContain('+user: Look at b.txt in ⟦project⟧');
  expect(message).toContain('--record');
  expect(model.double.asked).toHaveLength(asked);
});

test('a request is answered as often as it was recorded, and no more', async () => {
  const outputs = { answer: { text: 'once' }, second: { text: 'twice' } };
  expect((await run('two.json', '--replay', 'two.cassette.json')).report).toMatchObject({ outputs });
  const three = write(once('three', [ask('answer'), ask('second'), ask('third')]));
  const { report } = await run(three, '--replay', 'two.cassette.json');
  expect(report).toMatchObject({ outcome: 'failed', failure: { code: 'CASSETTE_MISS' } });
  expect((report['failure'] as { message: string }).message).toMatch(
    /turn 1 of steps\.2@1 2 times, and it is asked once more/,
  );
});

test('a run that a command starts answers from the cassette of the run that it belongs to', async () => {
  const replayed = await run('starts.json', '--replay', 'starts.cassette.json');
  expect(await ended(replayed)).toMatchObject({ outcome: 'completed', outputs: { who: 'started' } });
  expect(model.double.asked).toHaveLength(asked);
});

test('a cassette that cannot be used is refused before anything starts, and so are options that do not go together', async () => {
  writeFileSync(join(harness.project, 'broken.json'), JSON.stringify({ sentinelCassette: 1, run: {}, requests: [] }));
  for (const [args, finding] of [
    [['recorded.json', '--replay', 'nothing.json'], 'cannot be read'],
    [['recorded.json', '--replay', 'broken.json'], 'run.name: '],
    [['recorded.json', '--replay', 'whole.cassette.json', '--record', 'x.json'], 'cannot go together'],
    [['recorded.json', '--record', 'x.json', '--detach'], 'leave out --detach'],
  ] as const) {
    const { code, err, out } = await harness.command('run', ...args);
    expect({ code, out }, err).toEqual({ code: 2, out: '' });
    expect(err).toContain(finding);
  }
  expect((await harness.command('cassette', 'no-such-run')).code).toBe(4);
});

test('conversations are written as samples, by how their runs and steps ended', async () => {
  const lines = async (...args: string[]): Promise<Sample[]> => {
    const { code, out, err } = await harness.command('samples', ...args);
    expect(code, err).toBe(0);
    return out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Sample);
  };
  const found = await lines('--name', 'recorded', '--outcome', 'completed');
  const [first] = found;
  expect(first).toMatchObject({
    messages: [
      { role: 'user' },
      { role: 'assistant', content: null, tool_calls: [{ function: { name: 'code_read' } }] },
      { role: 'tool', tool_call_id: 'one' },
      { role: 'assistant' },
      { role: 'tool', tool_call_id: 'two' },
      { role: 'assistant', content: 'a says what it says' },
    ],
    metadata: { name: 'recorded', key: 'steps.0@1', model: MODEL, outcome: 'completed', stepOutcome: 'ok', turns: 3 },
  });
  expect(first?.tools?.map((tool) => tool.function.name)).toEqual(['code_read', 'code_shell_execute']);
  expect(await lines('--outcome', 'failed', '--name', 'recorded')).toEqual([]);
  const handle = first?.metadata.handle ?? '';
  // What replays said again is the recorded run's.
  expect([...new Set(found.map(({ metadata }) => metadata.handle))]).toEqual([recorded.handle]);
  const keys = (await lines(handle)).map(({ metadata: { name, key } }) => [name, key]);
  expect(keys).toEqual([
    ['recorded', 'steps.0@1'],
    ['recorded', 'steps.3@1'],
    ['inner', 'steps.0@1'],
  ]);
  const written = await harness.command('samples', handle, '-o', 'samples.jsonl', '--json');
  expect(JSON.parse(written.out)).toEqual({ file: 'samples.jsonl', samples: 3, runs: 2 });
  expect(readFileSync(join(harness.project, 'samples.jsonl'), 'utf8').trim().split('\n')).toHaveLength(3);
  expect((await harness.command('samples', 'no-such-run')).code).toBe(4);
  expect((await harness.command('samples', '--outcome', 'well')).code).toBe(2);
});
