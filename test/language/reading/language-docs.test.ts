/**
 * docs/language.md says what is true: every example in it is read and run, and it names every key of
 * the model, every bound and every problem. docs/internal/requirements.md names only what is there.
 */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { scenarioOf } from '../../../authoring/definition-tests/run-case.ts';
import * as limits from '../../../language/limits.ts';
import * as model from '../../../language/model.ts';
import { PROBLEMS } from '../../../language/problems.ts';
import { BUILT_INS } from '../../../language/expression/scope.ts';
import * as settings from '../../../language/settings.ts';
import { MODES, runCase } from '../../interpreter/harness/run-case.ts';
import { files, read, root } from '../../project/tree.ts';
import { catalogue } from '../../catalogue.ts';
import { examplesOf, testExamples } from '../pages/page-examples.ts';

const page = 'docs/language.md';
const text = read(page);

/** Code in prose and tables, not in examples. */
const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
const named = new Set(Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span));

const examples = examplesOf(page);
testExamples(page, examples, 20);

describe.each(examples)('the example $name', ({ given, subject }) => {
  test('has no errors, and runs in the same way however it is run', async () => {
    if (subject.definition === null) throw new Error('it was not read');
    const scenario = scenarioOf(given, subject.definition, subject);
    const { runs: _runs, ...straight } = await runCase(scenario, { name: 'straight' });
    for (const mode of MODES.slice(1)) {
      const { runs: _others, ...other } = await runCase(scenario, mode);
      expect({ mode: mode.name, ...other }).toEqual({ mode: mode.name, ...straight });
    }
  });
});

/** What of zod's schemas this looks at. */
interface Schema {
  shape?: { [key: string]: Schema };
  options?: readonly (Schema | string)[];
  values?: ReadonlySet<unknown>;
  element?: Schema;
  unwrap?: () => Schema;
}

const wordsByKey = new Map<string, Set<string>>();

function visit(key: string, schema: Schema, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const words = wordsByKey.get(key) ?? new Set();
  for (const value of schema.values ?? []) if (typeof value === 'string') words.add(value);
  for (const option of schema.options ?? []) {
    if (typeof option === 'string') words.add(option);
    else visit(key, option, seen);
  }
  wordsByKey.set(key, words);
  for (const [inner, value] of Object.entries(schema.shape ?? {})) visit(inner, value, seen);
  if (schema.element !== undefined) visit(key, schema.element, seen);
  else if (schema.unwrap !== undefined) visit(key, schema.unwrap(), seen);
}

for (const schema of [model.Definition, model.Step, ...Object.values(settings)] as unknown as Schema[])
  visit('', schema);

/** A key or a word stands by itself in backquotes, in `{…}` or behind its object. */
const isNamed = (word: string): boolean =>
  [...named].some(
    (span) =>
      span === word ||
      span === `"${word}"` ||
      new RegExp(`^\\{.*\\b${word}\\b.*\\}$|^[\\w]+\\.${word}$|^"\\w+": "?${word}"?$`).test(span),
  );

describe('the page names', () => {
  test('every key of the model, and every word a key may have', () => {
    const keys = [...wordsByKey.keys()].filter((key) => key !== '');
    expect(keys.length).toBeGreaterThan(80);
    expect(keys.filter((key) => key !== '$ref' && !isNamed(key))).toEqual([]);
    expect(
      [...wordsByKey].flatMap(([key, words]) =>
        [...words].filter((word) => !isNamed(word)).map((word) => `${key}: ${word}`),
      ),
    ).toEqual([]);
  });

  test('every type of step under a heading of its own, with each of its keys', () => {
    for (const schema of model.Step.options) {
      const { type, ...shape } = schema.shape;
      const [value] = type.values;
      const section = new RegExp(`^### \`${value}\`\n([^]*?)^##`, 'm').exec(text)?.[1] ?? '';
      const common = new Set(['name', 'outputTo', 'onError', 'retry', 'timeoutMs']);
      const missing = Object.keys(shape).filter((key) => !common.has(key) && !section.includes(`\`${key}\``));
      expect({ type: value, missing }).toEqual({ type: value, missing: [] });
    }
  });

  test('every command that is built', () => {
    expect(
      Object.entries(catalogue)
        .filter(([name, { planned }]) => planned !== true && !named.has(name))
        .map(([name]) => name),
    ).toEqual([]);
  });

  test('every name of the engine', () => {
    expect([...BUILT_INS].filter((name) => !named.has(`$${name}`))).toEqual([]);
  });

  test('every bound with its value', () => {
    const rows = Array.from(prose.matchAll(/^\| `(\w+)` \| ([\d,]+) \|/gm), ([, name = '', value = '']) => [
      name,
      Number(value.replaceAll(',', '')),
    ]);
    expect(Object.fromEntries(rows)).toEqual({ ...limits });
  });

  test('every problem with its title', () => {
    const rows = Array.from(
      prose.matchAll(/^\| \[(\w+)\]\(problems\.md#\w+\) \| (.*) \|$/gm),
      ([, code = '', title = '']) => [code, title],
    );
    expect(Object.fromEntries(rows)).toEqual(PROBLEMS);
  });

  test('every verb that takes a definition', () => {
    const readers = files.filter(
      (path) =>
        /^cli\/verbs\/[\w-]+\.ts$/.test(path) &&
        /definition-request|find-definition|good-definition|read-definition|definition-tests|simulate\/|definition-schema/.test(
          read(path),
        ),
    );
    const verbs = readers.map((path) => posix.basename(path, '.ts'));
    expect(verbs.length).toBeGreaterThan(7);
    expect(verbs.filter((verb) => !named.has(verb))).toEqual([]);
  });
});

describe.each([page, 'docs/internal/requirements.md'])('%s', (document) => {
  test('links to what is there', () => {
    const links = Array.from(read(document).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link).filter(
      (link) => !link.includes('://'),
    );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !isThere(document, link))).toEqual([]);
  });
});

/** The file, and in a page the heading. */
function isThere(document: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : posix.join(posix.dirname(document), path);
  if (!existsSync(join(root, target))) return false;
  if (anchor === undefined) return true;
  const headings = Array.from(read(target).matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  );
  return headings.includes(anchor);
}

/** How many requirements each part has. */
const parts: readonly (readonly [part: number, count: number])[] = [
  [1, 37],
  [2, 30],
  [3, 26],
  [6, 26],
];
/** Of parts that are not built as a whole, what is. */
const others = [
  'R5.1',
  'R5.2',
  'R5.3',
  'R5.4',
  'R5.9',
  'R5.10',
  'R5.11',
  'R5.12',
  'R5.13',
  'R5.14',
  'R5.15',
  'R5.19',
  'R5.20',
  'R5.21',
  'R5.22',
  'R5.23',
  'R5.26',
  'R5.30',
  'R5.32',
  'R5.33',
  'R5.34',
  'R5.35',
  'R5.36',
  'R5.42',
  'R5.43',
  'R5.44',
  'R5.54',
  'R5.55',
  'R5.56',
  'R5.57',
  'R5.58',
  'R11.1',
  'R11.2',
  'R11.3',
  'R11.4',
  'R11.5',
  'R11.7',
  'R11.11',
  'R11.16',
  'R11.17',
  'R11.18',
  'R11.19',
  'R11.20',
  'R11.21',
  'R11.22',
  'R11.24',
  'R11.25',
  'R11.26',
  'R11.27',
  'R11.28',
  'R11.29',
  'R11.30',
  'R11.31',
  'R11.32',
  'R11.33',
  'R11.34',
  'R11.35',
  'R4.1',
  'R4.2',
  'R4.3',
  'R4.4',
  'R4.5',
  'R4.8',
  'R4.9',
  'R4.10',
  'R4.11',
  'R4.12',
  'R4.14',
  'R4.15',
  'R4.17',
  'R4.18',
  'R4.19',
  'R4.20',
  'R4.21',
  'R12.1',
  'R12.2',
  'R12.3',
  'R12.4',
  'R12.5',
  'R12.6',
  'R12.7',
  'R12.8',
  'R12.9',
  'R12.10',
  'R12.11',
  'R12.12',
  'R12.13',
  'R12.14',
  'R12.15',
  'R12.16',
  'R12.17',
  'R12.18',
  'R12.19',
  'R12.20',
  'R12.21',
  'R12.22',
  'R12.23',
  'R12.24',
  'R12.25',
  'R13.2',
  'R13.8',
  'R13.11',
  'R5.37',
  'R5.38',
  'R5.39',
  'R5.40',
  'R5.41',
  'R5.45',
  'R5.46',
  'R5.47',
  'R5.48',
  'R5.49',
  'R5.50',
  'R5.51',
  'R5.52',
  'R5.53',
  'R8.1',
  'R8.3',
  'R8.4',
  'R8.5',
  'R8.6',
  'R8.7',
  'R8.12',
  'R8.13',
  'R8.15',
];

test('docs/internal/requirements.md has one row for each requirement, with its state', () => {
  const rows = Array.from(
    read('docs/internal/requirements.md').matchAll(/^\| (R\d+\.\d+) \| (.*) \|$/gm),
    ([, id = '', rest = '']) => ({ id, cells: rest.split(/ \| ?/) }),
  );
  const ids = parts.flatMap(([part, count]) => Array.from({ length: count }, (_row, index) => `R${part}.${index + 1}`));
  expect(rows.map(({ id }) => id)).toEqual([...ids, ...others]);
  expect(
    rows
      .filter(({ cells }) => cells.length !== 3 || !/^(?:met|not yet|deviation: .+)(?![\w])/.test(cells[2] ?? ''))
      .map(({ id }) => id),
  ).toEqual([]);
});
