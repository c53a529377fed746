/** Every example in docs/language/expressions.md and docs/language/interpolation.md: each line of a `json case` block is one. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { tryEvaluate } from '../../../language/expression/evaluate.ts';
import { CONSTANTS, FUNCTIONS, METHODS } from '../../../language/expression/expression.ts';
import { interpolateValue } from '../../../language/references/interpolation.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { BUILT_INS, scopeOf } from '../../../language/expression/scope.ts';
import { renderShellLine } from '../../../language/references/shell-line.ts';
import { defined } from '../../../language/defined.ts';

interface Example {
  scope: JsonObject;
  textFields?: { [name: string]: string };
  expression?: string;
  template?: Json;
  shell?: string;
  gives?: Json;
  givesNothing?: true;
  failsWith?: string;
  unresolved?: string[];
  environment?: { [name: string]: string };
}

const page = (name: string): string =>
  readFileSync(new URL(`../../../docs/language/${name}.md`, import.meta.url), 'utf8');
const pages = ['expressions', 'interpolation'];

function examplesOf(text: string): [string, Example][] {
  const blocks = Array.from(text.matchAll(/^```json case\n([^]*?)^```$/gm), ([, block = '']) => block);
  return blocks.flatMap((block) => block.trim().split('\n')).map((line) => [line, JSON.parse(line) as Example]);
}

describe.each(pages)('docs/language/%s.md', (name) => {
  const examples = examplesOf(page(name));

  test('has examples, each of one kind', () => {
    expect(examples.length).toBeGreaterThan(20);
    const odd = examples.filter(
      ([, example]) => ['expression', 'template', 'shell'].filter((kind) => Object.hasOwn(example, kind)).length !== 1,
    );
    expect(odd).toEqual([]);
  });

  test.each(examples)('%s', (_line, example) => {
    const scope = { ...scopeOf(example.scope), textField: (variable: string) => example.textFields?.[variable] };
    const { expression, template, shell } = example;
    if (expression !== undefined) {
      const result = tryEvaluate(expression, scope);
      if (example.failsWith === undefined)
        expect(result).toEqual({
          ok: true,
          value: example.givesNothing === true ? undefined : example.gives,
          ...defined({ lost: example.unresolved }),
        });
      else expect(result).toMatchObject({ ok: false, code: example.failsWith });
    }
    if (template !== undefined)
      expect(interpolateValue(template, scope)).toEqual({
        value: example.gives,
        unresolved: example.unresolved ?? [],
        faults: [],
      });
    if (shell !== undefined)
      expect(renderShellLine(shell, scope)).toMatchObject({ line: example.gives, env: example.environment ?? {} });
  });
});

test('the pages name every method, function, constant and built-in', () => {
  const expressions = page('expressions');
  const missing = [
    ...METHODS.map((method) => `.${method}(`),
    ...FUNCTIONS.filter((name) => !name.startsWith('Math.')).map((name) => `${name}(`),
  ].filter((name) => !expressions.includes(name));
  expect(missing).toEqual([]);
  const math = Array.from(expressions.matchAll(/`Math\.([^`]+)`/g), ([, names = '']) => names)
    .join(' ')
    .split(' ');
  const unnamed = [...FUNCTIONS, ...CONSTANTS.keys()].filter(
    (name) => name.startsWith('Math.') && !math.includes(name.slice('Math.'.length)),
  );
  expect(unnamed).toEqual([]);
  expect([...BUILT_INS].filter((name) => !page('interpolation').includes(`$${name}`))).toEqual([]);
});
