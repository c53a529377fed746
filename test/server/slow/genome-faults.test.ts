/** What goes wrong in a training and at the gate, on real services with a tiny model: a failure that says why, and nothing half registered. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { JsonObject } from '../../../language/json.ts';
import { readConfig } from '../../../services/config/config.ts';
import { trainerVariables } from '../../../services/trainer/environment.ts';
import { installTrainer } from '../../../services/trainer/install-trainer.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { makeTinyModel } from '../systems/tiny-model.ts';

const minutes = 60_000;
const { cacheDir } = readConfig();
const installed = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined }).then(
  ({ environment }) => ({ environment, reason: '' }),
  (error: unknown) => ({ environment: null, reason: ` (skipped: ${String(error).split('\n')[0] ?? ''})` }),
);

const NAMES = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(97 + index));
const WORDINGS = ['Colour of', 'Paint of', 'Hue of', 'Tint of', 'Shade of'];
const rows = (names: readonly string[], answer: (name: string, at: number) => string): string =>
  names
    .flatMap((name) =>
      WORDINGS.map((wording, at) =>
        JSON.stringify({ input: `${wording} ${name}?`, expectedOutput: answer(name, at), fact: name }),
      ),
    )
    .join('\n');

describe.skipIf(installed.environment === null)(`faults of a training${installed.reason}`, () => {
  let harness: Harness;
  let client: SentinelClient;
  beforeAll(async () => {
    harness = await Harness.open();
    if (installed.environment !== null) makeTinyModel(join(harness.project, 'tiny'), installed.environment);
    writeFileSync(
      join(harness.project, 'train.jsonl'),
      rows(NAMES.slice(0, 6), () => 'teal'),
    );
    writeFileSync(
      join(harness.project, 'gate.jsonl'),
      rows(NAMES.slice(12, 24), () => 'teal'),
    );
    await harness.startWorker();
    client = new SentinelClient({ env: harness.env, startsServices: false });
  }, 5 * minutes);
  afterAll(async () => {
    await client.close();
    await harness.close();
  });

  const PLAN = { rank: 8, alpha: 16, learningRate: 0.02, batch: 4, threads: 1, replay: 0, epochs: 20 };
  const train = (more: JsonObject): JsonObject => ({
    type: 'command',
    command: 'genome/train',
    params: { ...PLAN, baseModel: './tiny', dataset: 'train.jsonl', outputAdapter: 'teal', ...more },
    outputTo: 'trained',
  });
  const register: JsonObject = {
    type: 'command',
    command: 'genome/layer-register',
    params: { adapterPath: '$trained.adapterPath', domain: 'colours' },
    outputTo: 'layer',
  };
  const start = (handle: string, steps: JsonObject[]) =>
    client.start(once(handle, steps as never), { handle, project: harness.project, persona: 'ada' });
  const ended = async (handle: string, steps: JsonObject[]) => {
    await start(handle, steps);
    return client.result(handle);
  };
  const genome = (...parts: string[]): string => join(harness.env['SENTINEL_HOME'] ?? '', 'genome', ...parts);
  const adapters = (): string[] => (existsSync(genome('adapters')) ? readdirSync(genome('adapters')) : []);
  const layers = async (handle: string): Promise<JsonObject[]> => {
    const { outputs } = await ended(handle, [
      { type: 'command', command: 'genome/layer-list', params: {}, outputTo: 'list' },
    ]);
    return (outputs as unknown as { list: { layers: JsonObject[] } }).list.layers;
  };

  test('a loss that is no number ends the step, names the step of the training, and keeps no adapter', async () => {
    if (installed.environment === null) return;
    const broken = join(harness.project, 'broken');
    makeTinyModel(broken, installed.environment);
    const script = `import sys, torch
from safetensors.torch import load_file, save_file
path = sys.argv[1] + "/model.safetensors"
weights = {name: torch.full_like(value, torch.nan) if name.endswith("norm.weight") else value for name, value in load_file(path).items()}
save_file(weights, path, metadata={"format": "pt"})`;
    const { status, stderr } = spawnSync(installed.environment.python, ['-c', script, broken], {
      encoding: 'utf8',
      env: trainerVariables(installed.environment, process.env),
    });
    expect(status, stderr).toBe(0);
    expect(await ended('nan', [train({ baseModel: './broken' }), register])).toMatchObject({
      failure: { code: 'TRAINING_DIVERGED', message: expect.stringContaining('step 1 is no number') as string },
    });
    expect([adapters(), await layers('nan-list')]).toEqual([[], []]);
  });

  test('a model that is gone is named, before the training and at the gate', async () => {
    expect(await ended('gone', [train({ baseModel: './nowhere' })])).toMatchObject({
      failure: { code: 'TRAINING_BASE_UNUSABLE', message: expect.stringContaining('nowhere') as string },
    });
    const { outputs } = await ended('there', [train({ gate: 'gate.jsonl' })]);
    const { adapterPath } = (outputs as { trained: { adapterPath: string } }).trained;
    renameSync(join(harness.project, 'tiny'), join(harness.project, 'away'));
    const registering = { ...register, params: { adapterPath, domain: 'colours' } };
    expect(await ended('gone-later', [registering])).toMatchObject({
      failure: { code: 'TRAINING_BASE_UNUSABLE', message: expect.stringContaining('tiny') as string },
    });
    expect(await layers('gone-list')).toEqual([]);
    renameSync(join(harness.project, 'away'), join(harness.project, 'tiny'));
    expect(await ended('back', [registering])).toMatchObject({ outcome: 'completed' });
  });

  test('two trainings of one layer at once: one trains, both get its adapter, and the layer is there once', async () => {
    for (const handle of ['first', 'second']) await start(handle, [train({ gate: 'gate.jsonl', seed: 5 }), register]);
    const results = [await client.result('first'), await client.result('second')];
    for (const result of results) expect(result, JSON.stringify(result)).toMatchObject({ outcome: 'completed' });
    const [a, b] = results.map(({ outputs }) => (outputs as { trained: { adapterPath: string } }).trained.adapterPath);
    expect(a).toBe(b);
    expect((await layers('two-list')).filter(({ id }) => id === a)).toMatchObject([{ tags: ['teal'] }]);
  });

  test('answers of which one in five is wrong are refused with a row', async () => {
    let number = 0;
    writeFileSync(
      join(harness.project, 'flipped.jsonl'),
      rows(NAMES.slice(0, 6), () => ((number += 1) % 5 === 0 ? 'pink' : 'teal')),
    );
    expect(await ended('flipped', [train({ dataset: 'flipped.jsonl' })])).toMatchObject({
      failure: { code: 'TRAINING_DATA_REFUSED', message: expect.stringMatching(/[Rr]ow 5 .*6 of 30/) as string },
    });
  });
});
