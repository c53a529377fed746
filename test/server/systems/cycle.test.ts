/** The shipped cycle on real services, with a model that answers as it is told: the first example of docs/fsm.md, and what ends otherwise. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { root } from '../../project/tree.ts';
import type { Reply } from '../../models/wires/double.ts';
import { SentinelClient } from '../../../client/client.ts';
import { Harness, until } from '../harness/harness.ts';
import { ModelDouble, says } from '../harness/models/model-double.ts';
import { expectFirstExample } from './page-shell.ts';

const CASSETTE = join('examples', 'todo', 'json-flag.cassette.json');
const GOAL = 'add a --json flag to the CLI of examples/todo and test it';

const CLI = `#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { open, parse, print } from './items.js';

const args = process.argv.slice(2);
const [file = 'todo.txt'] = args.filter((arg) => arg !== '--json');
const items = open(parse(readFileSync(file, 'utf8')));
process.stdout.write(args.includes('--json') ? \`\${JSON.stringify(items)}\\n\` : print(items));
`;
const TESTED = `import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const todo = (...args) => execFileSync(process.execPath, ['cli.js', ...args], { encoding: 'utf8' });

await test('prints what is still to do', () => {
  assert.equal(todo('todo.txt'), '[ ] buy milk\\n');
});

await test('prints it as JSON', () => {
  assert.deepEqual(JSON.parse(todo('--json', 'todo.txt')), [{ done: false, what: 'buy milk' }]);
});
`;
const FILES = ['cli.js', 'items.js', 'test/cli.test.js'];
const PLAN =
  'cli.js takes --json and then prints the open items as a JSON array. test/cli.test.js gets a test that parses it.';
/** What the model proposes next. */
const proposals: JsonObject[][] = [];

/** By what it is told to be. */
function answerOf(body: JsonObject): Reply {
  const said = JSON.stringify(body['messages']);
  if (said.includes('You pick the files')) return says(JSON.stringify({ files: FILES, why: 'the CLI and its tests' }));
  if (said.includes('You plan a change')) return says(PLAN);
  if (!said.includes('You write the changeset')) return says(INSIGHT);
  const operations = proposals.shift() ?? [];
  return says(JSON.stringify({ message: 'Print what is to do as JSON with --json', operations }));
}
const right = [
  { operation: 'MODIFY', path: 'cli.js', content: CLI },
  { operation: 'MODIFY', path: 'test/cli.test.js', content: TESTED },
];
const INSIGHT = 'The CLI has one file, and its tests run it as a process.';

let harness: Harness;
let model: ModelDouble;
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  model.double.route('/v1/models', {
    status: 200,
    pieces: [JSON.stringify({ object: 'list', data: [{ id: 'some-model', object: 'model' }] })],
  });
  model.double.answer('/v1/chat/completions', answerOf);
  harness.variables = model.env;
  await harness.startWorker({ SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await model.close();
  await harness.close();
});

let projects = 0;
function todo(): { folder: string; git: Git } {
  projects += 1;
  const folder = join(harness.project, `todo-${projects}`);
  mkdirSync(folder);
  cpSync(join(root, 'examples', 'todo'), folder, {
    recursive: true,
    filter: (path) => !path.endsWith('.cassette.json'),
  });
  return { folder, git: commitFirst(folder, '.') };
}

type Git = (...args: string[]) => string;

/** A repository with these files. */
function commitFirst(folder: string, files: string): Git {
  const git: Git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', files);
  git('commit', '-q', '-m', 'first');
  return git;
}

async function begin(folder: string, id: string, ...more: string[]): Promise<void> {
  const said = await harness.command('cycle', GOAL, '--project', folder, '--id', id, '--lessons', '0', ...more);
  expect(said.code, said.err).toBe(3);
}

const APPROVES = { context: /^steps\.3\.steps\..*/, changeset: /^steps\.6\.steps\..*/ };

/** Answers a question of the run, once it asks that. */
async function answer(id: string, which: keyof typeof APPROVES, ...args: string[]): Promise<void> {
  const question = await asked(id, which);
  const said = await harness.command('answer', id, question, ...args);
  expect(said.code, said.err).toBe(0);
}

async function asked(id: string, which: keyof typeof APPROVES): Promise<string> {
  let found: string | undefined;
  const isAsked = async (): Promise<boolean> => {
    const { out } = await harness.command('inbox', '--all', '--json');
    const questions = JSON.parse(out) as { handle: string; id: string; state?: string }[];
    found = questions.find((one) => one.handle === id && one.state === 'open' && APPROVES[which].test(one.id))?.id;
    return found !== undefined;
  };
  await until(isAsked);
  return found ?? '';
}

const WHOLE = [
  'CURATING_CONTEXT',
  'AWAITING_CONTEXT_APPROVAL',
  'PLANNING_WITH_CONTEXT',
  'GENERATING_PROPOSAL',
  'AWAITING_PROPOSAL_APPROVAL',
  'APPLYING_CHANGESET',
  'REFLECTING',
  'IDLE',
];

async function statesOf(folder: string): Promise<string[]> {
  const session = harness.store.session();
  try {
    const rows = await session.attempt<{ to_state: string }>(
      'select to_state from cycle_transitions where repository = $1 order by id',
      [folder],
    );
    return rows.map(({ to_state: state }) => state);
  } finally {
    await session.close();
  }
}

test('a change is proposed, approved, applied, verified and committed', async () => {
  const { folder, git } = todo();
  writeFileSync(join(folder, 'mine.txt'), 'of a person');
  proposals.push(right);
  await begin(folder, 'json-flag');
  await answer('json-flag', 'context', 'approve');
  await answer('json-flag', 'changeset', 'approve');
  const { outcome, outputs } = await harness.result('json-flag');
  const { out: trace } = await harness.command('trace', 'json-flag');
  expect({ outcome, outputs }, trace).toMatchObject({ outcome: 'completed', outputs: { goal: GOAL } });
  expect(git('log', '--format=%s')).toBe('Print what is to do as JSON with --json\nfirst\n');
  expect(git('status', '--porcelain')).toBe('?? mine.txt\n');
  expect(await statesOf(folder)).toEqual(WHOLE);
  if (process.env['SENTINEL_RECORD_CASSETTE'] !== '1') return;
  const written = await harness.command('cassette', 'json-flag', '-o', join(root, CASSETTE));
  expect(written.code, written.err).toBe(0);
}, 240_000);

test('docs/fsm.md: the same from the shipped cassette, which asks no model', async () => {
  const { project } = harness;
  cpSync(join(root, 'examples', 'todo'), join(project, 'examples', 'todo'), { recursive: true });
  symlinkSync(join('node_modules', '.bin', 'sentinel'), join(project, 'sentinel'));
  commitFirst(project, 'examples');
  const before = model.turns.length;
  await expectFirstExample('docs/fsm.md', harness);
  expect(model.turns).toHaveLength(before);
}, 240_000);

test('what is said to a rejected changeset reaches the next plan, and what fails its checks is taken back', async () => {
  const { folder, git } = todo();
  proposals.push(right, [{ operation: 'MODIFY', path: 'cli.js', content: 'process.exit(1);\n' }]);
  await begin(folder, 'rejected', '--context', ...FILES);
  await answer('rejected', 'context', 'approve');
  await answer('rejected', 'changeset', 'reject', '--note', 'shorter please');
  await until(() => proposals.length === 0);
  expect(JSON.stringify(model.turns)).toContain('ada rejected it: shorter please');
  const before = git('status', '--porcelain');
  await answer('rejected', 'changeset', 'approve');
  const { outcome, failure } = await harness.result('rejected');
  expect({ outcome, code: failure?.code }).toEqual({ outcome: 'failed', code: 'CYCLE_FAILED' });
  expect(git('status', '--porcelain')).toBe(before);
  expect(readFileSync(join(folder, 'cli.js'), 'utf8')).toContain('print(open(');
  expect(await statesOf(folder)).toEqual([
    ...WHOLE.slice(0, 5),
    'PLANNING_WITH_CONTEXT',
    'GENERATING_PROPOSAL',
    'AWAITING_PROPOSAL_APPROVAL',
    'APPLYING_CHANGESET',
    'ERROR',
    'IDLE',
  ]);
  const { out } = await harness.command('memory', 'list', '--type', 'reflection', '--json');
  expect(JSON.parse(out)).toMatchObject({
    result: [{ content: { success: false, goal: GOAL } }, expect.anything(), expect.anything()],
  });
}, 240_000);

test('an equal answer again changes nothing, another is refused, and none counts for another changeset or too late', async () => {
  const { folder, git } = todo();
  const other = [{ operation: 'MODIFY', path: 'cli.js', content: 'process.exit(1);\n' }];
  proposals.push(other, right);
  await begin(folder, 'answers', '--context', ...FILES);
  await answer('answers', 'context', 'approve');
  const id = await asked('answers', 'changeset');
  const client = new SentinelClient({ env: harness.env });
  try {
    const first = await client.question('answers', id);
    expect(first.message).toContain('wants to change 1 file (modifies 1)');
    expect(JSON.stringify(first.show)).toContain('+process.exit(1);');
    for (const verb of [['inbox', 'show', 'answers'], ['status', 'answers'], ['inbox']]) {
      const { out } = await harness.command(...verb);
      expect(out, verb.join(' ')).toMatch(/\| \+process\.exit\(1\);/);
    }
    const state = await harness.command('cycle', 'status', '--json');
    expect(state.code, state.err).toBe(0);
    await answer('answers', 'changeset', 'reject', '--note', 'it only ends');
    const again = await harness.command('answer', 'answers', id, 'reject', '--note', 'it only ends');
    expect(again).toMatchObject({ code: 0 });
    expect(again.out).toContain('was answered before: reject');
    const late = await harness.command('answer', 'answers', id, 'approve');
    expect(late).toMatchObject({ code: 1, out: '' });
    expect(late.err).toContain('was answered before: reject');
    await expect(client.answer('answers', { id, choice: 'approve', by: 'ada' })).rejects.toMatchObject({
      code: 'ANSWERED_ALREADY',
    });
    const next = await asked('answers', 'changeset');
    expect(next).not.toBe(id);
    const digest = String(first.digest);
    await expect(client.answer('answers', { id: next, choice: 'approve', by: 'ada', digest })).rejects.toMatchObject({
      code: 'ANSWER_REFUSED',
    });
    expect(await harness.command('answer', 'answers', next, 'approve', '--digest', digest.slice(0, 12))).toMatchObject({
      code: 1,
    });
    expect(git('status', '--porcelain')).toBe('');
    await harness.command('stop', 'answers');
    await harness.result('answers');
    expect((await statesOf(folder)).at(-1)).toBe('IDLE');
    expect(await harness.command('answer', 'answers', next, 'approve')).toMatchObject({ code: 1, out: '' });
    await expect(client.answer('answers', { id: next, choice: 'approve', by: 'ada' })).rejects.toMatchObject({
      code: 'QUESTION_UNKNOWN',
    });
    expect(git('status', '--porcelain')).toBe('');
    expect(git('log', '--format=%s')).toBe('first\n');
  } finally {
    await client.close();
  }
}, 240_000);
