/** What models answered in a project's own runs becomes an adapter: "From your own runs" of docs/genome.md, with a tiny model. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { JsonObject } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { readConfig } from '../../../services/config/config.ts';
import { installTrainer } from '../../../services/trainer/install-trainer.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { Harness } from '../harness/harness.ts';
import { MODEL, ModelDouble, says } from '../harness/models/model-double.ts';
import { makeTinyModel } from '../systems/tiny-model.ts';

const minutes = 60_000;
const { cacheDir } = readConfig();
const installed = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined }).then(
  ({ environment }) => ({ environment, reason: '' }),
  (error: unknown) => ({ environment: null, reason: ` (skipped: ${String(error).split('\n')[0] ?? ''})` }),
);
const passes = 40;

describe.skipIf(installed.environment === null)(`a layer of one's own runs${installed.reason}`, () => {
  let harness: Harness;
  let client: SentinelClient;
  const model = new ModelDouble();
  beforeAll(async () => {
    await model.open();
    model.double.answer(wire.path, () => says('teal'));
    harness = await Harness.open();
    if (installed.environment !== null) makeTinyModel(join(harness.project, 'tiny'), installed.environment);
    await harness.startWorker(model.env);
    client = new SentinelClient({ env: harness.env, startsServices: false });
  }, 5 * minutes);
  afterAll(async () => {
    await client.close();
    await harness.close();
    await model.close();
  });

  const outputsOf = async (handle: string, definition: Definition): Promise<JsonObject> => {
    await client.start(definition, { handle, project: harness.project, persona: 'ada' });
    const ended = await client.result(handle);
    expect(ended, JSON.stringify(ended)).toMatchObject({ outcome: 'completed' });
    return ended.outputs;
  };

  test(
    'is trained on what models answered in completed runs of that name, with some of it held out for the gate',
    async () => {
      for (const name of ['review', 'another'])
        await outputsOf(name, {
          name,
          loop: { type: 'count', max: passes },
          steps: [{ type: 'llm', model: MODEL, prompt: `${name} of {{iteration}}?` }],
        });
      const params = { rank: 4, alpha: 8, learningRate: 0.02, batch: 8, threads: 1, epochs: 2, replay: 0 };
      const { trained } = await outputsOf('learn', {
        name: 'learn',
        loop: { type: 'once' },
        steps: [
          {
            type: 'command',
            command: 'genome/train',
            params: { baseModel: './tiny', fromRuns: 'review', outputAdapter: 'review style', ...params },
            outputTo: 'trained',
          },
        ],
      });
      expect(trained).toMatchObject({
        name: 'review-style',
        adapterPath: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      });
      const { archives } = (await outputsOf('list', {
        name: 'list',
        loop: { type: 'once' },
        steps: [{ type: 'command', command: 'ai/dataset/list', params: { path: 'datasets' }, outputTo: 'all' }],
      }).then(({ all }) => all)) as unknown as {
        archives: { path: string; rows: number; parts: { gate: { rows: number } } }[];
      };
      expect(archives).toMatchObject([{ rows: passes }]);
      const [made] = archives;
      expect((trained as JsonObject)['gateQuestions']).toBe(made?.parts.gate.rows);
      expect(made?.parts.gate.rows).toBeGreaterThan(0);
      const rows = readFileSync(join(made?.path ?? '', 'train.jsonl'), 'utf8');
      expect(rows).toContain('review of');
      expect(rows).not.toContain('another of');
    },
    15 * minutes,
  );
});
