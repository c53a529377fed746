/**
 * Texts of the authors that stand on memories and the inbox, on real services: put in are a model's name and what the double
 * at the wire answers. Judged by rows, events and memories.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { read } from '../../project/tree.ts';
import { Harness, until } from '../harness/harness.ts';
import { commitAll } from '../harness/models/broken-project.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

let harness: Harness;
let database: Client;
const model = new ModelDouble();
/** What the model answers to a prompt, by how it begins; a function sees all that it was asked. */
let script: readonly (readonly [string, (asked: string) => Json])[] = [];

const BUILD = `if (!require('node:fs').readFileSync('config.txt', 'utf8').includes('port=80')) {
  console.error('config.txt: the port is missing');
  process.exit(1);
}
`;

beforeAll(async () => {
  await model.open();
  model.double.answer(wire.path, (body) => {
    const messages = wire.messages(body);
    if (messages.at(-1)?.role === 'tool') return says('Done.');
    const texts = messages.flatMap((message) => message.texts);
    // What is known stands before the prompt.
    const prompt = messages.find(({ role }) => role === 'user')?.texts.at(-1) ?? '';
    const [, answer] = script.find(([begin]) => prompt.startsWith(begin)) ?? [];
    const asked = texts.join('\n');
    const said = answer?.(asked) ?? null;
    if (typeof said === 'object' && said !== null && 'edit' in said)
      return callsTo('e', 'code_edit', said['edit'] as object);
    return says(JSON.stringify(said));
  });
  harness = await Harness.open();
  const put = (path: string, text: string): void => writeFileSync(join(harness.project, path), text);
  put('build.cjs', BUILD);
  put('config.txt', 'host=shop\nport=81\n');
  put('package.json', JSON.stringify({ name: 'shop', private: true, scripts: { build: 'node build.cjs' } }));
  put('.gitignore', '.sentinel\n');
  commitAll(harness.project);
  database = new Client({ connectionString: harness.databaseUrl });
  await database.connect();
  // A verb that acts may bring up another worker, which asks the same model.
  harness.variables = model.env;
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await database.end();
  await harness.close();
  await model.close();
});

function asWritten(task: string): Definition {
  const text = read(`test/cases/definitions/as-written/olympic-${task}.json`).replaceAll(
    /claude-3-5-[a-z]+-\d+/g,
    MODEL,
  );
  const parsed = parseDefinition((JSON.parse(text) as { definition: Json }).definition, { catalogue });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return parsed.definition;
}

const rows = async <Row extends object = JsonObject>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await database.query<Row>(text, [...values])).rows;
const memoriesOf = (persona: string, type: string) =>
  rows(
    'select content, tags, made_by as by, handle from memory_entries where persona = $1 and type = $2 order by seq',
    [persona, type],
  );
const eventsOf = (name: string) => rows('select data from published_events where name = $1 order by seq', [name]);
const cli = async (...args: string[]): Promise<Json> => {
  const said = await harness.command(...args, '--json');
  expect(said, `${args.join(' ')}: ${said.err}${said.out}`).toMatchObject({ code: 0 });
  return JSON.parse(said.out) as Json;
};

const mended = (from: string): JsonObject => ({ edit: { path: 'config.txt', old: from, new: 'port=80' } });

describe('5.1 as it was written', () => {
  const persona = 'builder-ai';
  const build = async (handle: string) =>
    harness.run(asWritten('5.1-self-improving-builder'), { handle: `${handle}-${harness.taskQueue}`, persona });

  test('a failure that is new becomes a memory, once, and the build is mended', async () => {
    script = [
      ['New or known?', () => ({ isNewPattern: true, category: 'configuration', knownSolution: null })],
      ['Suggest a fix:', () => mended('port=81')],
    ];
    const { result } = await build('first');
    expect(result).toMatchObject({ outcome: 'completed', iterations: 2 });
    expect(await memoriesOf(persona, 'sentinel-execution')).toMatchObject([
      {
        content: {
          error: expect.stringContaining('the port is missing') as string,
          analysis: { isNewPattern: true, category: 'configuration' },
        },
        tags: ['build-failure', 'configuration'],
        by: persona,
      },
    ]);
    expect(await eventsOf('sentinel:build:success')).toHaveLength(1);
  });

  test('the next time it is shown to the model, which knows it, and nothing is stored twice', async () => {
    writeFileSync(join(harness.project, 'config.txt'), 'host=shop\nport=82\n');
    let shown = '';
    script = [
      [
        'New or known?',
        (asked) => {
          shown = asked;
          return { isNewPattern: false, knownSolution: 'write port=80' };
        },
      ],
      ['Apply: write port=80', () => mended('port=82')],
    ];
    const { result } = await build('second');
    expect(result).toMatchObject({ outcome: 'completed', iterations: 2 });
    // The memory, with where it is from.
    expect(shown).toContain('the port is missing');
    expect(shown).toContain('"category":"configuration"');
    expect(shown).toContain(`first-${harness.taskQueue}`);
    expect(await memoriesOf(persona, 'sentinel-execution')).toHaveLength(1);
    expect(await eventsOf('sentinel:build:success')).toHaveLength(2);
  });

  test('what has served is recalled by a question of a person, and --run runs it', async () => {
    // The memory counts a run when its end is followed.
    await until(async () => JSON.stringify(await memoriesOf(persona, 'sentinel')).includes('"executions":2'));
    const question = 'what did I do last time the build broke?';
    const recalled = (await cli(
      'memory',
      'recall',
      question,
      '--persona-id',
      persona,
      '--type',
      'sentinel',
    )) as JsonObject;
    expect(recalled['result']).toMatchObject([
      { type: 'sentinel', content: { name: 'self-improving-builder', executions: 2, successes: 2, successRate: 1 } },
    ]);
    // It builds: nothing is asked of the model.
    script = [];
    const before = model.turns.length;
    const ran = await harness.command(
      'memory',
      'recall',
      question,
      '--persona-id',
      persona,
      '--type',
      'sentinel',
      '--run',
    );
    expect(ran, `${ran.err}${ran.out}`).toMatchObject({ code: 0 });
    expect(model.turns).toHaveLength(before);
    expect(await eventsOf('sentinel:build:success')).toHaveLength(3);
  });
});

test('5.3 as it was written: what is routine becomes a sentinel that runs, and what is complex asks for attention', async () => {
  const persona = 'helper-ai';
  const post = async (message: string): Promise<string> => {
    const posted = (await cli('command', 'inbox/post', `--personaId=${persona}`, `--message=${message}`)) as JsonObject;
    return (posted['result'] as { itemId: string }).itemId;
  };
  const [routine, complex] = [await post('Count the files again.'), await post('Decide whether we move to Lisbon.')];
  let shown = '';
  script = [
    ['Count the files.', () => ({ count: 3 })],
    [
      'Draft sentinels',
      (asked) => {
        shown = asked;
        // A draft of a model that has no tools does what that model could do: it asks a model.
        const steps = [{ type: 'llm', model: MODEL, prompt: 'Count the files.', outputTo: 'counted' }];
        const task = { name: 'count-files', steps, loop: { type: 'once' }, sourceInboxItem: routine };
        return { sentinelTasks: [task], complexTasks: [{ itemId: complex, why: 'nobody can know' }] };
      },
    ],
  ];
  const handle = await harness.start(asWritten('5.3-delegate-routine-tasks'), {
    handle: `delegates-${harness.taskQueue}`,
    persona,
  });
  await until(async () => (await eventsOf('persona:attention:needed')).length > 0);
  await harness.command('stop', handle);
  for (const text of ['Count the files again.', 'Decide whether we move to Lisbon.', routine])
    expect(shown).toContain(text);
  expect(await eventsOf('persona:attention:needed')).toMatchObject([{ data: [{ itemId: complex }] }]);
  expect(
    await rows('select id, state, closed_by as by from inbox_items where persona = $1 order by seq', [persona]),
  ).toEqual([
    { id: routine, state: 'done', by: persona },
    { id: complex, state: 'open', by: null },
  ]);
  // The run of the draft is the persona's, who did not write it.
  await until(
    async () => (await rows(`select 1 from runs where name = 'count-files' and outcome = 'completed'`)).length > 0,
  );
  expect(await rows(`select persona, outputs from runs where name = 'count-files'`)).toMatchObject([
    { persona, outputs: { counted: { count: 3 } } },
  ]);
});

test('10.2 as it was written: what serves an expert is saved and remembered for a learner', async () => {
  const skill = {
    name: 'sweep-logs',
    description: 'Sweeps old logs.',
    steps: [{ type: 'llm', model: MODEL, prompt: 'Which logs are old?', outputTo: 'old' }],
    loop: { type: 'once' },
  };
  let shown = '';
  script = [
    ['Which logs', () => ({ logs: [] })],
    [
      'Which of',
      (asked) => {
        shown = asked;
        return { selectedSentinel: skill, domain: 'operations' };
      },
    ],
  ];
  writeFileSync(join(harness.project, 'sweep-logs.json'), JSON.stringify(skill));
  await cli('save', 'sweep-logs.json', '--by', 'expert-ai');
  for (let runs = 0; runs < 2; runs += 1)
    expect(await harness.command('run', 'sweep-logs', '--persona', 'expert-ai')).toMatchObject({ code: 0 });
  const inputs = { expertPersonaId: 'expert-ai', learnerPersonaId: 'learner-ai', learnerGaps: ['logs fill the disk'] };
  const { result } = await harness.run(asWritten('10.2-skill-transfer'), {
    handle: `transfer-${harness.taskQueue}`,
    persona: 'learner-ai',
    inputs,
  });
  expect(result).toMatchObject({ outcome: 'completed' });
  for (const text of ['sweep-logs', '"runCount":2', 'logs fill the disk']) expect(shown).toContain(text);
  const { id = '' } = (result.outputs?.['savedSentinel'] ?? {}) as { id?: string };
  // What a model has chosen is found by its id, and by no name that somebody else has.
  expect(await rows('select name, version from definitions where hash = $1', [id])).toEqual([{ name: id, version: 0 }]);
  expect(
    (await memoriesOf('learner-ai', 'sentinel')).filter(({ tags }) => (tags as string[]).includes('learned-skill')),
  ).toMatchObject([
    { content: { name: 'sweep-logs', id, personaId: 'learner-ai' }, tags: ['learned-skill', 'operations'] },
  ]);
  expect(await harness.command('run', id, '--persona', 'learner-ai')).toMatchObject({ code: 0 });
  const recalled = ['recall', 'which logs fill the disk?', '--persona-id', 'learner-ai', '--type', 'sentinel'];
  const ran = await harness.command('memory', ...recalled, '--run', '--as', 'ada');
  expect(ran, `${ran.err}${ran.out}`).toMatchObject({ code: 0 });
  expect(ran.out).toContain('sweep-logs');
  expect(await eventsOf('persona:skill:transferred')).toMatchObject([
    { data: { from: 'expert-ai', to: 'learner-ai', skill: { name: 'sweep-logs', id } } },
  ]);
});
