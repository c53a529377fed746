/** A teacher's rows over workers that are killed: no answered turn is paid again, and the rows are those of a run that nothing disturbs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import { defined } from '../../../language/defined.ts';
import type { Json } from '../../../language/json.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

const facts = Array.from({ length: 16 }, (_, at) => ({ question: `What is thing ${at}?`, answer: `Value ${at}` }));
const model = new ModelDouble();
/** How often each turn was answered. */
const paid = new Map<string, number>();
let harness: Harness;
let client: SentinelClient;

beforeAll(async () => {
  await model.open();
  model.double.answer(wire.path, (body) => {
    const prompt =
      wire
        .messages(body)
        .findLast(({ role }) => role === 'user')
        ?.texts.join('\n') ?? '';
    paid.set(prompt, (paid.get(prompt) ?? 0) + 1);
    return says(JSON.stringify({ rows: prompt.includes('other ways') ? worded(prompt) : answered(prompt) }));
  });
  harness = await Harness.open();
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
  await model.close();
});

const worded = (prompt: string): Json =>
  [...prompt.matchAll(/^(\d+)\. What is thing (\d+)\?/gm)].map(([, number, thing]) => ({
    number: Number(number),
    questions: [`Which one is thing ${thing}?`],
  }));
const answered = (prompt: string): Json =>
  [...prompt.matchAll(/^(\d+)\. .*thing (\d+)\?/gm)].map(([, number, thing]) => ({
    number: Number(number),
    answer: `value ${thing}`,
  }));

const synthesis = (outputPath: string, check?: { command: string; sandboxed: boolean }) =>
  once('synthesis', [
    {
      type: 'command',
      command: 'genome/dataset-synthesize',
      params: { facts, teacher: MODEL, wordings: 20, outputPath, ...defined({ check }) },
      outputTo: 'made',
    },
  ]);
const start = (handle: string, definition: ReturnType<typeof synthesis>) =>
  client.start(definition, { handle, project: harness.project });
const rowsIn = (name: string): string => readFileSync(join(harness.project, name), 'utf8');

test('each turn is paid once, however often the worker dies between them', async () => {
  let worker = await harness.startWorker(model.env);
  await start('undisturbed', synthesis('undisturbed.jsonl'));
  const undisturbed = await client.result('undisturbed');
  expect(undisturbed, JSON.stringify(undisturbed)).toMatchObject({
    outcome: 'completed',
    outputs: { made: { rows: 32, madeBy: { model: 16, generator: 16 }, checked: { key: 32 } } },
  });
  const turns = paid.size;
  expect(turns).toBe(16);
  paid.clear();
  // The check makes a turn last, so that a kill falls between turns as well as into one.
  await start('killed', synthesis('killed.jsonl', { command: 'exit 0', sandboxed: false }));
  const kills = [3, 7, 12];
  for (const enough of kills) {
    await until(() => Promise.resolve(paid.size >= enough));
    await worker.kill9();
    worker = await harness.startWorker(model.env);
  }
  const killed = await client.result('killed');
  expect(killed, JSON.stringify(killed)).toMatchObject({ outcome: 'completed' });
  expect(rowsIn('killed.jsonl').replaceAll('["key","execution"]', '["key"]')).toBe(rowsIn('undisturbed.jsonl'));
  expect(paid.size).toBe(turns);
  const again = [...paid.values()].reduce((sum, count) => sum + count - 1, 0);
  // One that was under way at a kill is nobody's answer yet.
  expect(again).toBeLessThanOrEqual(kills.length);
});
