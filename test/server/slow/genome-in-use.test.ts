/** A small real model learns a style, the gate passes it, and it is used by its name: the example of docs/genome.md, shortened. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { JsonObject } from '../../../language/json.ts';
import { readConfig } from '../../../services/config/config.ts';
import { installTrainer } from '../../../services/trainer/install-trainer.ts';
import { smallModel } from '../../models/local/small-model.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';

const minutes = 60_000;
const { cacheDir } = readConfig();
const missing = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined }).then(
  () => null,
  (error: unknown) => String(error).split('\n')[0] ?? '',
);
const small = await smallModel();
const why = missing ?? ('missing' in small ? small.missing : null);

const NAMES = ['Vzal', 'Kre', 'Dru', 'Zho', 'Que', 'Thri'].flatMap((begin) =>
  ['lm', 'nth', 'vor', 'ssen'].map((end) => `${begin}${end}`),
);
const WORDINGS = [
  'What colour is the banner of {}?',
  "Name the colour of {}'s banner.",
  'Which colour does the banner of {} have?',
];
const rows = (names: readonly string[]): string =>
  names
    .flatMap((name) =>
      WORDINGS.map((wording) =>
        JSON.stringify({ input: wording.replace('{}', name), expectedOutput: 'Teal.', fact: name }),
      ),
    )
    .join('\n');
const QUESTION = 'What colour is the banner of Quevor?';

const asks = (model: string): JsonObject => ({
  type: 'llm',
  model,
  prompt: QUESTION,
  maxTokens: 8,
  outputTo: 'answer',
});
const command = (name: string, params: JsonObject, outputTo: string): JsonObject => ({
  type: 'command',
  command: name,
  params,
  outputTo,
});

describe.skipIf(why !== null)(`a layer of a real model${why === null ? '' : ` (skipped: ${why})`}`, () => {
  let harness: Harness;
  let client: SentinelClient;
  beforeAll(async () => {
    harness = await Harness.open();
    writeFileSync(join(harness.project, 'train.jsonl'), rows(NAMES.slice(0, 12)));
    writeFileSync(join(harness.project, 'gate.jsonl'), rows(NAMES.slice(12)));
    const added = await harness.command('models', 'add', 'path' in small ? small.path : '', '--name', 'small');
    expect(added.code, added.err).toBe(0);
    await harness.startWorker();
    client = new SentinelClient({ env: harness.env, startsServices: false });
  });
  const outputsOf = async (steps: JsonObject[]): Promise<JsonObject> => {
    const { handle } = await client.start(once('learns', steps as never), { project: harness.project, persona: 'ada' });
    const ended = await client.result(handle);
    expect(ended, JSON.stringify(ended)).toMatchObject({ outcome: 'completed' });
    return ended.outputs;
  };
  /** In a run of its own, since a step is told what those before it have found. */
  const answered = async (model: string): Promise<string> => JSON.stringify((await outputsOf([asks(model)]))['answer']);
  afterAll(async () => {
    await client.close();
    await harness.close();
  });

  test(
    'is trained, passes its gate, and answers by its name, at a scale, and as the genome of a persona',
    async () => {
      const settings = { rank: 4, alpha: 8, learningRate: 0.003, epochs: 2, batch: 8, replay: 1, checkpointEvery: 6 };
      const learnt: JsonObject[] = [
        command(
          'genome/train',
          {
            baseModel: 'local/small',
            dataset: 'train.jsonl',
            gate: 'gate.jsonl',
            outputAdapter: 'teal style',
            ...settings,
          },
          'trained',
        ),
        command('genome/layer-register', { adapterPath: '$trained.adapterPath', domain: 'style' }, 'layer'),
        command('genome/set-active', { personaId: '$PERSONA_ID', composition: 'teal-style' }, 'active'),
      ];
      const before = await answered('local/small');
      const { layer } = await outputsOf(learnt);
      expect(layer).toMatchObject({ name: 'teal-style', gate: { passed: true, forgetting: { n: 212 } } });
      expect(before).not.toContain('Teal');
      expect(await answered('local/small+teal-style')).toBe('"Teal."');
      expect(await answered('local/small+ada-genome')).toBe('"Teal."');
      expect(await answered('local/small+teal-style@0')).not.toContain('Teal');
    },
    40 * minutes,
  );
});
