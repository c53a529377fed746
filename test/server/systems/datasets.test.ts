/** The example of docs/datasets.md on real services: rows that a run has kept become a data set. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Definition } from '../../../language/model.ts';
import { Harness } from '../harness/harness.ts';

const page = readFileSync(new URL('../../../docs/datasets.md', import.meta.url), 'utf8');
const [, example = ''] = /^```json\n([^]*?)^```/m.exec(page) ?? [];

let harness: Harness;
let client: SentinelClient;
beforeAll(async () => {
  harness = await Harness.open();
  await harness.startWorker();
  client = new SentinelClient({ env: harness.env, startsServices: false });
});
afterAll(async () => {
  await client.close();
  await harness.close();
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
