/** Numbers that a person or a sender hands over: none becomes another one without a word. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { givenJson } from '../../../cli/request/given-json.ts';
import { fitInputs, readInputs } from '../../../cli/request/run-request.ts';
import { readEvaluation } from '../../../authoring/evaluation/evaluation-file.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { jsonIn } from '../../../worker/webhooks/http-message.ts';

const BIG = '12345678901234567890';
const folder = mkdtempSync(join(tmpdir(), 'sentinel-numbers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (text: string): string => {
  const path = join(folder, 'inputs.json');
  writeFileSync(path, text);
  return path;
};

const inputs =
  (...given: string[]) =>
  (): JsonObject =>
    readInputs(undefined, given);

const fit = (type: string, text: string): Promise<JsonObject> => {
  const definition: Definition = {
    name: 'job',
    steps: [{ type: 'emit', event: 'e' }],
    loop: { type: 'once' },
    inputSchema: { type: 'object', properties: { n: { type } } },
  };
  const assignments = [`n=${text}`];
  return fitInputs(definition, () => undefined, { inputs: readInputs(undefined, assignments), assignments });
};

test('inputs, options and webhooks have all digits', () => {
  expect(readInputs(undefined, [`id=${BIG}`, `of={"id": ${BIG}, "n": 1.5}`])).toEqual({
    id: BIG,
    of: { id: BIG, n: 1.5 },
  });
  expect(readInputs(file(`\uFEFF{"id": ${BIG}}`), [])).toEqual({ id: BIG });
  expect(givenJson('--data', `{"id": ${BIG}}`, '')).toEqual({ id: BIG });
  expect(jsonIn(Buffer.from(`{"id": ${BIG}, "size": 1e400}`))).toEqual({ id: BIG, size: '1e400' });
  const read = readEvaluation(`{"definition": "d.json", "inputs": [{"input": {"id": ${BIG}}}]}`);
  expect(read.ok && read.evaluation.inputs[0]?.input).toEqual({ id: BIG });
});

test('a number of no size is refused with its name', () => {
  expect(inputs('x=1e400')).toThrow('--input x is 1e400, and no number has that size; put it in quotes');
  expect(inputs('x={"a": [1, {"b": -1e400}]}')).toThrow('--input x: "a.1.b" is -1e400, and no number');
  expect(inputs('x=1e-400')).toThrow('--input x is 1e-400');
  expect(inputs('x="1e400"')()).toEqual({ x: '1e400' });
  expect(() => readInputs(file('{"x": 1e400}'), [])).toThrow(/--input-file .*: "x" is 1e400/);
  expect(() => givenJson('--data', '{"x": 1e400}', '')).toThrow('--data: "x" is 1e400');
});

test('a declared number is no text of digits, unless it is a fraction', async () => {
  await expect(fit('integer', BIG)).rejects.toThrow(
    `${BIG} has more digits than a number keeps, so it is handed over as text`,
  );
  expect(await fit('string', BIG)).toEqual({ n: BIG });
  expect(await fit('number', '3.3333333333333333')).toEqual({ n: 10 / 3 });
  expect(await fit('string', '3.3333333333333333')).toEqual({ n: '3.3333333333333333' });
});

const notes = async (schema: object, ...assignments: string[]): Promise<string[]> => {
  const said: string[] = [];
  const definition: Definition = {
    name: 'job',
    steps: [{ type: 'emit', event: 'e', data: '$version $n' }],
    loop: { type: 'once' },
    ...schema,
  };
  await fitInputs(definition, () => undefined, {
    inputs: readInputs(undefined, assignments),
    assignments,
    note: (text) => said.push(text),
  });
  return said;
};

test('a number that may be meant as a text is said, unless it is declared', async () => {
  expect(await notes({}, 'version=1.10', 'n=1.5')).toEqual([
    `sentinel: --input version=1.10 is the number 1.1; write --input 'version="1.10"' if the text is meant.`,
  ]);
  expect(await notes({}, 'version="1.10"', 'n=[1.10]')).toEqual([]);
  const inputSchema = { type: 'object', properties: { version: { type: 'number' } } };
  expect(await notes({ inputSchema }, 'version=1.10')).toEqual([]);
});
