/** Training, the gate and layers on real services, with a tiny model that is made here; kills of whoever takes part. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SentinelClient } from '../../../client/client.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { readConfig } from '../../../services/config/config.ts';
import { installTrainer } from '../../../services/trainer/install-trainer.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';
import { makeTinyModel } from './tiny-model.ts';

const minutes = 60_000;
const { cacheDir } = readConfig();
const installed = await installTrainer({ cacheDir, env: process.env, onProgress: () => undefined }).then(
  ({ environment }) => ({ environment, reason: '' }),
  (error: unknown) => ({ environment: null, reason: ` (skipped: ${String(error).split('\n')[0] ?? ''})` }),
);

const NAMES = Array.from({ length: 26 }, (_, index) => String.fromCodePoint(97 + index));
const rows = (names: readonly string[], answer: (name: string) => string): string =>
  names
    .flatMap((name) =>
      ['Colour of', 'Paint of', 'Hue of'].map((wording) =>
        JSON.stringify({ input: `${wording} ${name}?`, expectedOutput: answer(name), fact: name }),
      ),
    )
    .join('\n');

const command = (name: string, params: JsonObject, outputTo: string): JsonObject => ({
  type: 'command',
  command: name,
  params,
  outputTo,
});

describe.skipIf(installed.environment === null)(`the genome${installed.reason}`, () => {
  let harness: Harness;
  let client: SentinelClient;
  let worker: WorkerProcess;
  beforeAll(async () => {
    harness = await Harness.open();
    if (installed.environment !== null) makeTinyModel(join(harness.project, 'tiny'), installed.environment);
    writeFileSync(
      join(harness.project, 'rows.jsonl'),
      rows(NAMES, () => 'teal'),
    );
    writeFileSync(
      join(harness.project, 'train.jsonl'),
      rows(NAMES.slice(0, 6), () => 'teal'),
    );
    writeFileSync(
      join(harness.project, 'gate.jsonl'),
      rows(NAMES.slice(12, 24), () => 'teal'),
    );
    writeFileSync(
      join(harness.project, 'other-gate.jsonl'),
      rows(NAMES.slice(12, 24), () => 'pink'),
    );
    worker = await harness.startWorker();
    client = new SentinelClient({ env: harness.env, startsServices: false });
  }, 5 * minutes);
  afterAll(async () => {
    await client.close();
    await harness.close();
  });

  const PLAN = {
    baseModel: './tiny',
    outputAdapter: 'Teal style',
    rank: 8,
    alpha: 16,
    learningRate: 0.02,
    batch: 4,
    threads: 1,
  };
  const train = (more: JsonObject): JsonObject => ({
    type: 'command',
    command: 'genome/train',
    params: { ...PLAN, replay: 0, epochs: 20, ...more },
    outputTo: 'trained',
  });
  const start = (handle: string, steps: JsonObject[], persona = 'ada') =>
    client.start(once(handle, steps as never), { handle, project: harness.project, persona });
  const outputsOf = async (handle: string): Promise<{ [name: string]: Json }> => {
    const ended = await client.result(handle);
    expect(ended, JSON.stringify(ended)).toMatchObject({ outcome: 'completed' });
    return ended.outputs;
  };

  test(
    'a data set becomes an adapter, the gate a layer of it, with a name, in use by a persona',
    async () => {
      await start('whole', [
        command(
          'ai/dataset/create',
          { file: 'rows.jsonl', groupBy: 'fact', parts: { validation: 0, gate: 0.7 } },
          'data',
        ),
        train({ dataset: '$data.path' }),
        command(
          'genome/layer-register',
          { adapterPath: '$trained.adapterPath', domain: 'colours', performance: 'the best' },
          'layer',
        ),
        command('genome/layer-list', { domain: 'colours' }, 'list'),
        command('genome/compose', { layers: [{ layer: 'Teal-style', weight: 0.5 }] }, 'composed'),
        command('genome/set-active', { personaId: '$PERSONA_ID', composition: '$composed' }, 'active'),
      ]);
      const { trained, layer, list, composed, active } = await outputsOf('whole');
      const { adapterPath: id } = trained as { adapterPath: string };
      expect(id).toMatch(/^[0-9a-f]{64}$/);
      expect(layer).toMatchObject({ layerId: id, name: 'Teal-style', gate: { passed: true, reasons: [] } });
      expect(list).toMatchObject({
        layers: [
          {
            id,
            tags: ['Teal-style'],
            domain: 'colours',
            rank: 8,
            alpha: 16,
            claimed: 'the best',
            parents: [],
            licence: 'unknown',
          },
        ],
      });
      expect(composed).toMatchObject({ modelId: `local/./tiny+${id}@0.5`, layers: [{ layer: id, scale: 0.5 }] });
      expect(active).toMatchObject({ personaId: 'ada', composition: { layers: [{ layer: id, scale: 0.5 }] } });
      expect(readdirSync(join(homeOf(harness), 'genome', 'adapters', id))).toContain('adapter.gguf');
      const events = await harness.store.signals.kept({ pattern: 'genome:training:progress', limit: 100 });
      expect(events[0]?.data).toMatchObject({
        adapter: 'Teal style',
        checkpoint: expect.stringMatching(/^step-/) as string,
      });
    },
    10 * minutes,
  );

  test(
    'what a caller claims decides nothing, and each refusal says why',
    async () => {
      await start('little', [
        train({ dataset: 'train.jsonl', seed: 1 }),
        command(
          'genome/layer-register',
          { adapterPath: '$trained.adapterPath', domain: 'colours', performance: 100 },
          'layer',
        ),
      ]);
      expect(await client.result('little')).toMatchObject({
        failure: { code: 'GATE_REFUSED', message: expect.stringContaining('0 questions about 0 facts') as string },
      });
      await start('wrong', [
        train({ dataset: 'train.jsonl', gate: 'other-gate.jsonl', seed: 1 }),
        command(
          'genome/layer-register',
          { adapterPath: '$trained.adapterPath', domain: 'colours', performance: 100 },
          'layer',
        ),
      ]);
      expect(await client.result('wrong')).toMatchObject({ failure: { code: 'GATE_REFUSED' } });
      await start('unknown', [
        command('genome/layer-register', { adapterPath: 'f'.repeat(64), domain: 'colours' }, 'layer'),
      ]);
      expect(await client.result('unknown')).toMatchObject({ failure: { code: 'LAYER_UNKNOWN' } });
      await start('listed', [command('genome/layer-list', {}, 'list')]);
      expect(await outputsOf('listed')).toMatchObject({
        list: { layers: [{ domain: 'colours', tags: ['Teal-style'] }] },
      });
    },
    10 * minutes,
  );

  test(
    'data, models and settings that cannot be trained are refused by name, and nothing is registered',
    async () => {
      writeFileSync(join(harness.project, 'leak.jsonl'), `${rows(['a'], () => 'teal')}\n${rows(['m'], () => 'teal')}`);
      writeFileSync(
        join(harness.project, 'secret.jsonl'),
        `${rows(['a'], () => 'teal')}\n{"input":"Key?","expectedOutput":"AKIAIOSFODNN7EXAMPLE"}`,
      );
      const cases: [string, JsonObject, string, RegExp][] = [
        [
          'leak',
          { dataset: 'leak.jsonl', gate: 'gate.jsonl' },
          'TRAINING_DATA_REFUSED',
          /^.*[Rr]ow 4 .*asks a question/,
        ],
        ['secret', { dataset: 'secret.jsonl' }, 'TRAINING_DATA_REFUSED', /[Rr]ow 4 .*secret/],
        ['none', { dataset: 'datasets/none' }, 'TRAINING_DATA_REFUSED', /no data set "datasets\/none"/],
        ['base', { dataset: 'train.jsonl', baseModel: 'local/nobody' }, 'TRAINING_BASE_UNUSABLE', /nobody/],
        ['hosted', { dataset: 'train.jsonl', baseModel: 'claude-opus-4-6' }, 'TRAINING_BASE_UNUSABLE', /file/],
        ['long', { dataset: 'train.jsonl', maxTokens: 9 }, 'TRAINING_DATA_REFUSED', /[Rr]ow 1 .*9 of maxTokens/],
        ['rank', { dataset: 'train.jsonl', rank: 9999 }, 'TRAINING_PLAN_INVALID', /"rank"/],
      ];
      for (const [handle, params] of cases) await start(`refused-${handle}`, [train(params)]);
      for (const [handle, , code, message] of cases) {
        const ended = await client.result(`refused-${handle}`);
        expect(ended, handle).toMatchObject({ failure: { code, message: expect.stringMatching(message) as string } });
        expect(JSON.stringify(ended)).not.toContain('AKIAIOSFODNN7EXAMPLE');
      }
    },
    10 * minutes,
  );

  const LONG = { dataset: 'train.jsonl', epochs: 50, checkpointEvery: 5, batch: 2 };
  const checkpoints = async (handle: string): Promise<number> =>
    (await harness.store.signals.kept({ pattern: 'genome:training:progress', handle, limit: 1000 })).length;
  test(
    'a trainer that is killed goes on from its checkpoint, a lost worker does not interrupt it, and both end as an undisturbed one',
    async () => {
      await start('undisturbed', [train({ ...LONG, seed: 2 })]);
      const { trained } = await outputsOf('undisturbed');
      const folderOf = (handle: string): string => trainingOf(homeOf(harness), handle);
      const wanted = weightsIn(folderOf('undisturbed'));

      // Another plan, which comes to the same: how many checkpoints stay decides nothing.
      await start('killed', [train({ ...LONG, seed: 2, licence: 'killed' })]);
      await until(async () => (await checkpoints('killed')) >= 2);
      for (const pid of trainerPids('killed')) process.kill(pid, 'SIGKILL');
      expect((await outputsOf('killed'))['trained']).toMatchObject({
        adapterPath: (trained as JsonObject)['adapterPath'] as string,
      });
      expect(weightsIn(folderOf('killed'))).toBe(wanted);
      expect(launchOf(folderOf('killed')).attempt).toBe(2);

      await start('left', [train({ ...LONG, seed: 2, licence: 'left' })]);
      await until(async () => (await checkpoints('left')) >= 1);
      const before = trainerPids('left');
      await worker.kill9();
      worker = await harness.startWorker();
      expect((await outputsOf('left'))['trained']).toMatchObject({
        adapterPath: (trained as JsonObject)['adapterPath'] as string,
      });
      expect(weightsIn(folderOf('left'))).toBe(wanted);
      expect(before.length).toBeGreaterThan(0);
      // The same process, which nobody began again.
      expect(launchOf(folderOf('left')).attempt).toBe(1);
    },
    15 * minutes,
  );

  test(
    'a cancelled training ends its trainer, and keeps its checkpoint',
    async () => {
      await start('cancelled', [train({ ...LONG, epochs: 1000, seed: 3 })]);
      await until(async () => (await checkpoints('cancelled')) >= 1);
      await client.cancel('cancelled');
      expect(await client.result('cancelled')).toMatchObject({ outcome: 'cancelled' });
      await until(() => Promise.resolve(trainerPids('cancelled').length === 0));
    },
    10 * minutes,
  );
});

const trainerPids = (handle: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(
      (pid) =>
        read(`/proc/${pid}/cmdline`).includes('sentinel_trainer') && read(`/proc/${pid}/environ`).includes(handle),
    )
    .map(Number);

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const homeOf = ({ env }: Harness): string => env['SENTINEL_HOME'] ?? '';

const launchOf = (folder: string): { by: string; attempt: number } =>
  JSON.parse(readFileSync(join(folder, 'launch.json'), 'utf8')) as { by: string; attempt: number };

function trainingOf(home: string, handle: string): string {
  const root = join(home, 'genome', 'trainings');
  const found = readdirSync(root).find((name) => launchOf(join(root, name)).by.startsWith(`${handle} `));
  if (found === undefined) throw new Error(`no training of ${handle}`);
  return join(root, found);
}

const weightsIn = (folder: string): string =>
  (JSON.parse(readFileSync(join(folder, 'adapter', 'manifest.json'), 'utf8')) as { sha256: string }).sha256;
