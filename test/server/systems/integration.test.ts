/** The shipped integration on real services, with a model that answers as it is told: a right fix, and wrong ones that never pass. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Manifest } from '../../../systems/integrate/judging/manifest.ts';
import { isJsonObject, type JsonObject } from '../../../language/json.ts';
import type { Reply } from '../../models/wires/double.ts';
import { Harness } from '../harness/harness.ts';
import { callsTo, MODEL, ModelDouble, says } from '../harness/models/model-double.ts';
import { expectFirstExample } from './page-shell.ts';

const CALC = 'def total(items):\n    return sum(items) - 1\n\n\ndef is_even(n):\n    return n % 2 == 0\n';
const TESTS =
  'from calc import is_even, total\n\n\ndef test_total():\n    assert total([31, 47]) == 78\n\n\ndef test_even():\n    assert is_even(4)\n';

let harness: Harness;
let model: ModelDouble;
/** What the first tier answers of a task, turn by turn; then it says that it is done, as the second does at once. */
const replies = new Map<string, readonly Reply[]>();

/** By what the conversation holds, so that a request that is made again is answered as before. */
function answerOf(body: JsonObject): Reply {
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isJsonObject) : [];
  const said = JSON.stringify(messages);
  const [, task = ''] = /tests for task (T\d+)/.exec(said) ?? [];
  const turn = messages.filter(({ role }) => role === 'tool').length;
  const made = said.includes('is exhausted') ? undefined : replies.get(task)?.[turn];
  return made ?? says('All tests pass now.');
}

beforeAll(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  model.double.answer('/v1/chat/completions', answerOf);
  // The command line brings up a worker beside ours: whichever performs a step has the settings of this project.
  harness.variables = { ...model.env, SENTINEL_PROJECT: harness.project };
  const tiers = { tier1: { model: MODEL, maxIterations: 1 }, tier2: { model: MODEL, maxIterations: 1 } };
  writeFileSync(
    join(harness.project, 'sentinel.config.js'),
    `export default ${JSON.stringify({ settings: { integrate: tiers } })};\n`,
  );
  await harness.startWorker();
});
afterAll(async () => {
  await model.close();
  await harness.close();
});

interface Repository {
  folder: string;
  /** As the models found it. */
  copy: string;
  git: (...args: string[]) => string;
}

/** With something of a person's that is staged, stashed, changed and untracked. */
function repository(name: string): Repository {
  const folder = join(harness.project, name);
  mkdirSync(join(folder, 'tests'), { recursive: true });
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  const write = (path: string, content: string): void => writeFileSync(join(folder, path), content);
  write(
    'pyproject.toml',
    '[project]\nname = "calc"\nversion = "0.1.0"\n\n[tool.pytest.ini_options]\npythonpath = ["."]\n',
  );
  write('calc.py', CALC);
  write('tests/test_calc.py', TESTS);
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Ada');
  git('config', 'user.email', 'ada@example.org');
  git('add', '.');
  git('commit', '-q', '-m', 'first');
  write('notes.txt', 'put away');
  git('add', 'notes.txt');
  git('stash', '-q');
  write('staged.txt', 'staged');
  git('add', 'staged.txt');
  write('mine.txt', 'of a person');
  const copy = join(harness.project, `${name}-before`);
  cpSync(folder, copy, { recursive: true });
  return { folder, copy, git };
}

/** All of git that is the user's. */
const standing = ({ git }: Repository): string[] => [
  git('rev-parse', 'HEAD'),
  git('stash', 'list'),
  git('diff', '--cached'),
  git('branch', '-a'),
];

async function integrate(task: string, { folder }: Repository, ...more: string[]) {
  const id = `integrate-${task}`;
  const said = await harness.command('integrate', 'task', task, '--project', folder, '--id', id, '--detach', ...more);
  expect(said.code, said.err).toBe(0);
  const { outcome, failure } = await harness.result(id);
  const at = join(folder, '.claude', 'sentinel', task);
  const trace = existsSync(join(at, 'manifest.json')) ? '' : (await harness.command('trace', id)).out;
  expect(existsSync(join(at, 'manifest.json')), `${JSON.stringify(failure)}\n${trace}`).toBe(true);
  const manifest = Manifest.parse(JSON.parse(readFileSync(join(at, 'manifest.json'), 'utf8')));
  return { outcome, code: failure?.code, manifest, at };
}

const pytest = (folder: string): boolean => {
  try {
    execFileSync('python3', ['-m', 'pytest', '-q', '-p', 'no:cacheprovider'], { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const edits = (path: string, old: string, to: string): Reply => callsTo('e', 'integrate_edit', { path, old, new: to });

const fix = edits('calc.py', 'sum(items) - 1', 'sum(items)');

test('a right fix passes, and its manifest is what git and the tests say', async () => {
  const repo = repository('right');
  const before = standing(repo);
  replies.set('T001', [fix, says('The total was one too small.')]);
  const { outcome, manifest, at } = await integrate('T001', repo);
  expect({ outcome, manifest }).toMatchObject({
    outcome: 'completed',
    manifest: {
      result: 'PASS',
      tier_used: 1,
      tests_still_failing: [],
      tests_lost: [],
      changes: 'kept',
      fix_reason: 'The total was one too small.',
      tiers: { tier1: { attempted: true, iterations: 1 }, tier2: { attempted: false, reason: 'tier1_succeeded' } },
      radius: { files_changed: 1, lines_changed: 2, budget_exceeded: false },
      interface_changes: { breaking: [], non_breaking: [], not_judged: [] },
    },
  });
  expect(manifest.tests_fixed).toHaveLength(1);
  expect(manifest.tests_fixed[0]).toContain('test_total');
  expect(repo.git('diff', '--numstat', '--', 'calc.py')).toBe('1\t1\tcalc.py\n');
  expect(manifest.files_changed).toEqual([{ path: 'calc.py', lines_added: 1, lines_removed: 1 }]);
  expect(pytest(repo.folder)).toBe(true);
  expect(standing(repo)).toEqual(before);
  const patch = join(at, 'diff.patch');
  expect(readFileSync(patch, 'utf8')).not.toContain('.claude');
  execFileSync('git', ['apply', '--check', patch], { cwd: repo.copy });
  execFileSync('git', ['apply', patch], { cwd: repo.copy });
  expect(readFileSync(join(repo.copy, 'calc.py'), 'utf8')).toBe(readFileSync(join(repo.folder, 'calc.py'), 'utf8'));
  expect(readFileSync(join(at, 'summary.md'), 'utf8')).toContain('# T001: PASS');
}, 240_000);

/** What each is caught by, and whether it is taken back. */
const WRONG: readonly [task: string, what: string, made: Reply[], caught: string, changes: Manifest['changes']][] = [
  [
    'T010',
    'empties the test file',
    [callsTo('p', 'integrate_put', { path: 'tests/test_calc.py', content: '' })],
    'TESTS_CHANGED',
    'taken_back',
  ],
  [
    'T011',
    'skips the test',
    [edits('tests/test_calc.py', 'def test_total', 'import pytest\n\n\n@pytest.mark.skip\ndef test_total')],
    'TESTS_CHANGED',
    'taken_back',
  ],
  ['T012', 'changes the expectation', [edits('tests/test_calc.py', '== 78', '== 77')], 'TESTS_CHANGED', 'taken_back'],
  [
    'T013',
    'writes code for the literal',
    [edits('calc.py', 'return sum(items) - 1', 'if items == [31, 47]:\n        return 78\n    return sum(items) - 1')],
    'SPECIAL_CASED',
    'taken_back',
  ],
  [
    'T015',
    'sets the tests up otherwise',
    [callsTo('p', 'integrate_put', { path: 'conftest.py', content: 'collect_ignore = ["tests"]\n' })],
    'TEST_SETUP_CHANGED',
    'taken_back',
  ],
  [
    'T016',
    'fixes it, and renames a function',
    [fix, edits('calc.py', 'def is_even', 'def even')],
    'is_even is gone',
    'taken_back',
  ],
  [
    'T017',
    'fixes it, and adds 200 lines',
    [fix, callsTo('p', 'integrate_put', { path: 'more.py', content: 'x = 0\n'.repeat(200) })],
    'change radius',
    'taken_back',
  ],
];

test.each(WRONG)(
  '%s: a model that %s fails',
  async (task, _what, made, caught, changes) => {
    const repo = repository(task);
    const before = standing(repo);
    replies.set(task, made);
    const { outcome, code, manifest, at } = await integrate(task, repo);
    expect(
      {
        outcome,
        code,
        result: manifest.result,
        changes: manifest.changes,
        isAsked: manifest.tiers.tier1.attempted,
      },
      JSON.stringify([manifest.reasons, manifest.tiers]),
    ).toEqual({
      outcome: 'failed',
      code: 'INTEGRATION_FAILED',
      result: 'FAIL',
      changes,
      isAsked: true,
    });
    expect(manifest.reasons.join('\n')).toContain(caught);
    expect(readFileSync(join(repo.folder, 'calc.py'), 'utf8')).toBe(CALC);
    expect(readFileSync(join(repo.folder, 'tests', 'test_calc.py'), 'utf8')).toBe(TESTS);
    expect(standing(repo)).toEqual(before);
    execFileSync('git', ['apply', '--check', '--allow-empty', join(at, 'diff.patch')], { cwd: repo.copy });
  },
  240_000,
);

test('T014: models that only say that they are done fail, the second told of the first', async () => {
  const { manifest } = await integrate('T014', repository('T014'));
  expect(manifest).toMatchObject({
    result: 'FAIL',
    tier_used: 2,
    changes: 'none',
    files_changed: [],
    fix_reason: 'nothing was changed',
    tiers: {
      tier1: { attempted: true, reason: null, iterations: 1, final_status: 'failed' },
      tier2: { attempted: true, reason: null, iterations: 1, final_status: 'failed' },
    },
  });
  expect(manifest.reasons).toEqual([expect.stringMatching(/^1 test still fails: .*test_total/)]);
  const asked = model.turns.map((turn) => JSON.stringify(turn)).filter((turn) => turn.includes('for task T014'));
  expect(asked.map((turn) => turn.includes('A local model was tried before and is exhausted'))).toEqual([false, true]);
}, 240_000);

test('docs/integration.md: the first example', async () => {
  await expectFirstExample('docs/integration.md', harness);
}, 240_000);
