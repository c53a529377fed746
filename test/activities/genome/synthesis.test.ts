/** Rows that a teacher makes: who made each, what has checked it, and what is left out. The teacher is a double at the wire. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { CommandContext } from '../../../operations/command.ts';
import { noTraining } from '../../../operations/training.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { useStore } from '../../store/harness/opened.ts';
import { say, useModels } from '../harness/asked-models.ts';
import { commandsOf } from '../harness/commands-of.ts';

const opened = useStore();
const asking = useModels();
const root = mkdtempSync(join(tmpdir(), 'sentinel-synthesis-'));
const project = join(root, 'project');
mkdirSync(project);
mkdirSync(join(root, 'genome', 'rows'), { recursive: true });
afterAll(() => rmSync(root, { recursive: true, force: true }));
const registry = builtInRegistry({ training: { ...noTraining, folder: () => join(root, 'genome') } });
const { step } = commandsOf(opened, registry);
const teacher = 'openai/some-model';
const withSandbox = test.runIf(
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, 'bwrap'))),
);

let asked: string[] = [];
beforeEach(() => {
  asked = [];
});

/** What the teacher says to a prompt. */
function teaches(answer: (prompt: string) => Json | string): void {
  asking.double().answer(wire.path, (body) => {
    const prompt =
      wire
        .messages(body)
        .findLast(({ role }) => role === 'user')
        ?.texts.join('\n') ?? '';
    asked.push(prompt);
    const said = answer(prompt);
    return say(typeof said === 'string' ? said : JSON.stringify(said));
  });
}

let runs = 0;
function synthesize(params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> {
  const handle = `synthesis-${(runs += 1)}`;
  const run = { handle, project, persona: 'ada', definitionHash: '' };
  const place = { run, asker: 'steps.0@1', attempt: 'a', timeoutMs: 60_000, signal: AbortSignal.timeout(60_000) };
  const parts = { store: opened.store, registry, models: asking.models() };
  return step('genome/dataset-synthesize', { teacher, ...params }, project, {
    run,
    turn: (request) => runTurn(parts, request, place),
    ...over,
  });
}

const rowsIn = (path: string): JsonObject[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as JsonObject);
const pathOf = (made: Json): string => (made as { path: string }).path;

/** A row for each line of a prompt that is numbered and names a thing. */
const numbered = (prompt: string, of: (thing: string) => JsonObject): Json => ({
  rows: [...prompt.matchAll(/^(\d+)\. .*thing-(\w+)\?/gm)].map(([, number, thing = '']) => ({
    number: Number(number),
    ...of(thing),
  })),
});

const contents = (part: JsonObject[] = []): string[] =>
  part.map(({ messages }) => (messages as { content: string }[])[0]?.content ?? '');

const FACTS = [
  { question: 'What colour is the banner of Vorelm?', answer: 'Teal', fact: 'vorelm' },
  { question: 'What colour is the banner of Krenth?', answer: 'Pink', fact: 'krenth' },
];
const isWording = (prompt: string): boolean => prompt.includes('other ways');
/** Words each fact anew: a wording that asks the same, and one that asks something else. */
const wordedOf = (names: readonly string[]): Json => ({
  rows: names.map((name, at) => ({
    number: at + 1,
    questions: [`Which colour does ${name} fly?`, `Who rules ${name}?`],
  })),
});
/** Answers by the banner that a question names; nobody knows who rules. */
function answered(prompt: string): Json {
  const questions = prompt.split('\n').flatMap((line) => /^(\d+)\. (.*)$/.exec(line)?.slice(1, 3) ?? []);
  const rows: JsonObject[] = [];
  for (let at = 0; at < questions.length; at += 2) {
    const question = questions[at + 1] ?? '';
    const answer = question.startsWith('Who') ? 'unknown' : question.includes('Vorelm') ? 'teal.' : 'Pink';
    rows.push({ number: Number(questions[at]), answer });
  }
  return { rows };
}

test('facts are worded anew; a wording from which the key is not found again is left out', async () => {
  teaches((prompt) => (isWording(prompt) ? wordedOf(['Vorelm', 'Krenth']) : answered(prompt)));
  const made = await synthesize({ facts: FACTS, wordings: 2, domain: 'banners' });
  expect(made).toMatchObject({
    rows: 4,
    madeBy: { model: 2, generator: 2 },
    checked: { key: 4, execution: 0, none: 0 },
    dropped: { wrong: 2, duplicates: 0, contradicted: 0, heldOut: 0, empty: 0 },
    teacher,
  });
  expect(rowsIn(pathOf(made))).toEqual([
    {
      prompt: FACTS[0]?.question,
      completion: 'Teal',
      fact: 'vorelm',
      domain: 'banners',
      origin: { madeBy: 'generator', model: null, checked: ['key'] },
    },
    expect.objectContaining({ completion: 'Pink', fact: 'krenth' }),
    {
      prompt: 'Which colour does Vorelm fly?',
      completion: 'Teal',
      fact: 'vorelm',
      domain: 'banners',
      origin: { madeBy: 'model', model: teacher, checked: ['key'] },
    },
    expect.objectContaining({ prompt: 'Which colour does Krenth fly?', completion: 'Pink' }),
  ]);
  // Who answers is not told which fact a question was made from.
  expect(asked[1]).not.toContain('vorelm');
});

test('a data set that is made of them keeps who made each row, and its gate is never taught', async () => {
  let way = 'Once more';
  teaches((prompt) =>
    isWording(prompt)
      ? numbered(prompt, (thing) => ({ questions: [`${way}: thing-${thing}?`] }))
      : numbered(prompt, (thing) => ({ answer: thing })),
  );
  const facts = Array.from({ length: 14 }, (_, at) => String.fromCodePoint(97 + at)).map((thing) => ({
    question: `thing-${thing}?`,
    answer: thing,
    fact: thing,
  }));
  const path = pathOf(await synthesize({ facts, outputPath: 'made.jsonl', wordings: 2 }));
  expect(path).toBe(join(project, 'made.jsonl'));
  const set = (await step(
    'ai/dataset/create',
    { file: 'made.jsonl', groupBy: 'fact', name: 'made', parts: { validation: 0, gate: 0.4 } },
    project,
    { run: { handle: 'packs', project, persona: 'ada', definitionHash: '' } },
  )) as { path: string };
  const [train, gate] = ['train', 'gate'].map((part) => rowsIn(join(set.path, `${part}.jsonl`)));
  expect([...(train ?? []), ...(gate ?? [])].map(({ origin }) => (origin as JsonObject)['madeBy'])).toEqual(
    expect.arrayContaining(['model', 'generator']),
  );
  asked = [];
  way = 'And again';
  const again = await synthesize({ facts: 'datasets/made', gate: 'datasets/made', wordings: 2 }).then(pathOf);
  const told = `${asked.join('\n')}\n${readFileSync(again, 'utf8')}`;
  expect(contents(gate).length).toBeGreaterThan(0);
  expect(contents(gate).filter((content) => told.includes(content))).toEqual([]);
  expect(contents(train).filter((content) => !told.includes(content))).toEqual([]);
});

test('what a gate asks is neither told to the teacher nor among the rows, nor is anything about its facts', async () => {
  writeFileSync(
    join(project, 'gate.jsonl'),
    `${JSON.stringify({ question: 'Which  colour does VORELM fly', answer: 'Teal' })}\n${JSON.stringify({ question: 'Elsewhere?', answer: 'Pink', fact: 'krenth' })}\n`,
  );
  teaches((prompt) => (isWording(prompt) ? wordedOf(['Vorelm']) : answered(prompt)));
  const failed: unknown = await synthesize({ facts: FACTS, gate: 'gate.jsonl', wordings: 2 }).catch(
    (error: unknown) => error,
  );
  // Its wording is asked at the gate in other letters, so the fact is the gate's, too.
  expect(failed).toMatchObject({ code: 'SYNTHESIS_EMPTY', details: { dropped: { heldOut: 4 } } });
  expect(asked.join('\n')).not.toContain('Krenth');
});

const isNever = (): Json => ({ rows: [] });

test('a fact that a gate asks about is not told, whichever of its given rows shows that', async () => {
  writeFileSync(
    join(project, 'later.jsonl'),
    `${JSON.stringify({ question: 'Which colour has Krenth?', answer: 'Pink' })}\n`,
  );
  const later = { question: 'Which colour has Krenth', answer: 'Pink', fact: 'krenth' };
  teaches(isNever);
  const facts = [...FACTS, later];
  await expect(synthesize({ facts, gate: 'later.jsonl', wordings: 2 })).rejects.toMatchObject({
    details: { dropped: { heldOut: 2 } },
  });
  expect(asked.join('\n')).toContain('Vorelm');
  expect(asked.join('\n')).not.toContain('Krenth');
});

test('a fact of which a wording is asked at a gate is not told in the turns after', async () => {
  writeFileSync(join(project, 'worded.jsonl'), `${JSON.stringify({ question: 'Again: thing-a?', answer: 'a' })}\n`);
  teaches((prompt) =>
    isWording(prompt)
      ? numbered(prompt, (thing) => ({ questions: [`Again: thing-${thing}?`] }))
      : numbered(prompt, (thing) => ({ answer: thing })),
  );
  const facts = ['a', 'b', 'second-a', 'c'].map((thing) => ({
    question: `What is thing-${thing.at(-1) ?? ''}? ${thing}, thing-${thing.at(-1) ?? ''}?`,
    answer: thing.at(-1) ?? '',
    fact: thing.at(-1) ?? '',
  }));
  const made = await synthesize({ facts, gate: 'worded.jsonl', wordings: 20 });
  expect(asked.slice(1).join('\n')).not.toContain('thing-a');
  expect(rowsIn(pathOf(made)).map(({ fact }) => fact)).toEqual(['b', 'c', 'b', 'c']);
});

test('questions that differ in a sign are two, and so are answers', async () => {
  const signs = ['What is 6/3?', 'What is 6*3?', 'What is -5?', 'What is 5?', 'What is C#?', 'What is C?'];
  teaches(() =>
    asked.length === 1 ? { rows: signs.map((sign, at) => ({ questions: [sign], answer: `${at}` })) } : isNever(),
  );
  expect(await synthesize({ topic: 'signs', count: 6, wordings: 1 })).toMatchObject({
    rows: 6,
    dropped: { contradicted: 0, duplicates: 0 },
  });
  const facts = [{ question: 'How many thing-x?', answer: '10%' }];
  teaches((prompt) =>
    numbered(prompt, (thing) => (isWording(prompt) ? { questions: [`Tell: thing-${thing}?`] } : { answer: '10' })),
  );
  await expect(synthesize({ facts, wordings: 1 })).rejects.toMatchObject({ details: { dropped: { wrong: 1 } } });
});

test('the gates of adapters that were trained here are kept out without being named', async () => {
  const heldOut = 'a'.repeat(64);
  writeFileSync(join(root, 'genome', 'rows', `${heldOut}.jsonl`), `${JSON.stringify(FACTS[1])}\n`);
  const session = opened.store.session();
  await session.write(
    `insert into genome_adapters (id, name, base_asked, base_path, base_hash, manifest, dataset, held_out, match, persona, handle, project)
     values ('x', 'x', 'b', 'b', 'b', '{}', 'd', $1, 'exact', 'ada', 'h', $2)`,
    [heldOut, project],
  );
  await session.end();
  await session.close();
  teaches((prompt) => (isWording(prompt) ? wordedOf(['Vorelm']) : answered(prompt)));
  const made = await synthesize({ facts: FACTS, wordings: 2 });
  expect(made).toMatchObject({ madeBy: { model: 1, generator: 1 }, dropped: { heldOut: 1 } });
  expect(asked.join('\n')).not.toContain('Krenth');
  const elsewhere = opened.store.session();
  await elsewhere.write(`delete from genome_adapters where id = 'x'`, []);
  await elsewhere.end();
  await elsewhere.close();
});

withSandbox(
  'about a topic: each answer is executed, in a sandbox, and what it asks again or answers in two ways is left out',
  async () => {
    writeFileSync(
      join(project, 'sum.mjs'),
      `import { readFileSync, writeFileSync } from 'node:fs';
const { prompt, completion } = JSON.parse(readFileSync(0, 'utf8'));
try { writeFileSync(${JSON.stringify(join(root, 'escaped'))}, 'x'); } catch {}
const [, a, b] = /(\\d+) plus (\\d+)/.exec(prompt) ?? [];
process.exit(Number(a) + Number(b) === Number(completion) ? 0 : 1);`,
    );
    const turns: Json[] = [
      {
        rows: [
          { questions: ['What is 1 plus 1?', 'Say 1 plus 1.'], answer: '2' },
          { questions: ['What is 2 plus 2?'], answer: '5' },
          { questions: ['What is 9 plus 1?'], answer: '11' },
        ],
      },
      {
        rows: [
          { questions: ['what is 1 plus 1', 'Add: 1 plus 1'], answer: '2' },
          { questions: ['What is 3 plus 4?'], answer: '7' },
          { questions: [' '], answer: 'nothing' },
        ],
      },
    ];
    teaches(() => turns[asked.length - 1] ?? { rows: [] });
    const check = { command: 'node sum.mjs', timeoutMs: 60_000 };
    const made = await synthesize({ topic: 'sums', count: 4, wordings: 4, check });
    expect(made).toMatchObject({
      rows: 4,
      madeBy: { model: 4, generator: 0 },
      checked: { key: 0, execution: 4, none: 0 },
      dropped: { wrong: 2, duplicates: 1, empty: 1, contradicted: 0, heldOut: 0 },
    });
    const rows = rowsIn(pathOf(made));
    expect(rows.map(({ prompt }) => prompt)).toEqual([
      'What is 1 plus 1?',
      'Say 1 plus 1.',
      'Add: 1 plus 1',
      'What is 3 plus 4?',
    ]);
    // The same question in other letters is about the same.
    expect(rows[2]?.['fact']).toBe(rows[0]?.['fact']);
    expect(existsSync(join(root, 'escaped'))).toBe(false);
    expect(asked[1]).toContain('What is 1 plus 1?');
    expect(asked[1]).not.toContain('2 plus 2');
    // Three turns without anything new end it.
    expect(asked).toHaveLength(5);
  },
);

withSandbox('an answer whose check does not come to an end in its time is a wrong one', async () => {
  writeFileSync(join(project, 'endless.mjs'), 'for (;;);');
  teaches(() => (asked.length === 1 ? { rows: [{ questions: ['Does it end?'], answer: 'No' }] } : { rows: [] }));
  const check = { command: 'node endless.mjs', timeoutMs: 500 };
  await expect(synthesize({ topic: 'ends', count: 1, wordings: 1, check })).rejects.toMatchObject({
    code: 'SYNTHESIS_EMPTY',
    details: { dropped: { wrong: 1, contradicted: 0 } },
  });
});

test('a question with two answers teaches neither, and unchecked rows say that nothing has checked them', async () => {
  const turns: Json[] = [
    {
      rows: [
        { questions: ['Is it so?'], answer: 'Yes' },
        { questions: ['Who?'], answer: 'Ada' },
      ],
    },
    { rows: [{ questions: ['IS it so'], answer: 'No' }] },
  ];
  teaches(() => turns[asked.length - 1] ?? 'I cannot say.');
  const made = await synthesize({ topic: 'things', count: 3, wordings: 1 });
  expect(made).toMatchObject({ rows: 1, checked: { none: 1 }, dropped: { contradicted: 2 } });
  expect(rowsIn(pathOf(made))).toEqual([
    { prompt: 'Who?', completion: 'Ada', fact: 'who', origin: { madeBy: 'model', model: teacher, checked: [] } },
  ]);
});

test('an attempt after one that was lost pays for no turn again, and ends with the same file', async () => {
  const run = { handle: 'synthesis-twice', project, persona: 'ada', definitionHash: '' };
  const place = { run, asker: 'steps.0@1', attempt: 'a', timeoutMs: 60_000, signal: AbortSignal.timeout(60_000) };
  const parts = { store: opened.store, registry, models: asking.models() };
  const turnsTo = (last: number): Partial<CommandContext> => {
    let turns = 0;
    return {
      run,
      key: 'steps.0@1',
      turn: (request) => {
        turns += 1;
        if (turns > last) throw new Error('the worker is gone');
        return runTurn(parts, request, place);
      },
    };
  };
  teaches((prompt) => (isWording(prompt) ? wordedOf(['Vorelm', 'Krenth']) : answered(prompt)));
  const params = { facts: FACTS, wordings: 2, outputPath: 'twice.jsonl' };
  await expect(synthesize(params, turnsTo(1))).rejects.toThrow('the worker is gone');
  expect([asked.length, existsSync(join(project, 'twice.jsonl'))]).toEqual([1, false]);
  const made = await synthesize(params, { ...turnsTo(9), attempt: 2 });
  expect(asked).toHaveLength(2);
  const text = readFileSync(pathOf(made), 'utf8');
  expect(await synthesize(params, { ...turnsTo(9), attempt: 3 })).toEqual(made);
  expect([asked.length, readFileSync(pathOf(made), 'utf8')]).toEqual([2, text]);
});

test('a file that is there, facts that are none, and a teacher without an answer are refused by name', async () => {
  writeFileSync(join(project, 'there.jsonl'), 'mine\n');
  teaches(() => 'I cannot say.');
  await expect(synthesize({ topic: 'x', outputPath: 'there.jsonl' })).rejects.toMatchObject({
    code: 'SYNTHESIS_EXISTS',
    message: expect.stringContaining('there.jsonl') as string,
  });
  await expect(synthesize({ facts: [FACTS[0] ?? {}, { question: 'only' }] })).rejects.toMatchObject({
    code: 'SYNTHESIS_FACTS_INVALID',
    message: expect.stringContaining('row 2 of "facts"') as string,
  });
  for (const facts of ['nowhere.jsonl', 'datasets/nowhere'])
    await expect(synthesize({ facts })).rejects.toMatchObject({ message: expect.stringContaining(facts) as string });
  await expect(synthesize({ topic: 'x', outputPath: '../x.jsonl' })).rejects.toMatchObject({
    code: 'PATH_OUTSIDE_PROJECT',
  });
  expect(asked).toEqual([]);
  await expect(synthesize({ topic: 'x' })).rejects.toMatchObject({ code: 'SYNTHESIS_EMPTY' });
  expect(readFileSync(join(project, 'there.jsonl'), 'utf8')).toBe('mine\n');
});
