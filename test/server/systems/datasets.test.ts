/** The example of docs/datasets.md on real services: rows that a run has kept become a data set. */
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { Harness } from '../harness/harness.ts';
import { MODEL, ModelDouble, says } from '../harness/models/model-double.ts';

const page = readFileSync(new URL('../../../docs/datasets.md', import.meta.url), 'utf8');
const [, example = ''] = /^```json\n([^]*?)^```/m.exec(page) ?? [];

let harness: Harness;
let client: SentinelClient;
const model = new ModelDouble();
beforeAll(async () => {
  await model.open();
  model.double.answer(wire.path, (body) => says(`Re: ${wire.messages(body).at(-1)?.texts.join('') ?? ''}`));
  harness = await Harness.open();
  await harness.startWorker(model.env);
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
  await model.close();
});

interface Made {
  path: string;
  rows: number;
  parts: { [part: string]: { rows: number } };
}

test('a run that collects examples makes a data set of them, and finds it', async () => {
  const collect: Definition = {
    name: 'collect',
    loop: { type: 'count', max: 60 },
    steps: [
      {
        type: 'command',
        command: 'data/create',
        params: {
          collection: 'training_examples',
          data: {
            input: 'question {{iteration}}',
            expectedOutput: 'answer {{iteration}}',
            myAnswer: 'wrong',
            domain: 'sql',
            fact: 'fact {{iteration % 20}}',
          },
        },
      },
    ],
  };
  for (const [handle, definition] of [
    ['collect', collect],
    ['make', JSON.parse(example) as Definition],
  ] as const) {
    await client.start(definition, { handle, project: harness.project, persona: 'ada' });
    expect(await client.result(handle)).toMatchObject({ outcome: 'completed' });
  }
  const { outputs } = await client.status('make');
  const dataset = outputs['dataset'] as unknown as Made;
  const { archives } = outputs['all'] as unknown as { archives: Made[] };
  expect(archives).toEqual([dataset]);
  expect(dataset).toMatchObject({ rows: 60, createdBy: 'ada', from: { source: 'training_examples' } });
  const text = readFileSync(join(dataset.path, 'train.jsonl'), 'utf8');
  expect(text.trim().split('\n')).toHaveLength(dataset.parts['train']?.rows ?? 0);
  expect(text).not.toContain('wrong');
  expect(statSync(dataset.path).isDirectory()).toBe(true);
});

const asks = (name: string, prompt: string, rest: Partial<Definition> = {}): Definition => ({
  name,
  loop: { type: 'once' },
  steps: [{ type: 'llm', model: MODEL, prompt }],
  ...rest,
});

test('conversations of runs of the project are rows by themselves: of those that ended well, unless others are named', async () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'sentinel-elsewhere-'));
  const fails: Definition = asks('failing', 'third');
  const runs: [string, Definition, string][] = [
    ['one', asks('asking', 'first'), harness.project],
    ['two', asks('asking', 'second'), harness.project],
    ['three', { ...fails, steps: [...fails.steps, { type: 'fail', message: 'no' }] }, harness.project],
    ['four', asks('asking', 'of another project'), elsewhere],
  ];
  for (const [handle, definition, project] of runs) {
    await client.start(definition, { handle, project, persona: 'ada' });
    await client.result(handle);
  }
  const trained = async (handle: string, samples: JsonObject): Promise<string[]> => {
    const params = { samples, name: handle, parts: { validation: 0, gate: 0 } };
    const definition: Definition = {
      name: 'make-of-samples',
      loop: { type: 'once' },
      steps: [{ type: 'command', command: 'ai/dataset/create', params, outputTo: 'dataset' }],
    };
    await client.start(definition, { handle, project: harness.project, persona: 'ada' });
    const { outcome, failure } = await client.result(handle);
    if (outcome !== 'completed') return [failure?.code ?? 'without a failure'];
    const { path } = (await client.status(handle)).outputs['dataset'] as unknown as Made;
    const lines = readFileSync(join(path, 'train.jsonl'), 'utf8').trim().split('\n');
    return lines
      .map((line) => (JSON.parse(line) as { messages: { content: string }[] }).messages.map(({ content }) => content))
      .map((contents) => contents.join(' / '))
      .toSorted();
  };
  expect(await trained('all', {})).toEqual(['first / Re: first', 'second / Re: second']);
  expect(await trained('named', { handles: ['two'] })).toEqual(['second / Re: second']);
  expect(await trained('failed', { name: 'failing', outcomes: ['failed'] })).toEqual(['third / Re: third']);
  expect(await trained('of-others', { handles: ['four'] })).toEqual(['DATASET_EMPTY']);
  expect(await trained('later', { since: '2999-01-01T00:00:00Z' })).toEqual(['DATASET_EMPTY']);
  rmSync(elsewhere, { recursive: true });
});
