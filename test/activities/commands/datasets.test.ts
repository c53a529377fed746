/** ai/dataset: where rows come from, which part each goes to, and what is refused with its row. */
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { keepOwnKeys } from '../../../world/own-keys/own-keys.ts';
import { useStore } from '../../store/harness/opened.ts';
import { commandContext } from '../harness/command-context.ts';
import { commandsOf } from '../harness/commands-of.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const registry = builtInRegistry();
const opened = useStore();

type Part = 'train' | 'validation' | 'gate';
interface DataSet {
  path: string;
  name: string;
  hash: string;
  rows: number;
  duplicates: number;
  parts: { [part in Part]: { file: string; rows: number; bytes: number; sha256: string } };
}

const { step } = commandsOf(opened, registry);
const run = (name: string, params: JsonObject, project: string, over: Partial<CommandContext> = {}): Promise<Json> =>
  step(name, params, project, { now: () => 5, ...over, run: { ...commandContext(project, over).run, project } });

const create = async (params: JsonObject, project: string, over: Partial<CommandContext> = {}): Promise<DataSet> =>
  (await run('ai/dataset/create', params, project, over)) as unknown as DataSet;

const rowsIn = ({ path, parts }: DataSet, part: Part): JsonObject[] =>
  readFileSync(join(path, parts[part].file), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as JsonObject);

const asked = (row: JsonObject): string => (row['messages'] as { content: string }[])[0]?.content ?? '';

const question = (n: number, more: JsonObject = {}): JsonObject => ({
  input: `q${n}`,
  expectedOutput: `a${n}`,
  ...more,
});
const many = (count: number): JsonObject[] => Array.from({ length: count }, (_, n) => question(n));

async function keep(collection: string, rows: readonly JsonObject[]): Promise<void> {
  const session = opened.store.session();
  for (const [at, row] of rows.entries()) await opened.store.records.create(session, collection, `r${at}`, row);
  await session.commit({ handle: collection, key: 'k', result: null, events: [] });
}

const failing = (params: JsonObject, project: string, over: Partial<CommandContext> = {}) =>
  expect(create(params, project, over)).rejects;

const factOf = (row: JsonObject): number => Number(asked(row).slice(1)) % 40;

describe('a data set', () => {
  it('has each row once, in the same part every time, and nothing of it but question, answer and domain', async () => {
    const project = await temporaryFolder();
    const rows = many(1_200).map((row) => ({ ...row, domain: 'sql', myAnswer: 'wrong', correction: 'no' }));
    await keep('examples', [...rows, ...rows.slice(0, 7).map((row) => ({ ...row, again: true }))]);
    const first = await create({ source: 'examples' }, project);
    expect(first).toMatchObject({
      rows: 1_200,
      duplicates: 7,
      groupBy: null,
      from: { source: 'examples' },
      createdAt: 5,
    });
    const parts = (['train', 'validation', 'gate'] as const).map((part) => rowsIn(first, part).map(asked));
    expect(parts.map(({ length }) => length)).toEqual([
      first.parts.train.rows,
      first.parts.validation.rows,
      first.parts.gate.rows,
    ]);
    expect(parts.flat().toSorted()).toEqual(Array.from({ length: 1_200 }, (_, n) => `q${n}`).toSorted());
    // A tenth, as far as 1,200 rows can tell.
    for (const part of ['validation', 'gate'] as const) expect(first.parts[part].rows / 1_200).toBeCloseTo(0.1, 1);
    expect(rowsIn(first, 'gate')[0]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      messages: [
        { role: 'user', content: parts[2]?.[0] },
        { role: 'assistant', content: String(parts[2]?.[0]).replace('q', 'a') },
      ],
      domain: 'sql',
    });
    // Fewer rows, in another order: each is where it was.
    const some = rows.slice(300, 900).toReversed();
    const second = await create({ rows: some }, project);
    const wasAt = new Map(parts.flatMap((inputs, part) => inputs.map((input) => [input, part])));
    for (const [at, part] of (['train', 'validation', 'gate'] as const).entries())
      expect(new Set(rowsIn(second, part).map((row) => wasAt.get(asked(row))))).toEqual(new Set([at]));
    expect(statSync(first.path).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(project, 'datasets')).toSorted()).toEqual([first.name, second.name].toSorted());
  });

  it('keeps rows of one fact together, and finds those that a filter fits', async () => {
    const project = await temporaryFolder();
    await keep(
      'facts',
      Array.from({ length: 300 }, (_, n) => question(n, { fact: n % 40, score: n % 100 })),
    );
    const made = await create(
      { source: 'facts', groupBy: 'fact', filter: { score: { $gte: 20 } }, parts: { gate: 0.3 } },
      project,
    );
    expect(made.rows).toBe(240);
    const facts = (['train', 'validation', 'gate'] as const).map((part) => new Set(rowsIn(made, part).map(factOf)));
    expect(facts.map(({ size }) => size > 0)).toEqual([true, true, true]);
    expect(new Set(rowsIn(made, 'train').map(({ groupedBy }) => groupedBy))).toEqual(new Set([undefined]));
    const byScore = await create({ source: 'facts', groupBy: 'score' }, project);
    expect(new Set(rowsIn(byScore, 'train').map(({ groupedBy }) => groupedBy))).toEqual(new Set(['score']));
    expect(facts.reduce((sum, { size }) => sum + size, 0)).toBe(new Set(facts.flatMap((one) => [...one])).size);
  });

  it('is the same one when the step is tried again, and another one needs another name', async () => {
    const project = await temporaryFolder();
    const first = await create({ rows: many(20), name: 'twenty' }, project, { now: () => 1 });
    expect(await create({ rows: many(20), name: 'twenty' }, project, { now: () => 2 })).toEqual(first);
    await failing({ rows: many(21), name: 'twenty' }, project).toMatchObject({ code: 'DATASET_EXISTS' });
    expect(readdirSync(join(project, 'datasets'))).toEqual(['twenty']);
  });

  it('is made from conversations and from files, with marks and line ends of other systems', async () => {
    const project = await temporaryFolder();
    const chat = {
      messages: [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        { role: 'assistant', content: { a: 1 } },
      ],
    };
    const lines = [{ prompt: 'p', completion: 'c' }, chat, { question: 'q', answer: 4 }].map((row) =>
      JSON.stringify(row),
    );
    writeFileSync(join(project, 'rows.jsonl'), `\uFEFF${lines.join('\r\n')}\r\n\r\n`);
    const made = await create({ file: 'rows.jsonl', parts: { validation: 0, gate: 0 } }, project);
    expect(rowsIn(made, 'train').map(({ messages }) => messages)).toEqual([
      [
        { role: 'user', content: 'p' },
        { role: 'assistant', content: 'c' },
      ],
      [
        { role: 'system', content: 's' },
        { role: 'user', content: 'u' },
        { role: 'assistant', content: '{"a":1}' },
      ],
      [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: '4' },
      ],
    ]);
  });

  it('is made from samples of runs, with their calls and tools', async () => {
    const project = await temporaryFolder();
    const calls = [{ id: '1', type: 'function', function: { name: 'code_read', arguments: '{}' } }];
    const tools = [{ type: 'function', function: { name: 'code_read', parameters: {} } }];
    const messages = [
      { role: 'user', content: 'u' },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: '1', content: 'read' },
      { role: 'assistant', content: 'done' },
    ];
    writeFileSync(
      join(project, 'samples.jsonl'),
      JSON.stringify({ messages, tools, metadata: { handle: 'a', turns: 2 } }),
    );
    const made = await create({ file: 'samples.jsonl', parts: { validation: 0, gate: 0 } }, project);
    expect(rowsIn(made, 'train')).toEqual([{ id: expect.any(String) as string, messages, tools }]);
  });

  it('of a file that is larger than what is held reads it row by row', async () => {
    const project = await temporaryFolder();
    const body = 'x'.repeat(2_000);
    const file = join(project, 'large.jsonl');
    writeFileSync(
      file,
      Array.from({ length: 20_000 }, (_, n) => JSON.stringify(question(n, { expectedOutput: body }))).join('\n'),
    );
    const before = process.memoryUsage().heapUsed;
    let most = 0;
    const heartbeat = (): void => void (most = Math.max(most, process.memoryUsage().heapUsed));
    const made = await create({ file: 'large.jsonl' }, project, { heartbeat });
    expect(made.rows).toBe(20_000);
    expect(most).toBeGreaterThan(0);
    expect(statSync(file).size).toBeGreaterThan(40_000_000);
    // All of it as text would be twice that.
    expect(most - before).toBeLessThan(200_000_000);
  });
});

describe('what is refused', () => {
  it.each<[what: string, text: string | Buffer, code: string, words: string]>([
    ['an empty file', '', 'DATASET_EMPTY', 'there is no row in the file "rows.jsonl"'],
    ['a file of blank lines', '\n\n  \n', 'DATASET_EMPTY', 'there is no row'],
    [
      'no JSON',
      '{"input": "a", "expectedOutput": "b"}\nnot json\n',
      'DATASET_ROW_INVALID',
      'row 2 of "rows.jsonl" is no JSON',
    ],
    [
      'a list in one line',
      '[{"input": "a", "expectedOutput": "b"}]',
      'DATASET_ROW_INVALID',
      'row 1 of "rows.jsonl" is no object',
    ],
    [
      'no question',
      '{"text": "a"}',
      'DATASET_ROW_INVALID',
      'row 1 of "rows.jsonl" has no question with an answer; a row is {"messages"',
    ],
    [
      'an empty answer',
      '{"input": "a", "expectedOutput": ""}',
      'DATASET_ROW_INVALID',
      'has no question with an answer',
    ],
    [
      'no answer',
      '{"messages": [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}]}',
      'DATASET_ROW_INVALID',
      'its last message is not of the assistant',
    ],
    [
      'a role',
      '{"messages": [{"role": "robot", "content": "a"}, {"role": "assistant", "content": "b"}]}',
      'DATASET_ROW_INVALID',
      'no role at messages.0',
    ],
    [
      'no UTF-8',
      Buffer.from([0x22, 0xff, 0xfe, 0x22]),
      'DATASET_ROW_INVALID',
      'row 1 of "rows.jsonl" is no text in UTF-8',
    ],
    [
      'a line without end',
      'x'.repeat(1_100_000),
      'DATASET_ROW_INVALID',
      'row 1 of "rows.jsonl" has more than 1048576 bytes',
    ],
  ])('%s', async (_what, text, code, words) => {
    const project = await temporaryFolder();
    writeFileSync(join(project, 'rows.jsonl'), text);
    const refused = failing({ file: 'rows.jsonl' }, project);
    await refused.toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect(readdirSync(join(project, 'datasets'))).toEqual([]);
  });

  it.each<[JsonObject, string]>([
    [{}, 'say where the rows are'],
    [{ rows: [], parts: { validation: 0.5, gate: 0.5 } }, 'nothing to train on'],
    [{ rows: [], filter: { a: 1 } }, '"filter" is of "source"'],
    [{ source: 'a', filter: { a: { $near: 1 } } }, 'operators: $eq'],
    [{ rows: [], name: '../up' }, 'params.name'],
  ])('%j', async (params, words) => {
    const refused = failing(params, await temporaryFolder());
    await refused.toMatchObject({ code: 'COMMAND_PARAMS_INVALID', message: expect.stringContaining(words) as string });
  });

  it('a set of one row that falls into another part, with what to do', async () => {
    const project = await temporaryFolder();
    const refused = failing({ rows: many(1), parts: { validation: 0.499, gate: 0.5 } }, project);
    await refused.toMatchObject({
      code: 'DATASET_EMPTY',
      message: expect.stringMatching(/none of 1 rows.*smaller "parts"/) as string,
    });
    expect(await create({ rows: many(1), parts: { validation: 0, gate: 0 } }, project)).toMatchObject({ rows: 1 });
  });

  it('a secret, with the number of its row', async () => {
    const project = await temporaryFolder();
    keepOwnKeys([['SHOP_API_KEY', 'sk-a-key-0f-the-shop-1234']]);
    const rows = many(12);
    const holding = (text: string) => failing({ rows: rows.with(6, question(6, { expectedOutput: text })) }, project);
    for (const text of [
      'say sk-a-key-0f-the-shop-1234',
      Buffer.from('sk-a-key-0f-the-shop-1234').toString('base64'),
      `sealed_TOKEN_${'0a'.repeat(16)}`,
    ])
      await holding(text).toMatchObject({
        code: 'DATASET_SECRET',
        message: expect.stringContaining('row 7 of "rows" holds a secret') as string,
      });
    await keep('leaks', rows.with(3, question(3, { expectedOutput: 'sk-a-key-0f-the-shop-1234' })));
    await failing({ source: 'leaks' }, project).toMatchObject({
      code: 'DATASET_SECRET',
      message: expect.stringContaining('row 4 of the collection "leaks" (record "r3")') as string,
    });
    expect(readdirSync(join(project, 'datasets'))).toEqual([]);
  });
});

const outside = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'sentinel-datasets-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

describe('folders', () => {
  it('outside of the project are those for temporary files and of the settings, for the worker alone', async () => {
    const project = await temporaryFolder();
    const folder = await outside();
    const made = await create({ rows: many(9), outputPath: join(folder, 'a', 'training') }, project);
    expect(made.path.startsWith(join(folder, 'a', 'training'))).toBe(true);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
    expect(await run('ai/dataset/list', { path: join(folder, 'a', 'training') }, project)).toMatchObject({
      archives: [made],
    });
    await failing({ rows: many(9), outputPath: '/usr/share/training' }, project).toMatchObject({
      code: 'PATH_OUTSIDE_PROJECT',
    });
    const own = builtInRegistry({ settings: { datasets: { folders: ['/usr/share'] } } }).find('ai/dataset/list');
    expect(own?.system?.settings).toEqual({ folders: ['/usr/share'] });
  });

  it('outside of the project are closed to models, to stricter modes and to links', async () => {
    const project = await temporaryFolder();
    const folder = await outside();
    for (const confinement of [{ byModel: true }, { mode: 'sandboxed' }, { mode: 'readonly' }] as const) {
      await failing({ rows: many(9), outputPath: folder }, project, { confinement }).toMatchObject({
        code: 'PATH_OUTSIDE_PROJECT',
      });
      await expect(run('ai/dataset/list', { path: folder }, project, { confinement })).rejects.toMatchObject({
        code: 'PATH_OUTSIDE_PROJECT',
      });
    }
    expect(readdirSync(folder)).toEqual([]);
    mkdirSync(join(folder, 'there'));
    symlinkSync(join(folder, 'there'), join(folder, 'link'));
    await failing({ rows: many(9), outputPath: join(folder, 'link') }, project).toMatchObject({
      code: expect.any(String) as string,
    });
    expect(readdirSync(join(folder, 'there'))).toEqual([]);
    symlinkSync(folder, join(project, 'out'));
    await failing({ rows: many(9), outputPath: 'out' }, project).toMatchObject({ code: 'PATH_OUTSIDE_PROJECT' });
    await failing({ rows: many(9), outputPath: '.git/sets' }, project).toMatchObject({ code: 'PATH_PROTECTED' });
  });

  it('are listed with the newest first, and with what cannot be read', async () => {
    const project = await temporaryFolder();
    expect(await run('ai/dataset/list', { path: 'none' }, project)).toEqual({ archives: [], unreadable: [] });
    const [older, newer] = [
      await create({ rows: many(5), name: 'older' }, project, { now: () => 10 }),
      await create({ rows: many(6), name: 'a-newer' }, project, { now: () => 20 }),
    ];
    for (const [name, text] of [
      ['broken', '{'],
      ['other', '{"format": 99}'],
    ] as const) {
      mkdirSync(join(project, 'datasets', name));
      writeFileSync(join(project, 'datasets', name, 'dataset.json'), text);
    }
    writeFileSync(join(project, 'datasets', 'a-file'), '');
    expect(await run('ai/dataset/list', {}, project)).toEqual({
      archives: [newer, older],
      unreadable: ['broken', 'other'],
    });
  });
});
