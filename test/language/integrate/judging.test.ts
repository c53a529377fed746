/** What a task is judged by, as cases: the verdict, added lines, placeholders, files of tests, special cases, detection. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { detect } from '../../../systems/integrate/detect.ts';
import { addedLines, isExcluded, placeholdersIn } from '../../../systems/integrate/judging/added-lines.ts';
import { literalsOf, specialCases } from '../../../systems/integrate/judging/special-cases.ts';
import { isTestFile, isTestSetup, testPartOf } from '../../../systems/integrate/judging/test-files.ts';
import {
  compareTests,
  judge,
  type Measured,
  type Status,
  THE_RUN,
  type Tested,
} from '../../../systems/integrate/judging/verdict.ts';
import { PLACEHOLDERS, Settings } from '../../../systems/integrate/settings.ts';

/** In parts, so that whoever counts such marks in this code does not find these. */
const [MARK, OTHER] = [['TO', 'DO'].join(''), ['FIX', 'ME'].join('')];

const tested = (cases: Record<string, Status>, more: Partial<Tested> = {}): Tested => ({
  ran: true,
  why: '',
  cases: Object.entries(cases).map(([name, status]) => ({ test: name, status })),
  failing: Object.entries(cases).flatMap(([name, status]) => (status === 'failed' ? [name] : [])),
  flaky: [],
  ...more,
});

const fixed: Measured = {
  mode: 'auto',
  tests: { before: tested({ a: 'failed', b: 'passed' }), after: tested({ a: 'passed', b: 'passed' }) },
  hasChanges: true,
  testViolations: [],
  placeholders: [],
  failsOnPlaceholders: true,
  isOverRadius: false,
  breaking: [],
  allowsBreaking: false,
  permitted: null,
};
const violation = (pattern: string) => ({ file: 'a', line: 1, pattern, text: '' });
const after = (cases: Record<string, Status>, more: Partial<Tested> = {}): Partial<Measured> => ({
  tests: { before: tested({ a: 'failed', b: 'passed' }), after: tested(cases, more) },
});

const VERDICTS: readonly [what: string, over: Partial<Measured>, result: string, takesBack: boolean, asks: boolean][] =
  [
    ['a right fix', {}, 'PASS', false, false],
    ['no tests at all', { tests: null, hasChanges: false }, 'PASS', false, false],
    ['a test that still fails', after({ a: 'failed', b: 'passed' }), 'FAIL', false, false],
    ['a failing test that is skipped now', after({ a: 'skipped', b: 'passed' }), 'FAIL', false, false],
    ['a failing test that is gone', after({ b: 'passed' }), 'FAIL', false, false],
    ['a passing test that fails', after({ a: 'passed', b: 'failed' }), 'FAIL', false, false],
    ['a passing test that is skipped', after({ a: 'passed', b: 'skipped' }), 'FAIL', false, false],
    ['a passing test that is gone', after({ a: 'passed' }), 'FAIL', false, false],
    ['a new test that fails', after({ a: 'passed', b: 'passed', c: 'failed' }), 'FAIL', false, false],
    [
      'a flaky test that fails once',
      after({ a: 'passed', b: 'failed' }, { failing: [], flaky: ['b'] }),
      'PASS',
      false,
      false,
    ],
    [
      'a runner that fails of no test',
      after({ a: 'passed', b: 'passed' }, { failing: [THE_RUN] }),
      'FAIL',
      false,
      false,
    ],
    ['tests that no longer run', after({}, { ran: false, why: 'it hung' }), 'FAIL', false, false],
    [
      'tests that never ran',
      { tests: { before: tested({}, { ran: false, why: 'no' }), after: tested({}) } },
      'ERROR',
      true,
      false,
    ],
    ['changed tests', { testViolations: [violation('TESTS_CHANGED')] }, 'FAIL', true, false],
    [
      'changed tests, and nobody can allow them',
      { mode: 'human-gated', testViolations: [violation('TESTS_CHANGED')], permitted: true },
      'FAIL',
      true,
      false,
    ],
    ['a special case', { testViolations: [violation('SPECIAL_CASED')] }, 'FAIL', true, false],
    [
      'a special case that a person sees',
      { mode: 'human-gated', testViolations: [violation('SPECIAL_CASED')] },
      'FAIL',
      true,
      true,
    ],
    [
      'a special case that a person allows',
      { mode: 'human-gated', testViolations: [violation('SPECIAL_CASED')], permitted: true },
      'PASS',
      false,
      false,
    ],
    ['a placeholder', { placeholders: [violation(MARK)] }, 'FAIL', false, false],
    [
      'a placeholder that may stay',
      { placeholders: [violation(MARK)], failsOnPlaceholders: false },
      'PASS',
      false,
      false,
    ],
    ['too large a change', { isOverRadius: true }, 'FAIL', true, false],
    ['too large a change, asked about', { isOverRadius: true, mode: 'human-gated' }, 'FAIL', true, true],
    ['too large a change, refused', { isOverRadius: true, mode: 'human-gated', permitted: false }, 'FAIL', true, false],
    ['too large a change, allowed', { isOverRadius: true, mode: 'human-gated', permitted: true }, 'PASS', false, false],
    ['a breaking change', { breaking: ['f is gone'] }, 'FAIL', true, false],
    [
      'a breaking change that the settings allow',
      { breaking: ['f is gone'], allowsBreaking: true },
      'PASS',
      false,
      false,
    ],
  ];

describe('the verdict', () => {
  test.each(VERDICTS)('%s', (_what, over, result, takesBack, asks) => {
    const verdict = judge({ ...fixed, ...over });
    expect({ result: verdict.result, takesBack: verdict.takesBack, asks: verdict.asks }).toEqual({
      result,
      takesBack,
      asks,
    });
    expect(verdict.reasons.length > 0).toBe(result === 'FAIL');
  });

  test('of two tests of one name, one that is gone is lost', () => {
    const two: Tested['cases'] = [
      { test: 'a', status: 'passed' },
      { test: 'a', status: 'passed' },
    ];
    const [before, now] = [two, two.slice(1)].map((cases) => tested({}, { cases }));
    expect(compareTests(before ?? tested({}), now ?? tested({})).lost).toEqual(['a #2']);
  });
});

const PATCH = `diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,4 @@
 first
+++ b/no.py
+# ${MARK} later
-old
+new
diff --git a/with space.py b/with space.py
--- /dev/null
+++ b/with space.py\t
@@ -0,0 +1 @@
+${OTHER}
diff --git "a/\\303\\244.py" "b/\\303\\244.py"
--- "a/\\303\\244.py"
+++ "b/\\303\\244.py"
@@ -5,0 +6 @@ def f():
+x
\\ No newline at end of file
`;

test('added lines have the file and the line that they stand in', () => {
  expect(addedLines(PATCH)).toEqual([
    { file: 'a.py', line: 2, text: '++ b/no.py' },
    { file: 'a.py', line: 3, text: `# ${MARK} later` },
    { file: 'a.py', line: 4, text: 'new' },
    { file: 'with space.py', line: 1, text: OTHER },
    { file: 'ä.py', line: 6, text: 'x' },
  ]);
});

test.each([
  [`# ${MARK}`, MARK],
  ['raise NotImplementedError', 'NotImplementedError'],
  ['x = mock_user()', String.raw`mock_\w+`],
  ['    pass  # implement', 'pass  # implement'],
  ['    pass # implement', null],
  ['todo = 1', null],
  ['mock_ = 1', null],
])('"%s" is the placeholder %s', (text, pattern) => {
  const found = placeholdersIn([{ file: 'src/a.py', line: 3, text }], { patterns: PLACEHOLDERS, excludePaths: [] });
  expect(found).toEqual(pattern === null ? [] : [{ file: 'src/a.py', line: 3, pattern, text: text.trim() }]);
});

test.each([
  ['tests/a.py', true],
  ['pkg/tests/a.py', true],
  ['latests/a.py', false],
  ['src/a.test.ts', true],
  ['src/a.spec.tsx', true],
  ['src/testing.ts', false],
])('%s is left out of the scan: %s', (path, isOut) => {
  expect(isExcluded(path, Settings.parse({}).placeholder.excludePaths)).toBe(isOut);
});

test.each([
  ['tests/a.py', true, false],
  ['test_a.py', true, false],
  ['pkg/a_test.go', true, false],
  ['src/a.test.ts', true, false],
  ['src/a.ts', false, false],
  ['contest/a.py', false, false],
  ['conftest.py', false, true],
  ['sub/vitest.config.ts', false, true],
])('%s is a test: %s, sets tests up: %s', (path, isTest, isSetup) => {
  expect([isTestFile(path), isTestSetup(path)]).toEqual([isTest, isSetup]);
});

test.each([
  [
    'package.json',
    '{"version":"1","scripts":{"test":"a"}}',
    '{"version":"2","scripts":{"test":"a","build":"b"}}',
    true,
  ],
  ['package.json', '{"scripts":{"test":"a"}}', '{"scripts":{"test":"true"}}', false],
  [
    'pyproject.toml',
    '[project]\nname="a"\n[tool.pytest.ini_options]\nx=1\n',
    '[project]\nname="b"\n[tool.pytest.ini_options]\nx=1\n',
    true,
  ],
  ['pyproject.toml', '[project]\n', '[project]\n[tool.pytest.ini_options]\naddopts="--co"\n', false],
  ['src/lib.rs', 'fn a() {}\n#[cfg(test)]\nmod t {}', 'fn b() {}\n#[cfg(test)]\nmod t {}', true],
  ['src/lib.rs', 'fn a() {}\n#[cfg(test)]\nmod t {}', 'fn a() {}\n', false],
])('%s: of %j and %j the tests are the same: %s', (path, before, now, isSame) => {
  expect(testPartOf(path, before) === testPartOf(path, now)).toBe(isSame);
});

const SPECIAL: readonly [line: string, isSpecial: boolean][] = [
  ['if items == [31, 47]:', true],
  ["if name == 'Zoe':", true],
  ["case 'Zoe':", true],
  ["return { Zoe: 1, 'Zoe': 2 }[name] if name in x else 0", true],
  ['if (n === 47) return 78;', true],
  ['if n % 47 == 0:', false],
  ['if n == 0:', false],
  ['if n == limit:', false],
  ['return sum(items)', false],
  ["if kind == 'known':", false],
];
test.each(SPECIAL)('%s is a special case: %s', (text, isSpecial) => {
  const tests = literalsOf("assert total([31, 47]) == 78; greet('Zoe'); f('known')");
  const found = specialCases([{ file: 'a.py', line: 1, text }], { tests, before: literalsOf('KINDS = ["known"]') });
  expect(found).toHaveLength(isSpecial ? 1 : 0);
});

test('what a project does not set is as the page says', () => {
  expect(Settings.parse({})).toMatchObject({
    enabled: true,
    mode: 'auto',
    tier1: { model: 'ollama/qwen3-coder:30b', maxIterations: 5 },
    tier2: { model: 'anthropic/claude-sonnet-4-20250514', maxIterations: 10, maxBudgetUsd: 2 },
    changeRadius: { maxFiles: 3, maxLines: 150, allowInterfaceChanges: false },
    placeholder: { failOnDetect: true, excludePaths: ['tests/', '__mocks__/', '*.test.*', '*.spec.*'] },
  });
  const marks = [MARK, OTHER, ['HA', 'CK'].join(''), ['PLACE', 'HOLDER'].join('')];
  const code = ['NotImplementedError', String.raw`mock_\w+`, String.raw`stub_\w+`, 'pass  # implement'];
  expect(PLACEHOLDERS.toSorted()).toEqual([...marks, ...code].toSorted());
});

describe('detection', () => {
  let root: string;
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'sentinel-detect-'));
    const write = (path: string, content: string): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), content);
    };
    write('go.mod', 'module m\n');
    write('both/pyproject.toml', '');
    write('both/package.json', '{"devDependencies":{"vitest":"1"}}');
    write('vitest/package.json', '{"devDependencies":{"vitest":"1","jest":"1"},"scripts":{"test":"mocha"}}');
    write('jest/package.json', '{"dependencies":{"jest":"1"},"scripts":{"test":"jest --ci"}}');
    write('node/package.json', '{"scripts":{"test":"node --test"}}');
    write('other/package.json', '{"scripts":{"test":"mocha"}}');
    write('cargo/Cargo.toml', '');
    write('cargo/go.mod', '');
    write('none/package.json', '{"scripts":{"test":"echo \\"Error: no test specified\\" && exit 1"}}');
    write('broken/package.json', '{');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  test.each([
    ['both', true, 'python -m pytest', 'both'],
    ['both', false, 'python -m unittest discover -v', 'both'],
    ['vitest', true, 'npx vitest run', 'vitest'],
    ['jest', true, 'jest --ci', 'jest'],
    ['node', true, 'npm test', 'node'],
    ['other', true, 'npm test', 'other'],
    ['cargo', true, 'cargo test', 'cargo'],
    ['none', true, 'go test ./...', ''],
    ['broken', true, 'go test ./...', ''],
    ['', true, 'go test ./...', ''],
  ])('in %s, with pytest %s: %s', (folder, hasPytest, command, where) => {
    expect(detect(root, folder, () => hasPytest)).toMatchObject({ command, folder: where });
  });

  test('finds nothing where there is nothing', () => {
    expect(detect(join(root, 'none'), '', () => true)).toBeNull();
  });
});
