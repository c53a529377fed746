/** The file of a model is read by native code outside of every sandbox: no model names one, nor does what it brings. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../language/json.ts';
import { once } from '../harness/definitions.ts';
import type { ToolCall } from './attempts/attempt.ts';
import { useAttacked } from './attempts/run-attempts.ts';

const attacked = useAttacked();
beforeAll(() => writeFileSync(join(attacked.harness.project, 'made.gguf'), 'GGUF'));

const FILES = ['local//etc/passwd', './made.gguf', 'openai/some-model+./made.gguf'];
const generate = (model: string): ToolCall => ['ai_generate', { prompt: 'other Say it', model }];
const asking = (model: string): JsonObject => ({ type: 'llm', model, prompt: 'other Say it' });
const brings = (model: string, inputs: JsonObject = {}): ToolCall => [
  'sentinel_run',
  { definition: { name: 'brought', loop: { type: 'once' }, inputs, steps: [asking(model)] } },
];

const named = (model: string): ToolCall => ['sentinel_run', { name: 'asks-any', inputs: { model } }];

async function attack(name: string, turns: readonly ToolCall[][]): Promise<{ codes: string[]; handle: string }> {
  const { harness, scripts } = attacked;
  const handle = `attacked-${name}`;
  scripts.set(name, { handle, turns });
  const step = { type: 'llm', model: 'openai/some-model', prompt: `${name} Tidy up` } as const;
  const tools = ['ai/generate', 'sentinel/run', 'data/list'];
  const { events, result } = await harness.run(once(name, [{ ...step, tools }]), { handle });
  expect(result).toMatchObject({ outcome: 'completed' });
  const codes = events.flatMap((event) =>
    event.type === 'step-finished' && event.key.includes('/call.') ? [event.failure?.code ?? 'ok'] : [],
  );
  return { codes, handle };
}

test('by a tool that asks a model', async () => {
  const { codes } = await attack('asks', [FILES.map(generate), [generate('openai/some-model')]]);
  expect(codes).toEqual([...FILES.map(() => 'RIGHTS_EXCEEDED'), 'ok']);
});

test('by a definition that it brings, also through a variable, and by inputs of a saved one', async () => {
  const { harness } = attacked;
  const saved = { name: 'asks-any', inputs: { model: 'openai/some-model' }, loop: { type: 'once' } } as const;
  await harness.store.definitions.save(once('asks-any', [asking('{{input.model}}') as never], saved));
  const variable = brings('{{input.model}}', { model: './made.gguf' });
  const turns = [
    [...FILES.map((model) => brings(model)), variable, named('./made.gguf')],
    [named('openai/some-model')],
  ];
  const { codes } = await attack('brings', turns);
  expect(codes).toEqual(Array(6).fill('ok'));
  const started = (await harness.store.runs.list({ limit: 100 })).filter(({ handle }) => handle.startsWith('run-'));
  const ended = await Promise.all(started.map(async ({ handle }) => harness.result(handle)));
  const failed = ended.map(({ failure, outcome }) => failure?.code ?? outcome).toSorted();
  expect(failed).toEqual([...Array<string>(5).fill('RIGHTS_EXCEEDED'), 'completed']);
});
