/** The forms of a definition's text, the places of its problems, and what a hostile text costs. */
import { describe, expect, test } from 'vitest';
import { parseDefinitionText } from '../../../language/read/definition.ts';
import type { Format } from '../../../language/read/text/definition-text.ts';
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

describe('what of YAML is not read', () => {
  test.each([
    [
      'an alias',
      'name: n\nsteps: &s [{type: emit, event: e}]\nalways: *s\n',
      'anchors (&) and aliases (*) are not read',
    ],
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
    expect(result.problems.map(({ code }) => code)).toEqual([expect.stringMatching(/^(NOT_YAML|TOO_DEEP)$/)]);
    expect(result.problems[0]?.message).toMatch(/^line \d+, column \d+: /);
    expect(result.problems[0]?.message).toContain(says);
    expect(result.ok).toBe(false);
  });

  test('a merge key is a key like any other', () => {
    expect(read('name: n\n<<: {a: 1}\nsteps: [{type: emit, event: e}]\n', 'yaml').problems).toMatchObject([
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
