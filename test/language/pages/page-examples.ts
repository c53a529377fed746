/**
 * Examples in a page of docs: a `json` block is a definition, and the `json expect` block after it is a
 * test case for it (docs/testing-definitions.md) that may also list `problems`, the codes of its warnings.
 */
import { describe, expect, test } from 'vitest';
import { differenceLines } from '../../../authoring/definition-tests/difference-lines.ts';
import { runTestCase, subjectOf } from '../../../authoring/definition-tests/run-case.ts';
import type { Subject } from '../../../authoring/definition-tests/run-case.ts';
import { readCases } from '../../../authoring/definition-tests/test-file.ts';
import type { TestCase } from '../../../authoring/definition-tests/test-file.ts';
import { PLAIN } from '../../../client/show/paint.ts';
import type { JsonObject } from '../../../language/json.ts';
import { NO_FILES } from '../../catalogue.ts';
import { read } from '../../project/tree.ts';

interface Example {
  name: string;
  given: TestCase;
  subject: Subject;
  warnings: readonly string[];
}

export function examplesOf(page: string): Example[] {
  const blocks = Array.from(read(page).matchAll(/^```(json(?: \w+)?)\n([^]*?)^```$/gm), ([, kind = '', body = '']) => ({
    kind,
    body,
  }));
  return blocks.flatMap(({ kind, body }, index) => {
    if (kind !== 'json') return [];
    const expected = blocks[index + 1];
    if (expected?.kind !== 'json expect') throw new Error(`${page}: no "json expect" block follows\n${body}`);
    return [exampleOf(page, JSON.parse(body) as JsonObject, JSON.parse(expected.body) as JsonObject)];
  });
}

function exampleOf(page: string, definition: JsonObject, expected: JsonObject): Example {
  const { problems = [], ...rest } = expected as JsonObject & { problems?: string[] };
  const { name } = definition as JsonObject & { name: string };
  const found = readCases({ ...rest, definition }, name);
  const [given] = 'cases' in found ? found.cases : [];
  if (given === undefined) throw new Error(`${name}: ${'mistakes' in found ? found.mistakes.join('; ') : 'no case'}`);
  return { name, given, subject: subjectOf(given, page, NO_FILES), warnings: problems };
}

export function testExamples(page: string, examples: readonly Example[], atLeast: number): void {
  describe.each(examples)(`${page}: the example $name`, ({ given, subject, warnings }) => {
    test('has the warnings it names and no others', () => {
      const found = subject.problems.filter(({ severity }) => severity === 'warning');
      expect(found.map(({ code }) => code)).toEqual(warnings);
    });

    test('runs as the page says', async () => {
      const report = await runTestCase(given, subject);
      expect(report.ok ? [] : [...differenceLines(report, PLAIN), ...(report.outcome?.trace ?? [])]).toEqual([]);
      expect(report.unused).toEqual([]);
    });
  });

  test(`${page} has at least ${atLeast} examples, each with a name of its own`, () => {
    expect(examples.length).toBeGreaterThanOrEqual(atLeast);
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
  });
}
