/** The forms of a definition's text, the places of its problems, and what a hostile text costs. */
import { describe, expect, test } from 'vitest';
import { parseDefinitionText } from '../../../language/read/definition.ts';
import { formatOf, type Format } from '../../../language/read/text/definition-text.ts';
import { yamlBytesMax } from '../../../language/limits.ts';
import { processorMs } from '../../elapsed.ts';
import { catalogue } from '../../catalogue.ts';

const read = (text: string, format: Format = 'json') => parseDefinitionText(text, { catalogue }, format);

const canonical = (text: string, format: Format) => {
  const result = read(text, format);
  return result.ok ? result.definition : result.problems;
};

describe('one model behind three forms', () => {
  const json = `{"name": "n", "steps": [{"type": "shell", "command": "a # b // c", "outputTo": "x", "timeoutMs": 1000}, {"type": "emit", "event": "e", "data": ["{{x.stdout}}", 1.5, true, null, "2001-01-01"]}]}`;

  test('JSON with comments', () => {
    const text = `// what it is\n${json.replace('"steps":', '"steps" /* in "order" */ :')} // end`;
    expect(canonical(text, 'json')).toEqual(canonical(json, 'json'));
  });

  test('YAML', () => {
    const text = `
name: n # what it is
steps:
  - {type: shell, command: "a # b // c", outputTo: x, timeoutMs: 1000}
  - type: emit
    event: e
    data:
      - '{{x.stdout}}'
      - 1.5
      - true
      - null
      - 2001-01-01
`;
    expect(canonical(text, 'yaml')).toEqual(canonical(json, 'json'));
  });

  test('a text of several lines in YAML', () => {
    const text = 'name: n\nsteps:\n  - type: shell\n    command: |\n      echo "{{x}}: [1"\n      done\n';
    expect(canonical(text, 'yaml')).toMatchObject({ steps: [{ command: 'echo "{{x}}: [1"\ndone\n' }] });
  });
});

/** Each line holds two of the line before. */
const laughs = (lines: number): string =>
  `name: n\nx-0: &a0 [x]\n${Array.from({ length: lines }, (_, index) => `x-${index + 1}: &a${index + 1} [*a${index}, *a${index}]\n`).join('')}steps: *a${lines}\n`;
/** Each line is ten levels deeper than the line before. */
const deeper = (lines: number): string =>
  `name: n\nx-0: &a0 [x]\n${Array.from({ length: lines }, (_, index) => `x-${index + 1}: &a${index + 1} ${'['.repeat(10)}*a${index}${']'.repeat(10)}\n`).join('')}steps: *a${lines}\n`;

const steps = (text: string): unknown => {
  const result = read(text, 'yaml');
  expect(result.problems).toEqual([]);
  return result.ok ? result.definition.steps : null;
};

describe('anchors', () => {
  test('an alias is a copy, and what stands in a map counts before what is merged into it', () => {
    const text = `x-shell: &shell {type: shell, timeoutMs: 1000}
x-late: &late {timeoutMs: 2000, outputTo: late}
name: n
steps:
  - &first {<<: *shell, command: a}
  - *first
  - {<<: [*shell, *late], timeoutMs: 3000, command: b}
  - {<<: [*shell, *late], command: c}
`;
    const shell = { type: 'shell', timeoutMs: 1000 };
    expect(steps(text)).toEqual([
      { ...shell, command: 'a' },
      { ...shell, command: 'a' },
      { ...shell, command: 'b', timeoutMs: 3000, outputTo: 'late' },
      { ...shell, command: 'c', outputTo: 'late' },
    ]);
  });

  test('an anchor that is set again counts from there on', () => {
    const text =
      'name: n\nsteps:\n  - {type: emit, event: &e a}\n  - {type: emit, event: *e}\n  - {type: emit, event: &e b}\n  - {type: emit, event: *e}\n';
    expect(steps(text)).toMatchObject([{ event: 'a' }, { event: 'a' }, { event: 'b' }, { event: 'b' }]);
  });
});

test('numbers and words of YAML that are not what they look like are told where a step hands them on', () => {
  const data =
    '{version: 1.10, mode: 0o17, code: 0123, hex: 0x1F, at: 2026-01-31, time: 12:30, quoted: "1.10", n: 1.5}';
  const { problems } = read(`name: n\nsteps: [{type: emit, event: e, data: ${data}}]\n`, 'yaml');
  expect(problems.map(({ code, path, fix }) => [code, path, fix])).toEqual([
    ['NUMBER_CHANGES', 'steps.0.data.version', '"1.10"'],
    ['NUMBER_CHANGES', 'steps.0.data.mode', '"0o17"'],
    ['NUMBER_CHANGES', 'steps.0.data.code', '"0123"'],
    ['NUMBER_CHANGES', 'steps.0.data.hex', '"0x1F"'],
  ]);
  expect(
    read('name: n\nsteps: [{type: shell, command: a, failOn: nonzero, retry: {attempts: 2, factor: 1.50}}]\n', 'yaml')
      .problems,
  ).toEqual([]);
});

test('a mark of the encoding before JSON and before YAML', () => {
  expect(read('\uFEFFname: n\nsteps: [{type: emit, event: e}]\n', 'yaml')).toMatchObject({ ok: true, problems: [] });
  expect(read('\uFEFF{"name": "n", "steps": [{"type": "emit", "event": "e"}]}', 'json')).toMatchObject({ ok: true });
});

test('a comma behind the last entry, in a file that may have comments', () => {
  const text = '{"name": "n", // "a,]"\n "steps": [{"type": "emit", "event": "a,]", "data": [1, 2,],},\n /* , */ ],\n}';
  expect(read(text, 'jsonc')).toMatchObject({ ok: true, definition: { steps: [{ event: 'a,]', data: [1, 2] }] } });
  expect(read(text, 'json').problems).toMatchObject([{ code: 'NOT_JSON', line: 2 }]);
  expect(read('{"name": "n", "steps": [1,,]}', 'jsonc').problems).toMatchObject([{ code: 'NOT_JSON' }]);
  expect(formatOf('a.jsonc')).toBe('jsonc');
});

describe('what of YAML is not read', () => {
  test.each([
    ['an alias without its anchor', 'name: n\nsteps: *s\n', 'nothing before this has the anchor "&s"'],
    ['an alias of what holds it', 'name: n\nsteps: &s [{type: emit, event: e, data: *s}]\n', '"&s" holds itself'],
    ['a merge of what is no map', 'name: n\n<<: [1]\nsteps: []\n', '"<<" takes a map'],
    ['aliases of aliases without end', laughs(30), ''],
    ['aliases that reach ever deeper', deeper(60), ''],
    ['a tag', 'name: !x n\nsteps: []\n', 'tags (!) are not read'],
    ['a tag of YAML itself', 'name: !!str 1\nsteps: []\n', 'tags (!) are not read'],
    ['a tag of a list', 'name: n\nsteps: !!seq []\n', 'tags (!) are not read'],
    [
      'a colon in a line for a shell',
      'name: n\nsteps:\n  - type: shell\n    command: echo a: b\n',
      'put the whole value in quotes',
    ],
    ['a sign that begins no text', 'name: n\nsteps:\n  - {type: emit, event: @e}\n', 'put the whole value in quotes'],
    ['a backtick', 'name: n\nsteps:\n  - type: shell\n    command: `ls`\n', 'put the whole value in quotes'],
    ['a tab', 'name: n\nsteps:\n\t- type: emit\n', 'indent with spaces'],
    [
      'braces at the beginning of a value',
      'name: n\nsteps:\n  - {type: emit, event: e, data: {{x}}}\n',
      'put the whole value in quotes',
    ],
    [
      'braces with text behind them',
      'name: n\nsteps:\n  - type: emit\n    event: e\n    data: {{x}} and more\n',
      'put the whole value in quotes',
    ],
    ['two documents', 'name: n\n---\nname: m\n', 'a file holds one definition'],
    ['a key that is a list', '[a, b]: n\n', 'a key is a text'],
    ['levels without end', `name: n\nsteps: ${'- '.repeat(2_000)}x\n`, ''],
  ])('%s', (_what, text, says) => {
    const result = read(text, 'yaml');
    expect(result.problems.map(({ code }) => code)).toEqual([expect.stringMatching(/^(NOT_YAML|TOO_DEEP|TOO_LARGE)$/)]);
    expect(result.problems[0]?.message).toMatch(/^line \d+, column \d+: /);
    expect(result.problems[0]?.message).toContain(says);
    expect(result.ok).toBe(false);
  });

  test('what a merge brings is held against the format, and "<<" in quotes is a key like any other', () => {
    expect(read('name: n\n<<: {a: 1}\nsteps: [{type: emit, event: e}]\n', 'yaml').problems).toMatchObject([
      { code: 'UNKNOWN_KEY', path: 'a' },
    ]);
    expect(read('name: n\n"<<": {a: 1}\nsteps: [{type: emit, event: e}]\n', 'yaml').problems).toMatchObject([
      { code: 'UNKNOWN_KEY', path: '<<' },
    ]);
  });

  test('a key that stands twice', () => {
    expect(read('name: n\nname: m\nsteps: [{type: emit, event: e}]\n', 'yaml').problems).toMatchObject([
      { code: 'DUPLICATE_KEY', path: 'name', line: 2, column: 1, source: 'name: m' },
    ]);
  });
});

test('a file that holds nothing, and a number that JSON has not', () => {
  expect(read('# a\n', 'yaml').problems).toMatchObject([
    { code: 'WRONG_TYPE', message: expect.stringMatching(/^a definition is an object .* nothing$/) as string },
  ]);
  expect(read('name: n\nsteps: [{type: emit, event: e, data: .nan}]\n', 'yaml').problems).toMatchObject([
    { code: 'WRONG_TYPE', path: 'steps.0.data', message: 'NaN is not a value that JSON can hold' },
  ]);
});

describe('the place of a problem', () => {
  test('in JSON: the key that it is about', () => {
    const text =
      '{\n  "name": "n",\n  "steps": [\n    {"type": "emit", "event": "e"},\n    {"type": "shel", "command": "x"}\n  ]\n}';
    expect(read(text).problems).toMatchObject([
      { path: 'steps.1.type', line: 5, column: 6, source: '    {"type": "shel", "command": "x"}' },
    ]);
  });

  test('in YAML, and behind comments', () => {
    const text = '# a\nname: n\nsteps:\n  - type: emit\n    # b\n    evnt: e\n';
    expect(read(text, 'yaml').problems[0]).toMatchObject({
      path: 'steps.0.evnt',
      line: 6,
      column: 5,
      source: '    evnt: e',
    });
  });

  test('what is missing is shown at what should hold it', () => {
    expect(read('{\n"name": "n"\n}').problems[0]).toMatchObject({
      code: 'MISSING_KEY',
      path: 'steps',
      line: 1,
      column: 1,
    });
  });

  test('a text that is not JSON, where it stops being it', () => {
    expect(read('{\n  "name": "n",\n}').problems[0]).toMatchObject({
      code: 'NOT_JSON',
      line: 2,
      column: 14,
      source: '  "name": "n",',
    });
  });

  test('a long line is shown around the place', () => {
    const [problem] = read(
      `{"description": "${'x'.repeat(5_000)}", "name": "n", "steps": [{"type": "shel"}]}`,
    ).problems;
    expect(problem?.source).toContain('"type": "shel"');
    expect(problem?.source?.length).toBeLessThan(200);
  });
});

const filled = (part: string, before = ''): string =>
  before + part.repeat(Math.floor((yamlBytesMax - before.length) / part.length));

describe('a hostile text is refused in time', () => {
  test.each([
    ['brackets', filled('['), 'yaml'],
    ['braces', filled('{'), 'yaml'],
    ['sequences in one another', filled('- '), 'yaml'],
    ['keys in one another', filled('? '), 'yaml'],
    ['anchors', filled('- &a x\n'), 'yaml'],
    ['aliases', filled('- *a\n', '- &a x\n'), 'yaml'],
    ['aliases of aliases', laughs(4_000), 'yaml'],
    ['documents', filled('---\n'), 'yaml'],
    ['closing brackets', filled('}'), 'yaml'],
    ['keys', Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`).join('\n'), 'yaml'],
    ['the same key', filled('k: 1\n'), 'yaml'],
    ['the same key in brackets', `${filled('k: 1, ', '{')}}`, 'yaml'],
    ['errors', filled('a: }\n'), 'yaml'],
    ['tabs', filled('\t'), 'yaml'],
    ['levels just below the bound', filled(`${'['.repeat(490)}${']'.repeat(490)}\n`), 'yaml'],
    ['maps in a list', `${filled('{a: {b: {c: 1}}}, ', '[')}]`, 'yaml'],
    ['keys that are said to be keys', filled('? a\n'), 'yaml'],
    ['a text without end', filled('\n', '"'), 'yaml'],
    ['deep lines', Array.from({ length: 700 }, (_, index) => `${' '.repeat(index)}a:`).join('\n'), 'yaml'],
    ['comments without end', filled('/*'), 'json'],
    ['slashes', filled('/'), 'json'],
    ['quotes', filled(String.raw`"\"`), 'json'],
    [
      'long keys',
      `{${Array.from({ length: 200 }, (_, index) => `"${'k'.repeat(1_000)}${index}": {"type": 1}`).join(',')}}`,
      'json',
    ],
  ] as const)('%s', (_what, text, format) => {
    let ok = true;
    const ms = processorMs(() => {
      ok = read(text, format).ok;
    });
    expect(ok).toBe(false);
    expect(ms).toBeLessThan(4_000);
  });

  test('one that is too large for YAML', () => {
    expect(read(filled('# a\n') + '# b', 'yaml').problems).toMatchObject([{ code: 'TOO_LARGE' }]);
  });
});
