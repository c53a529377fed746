/** A model step over dead workers at 50 moments of its life: what is paid, what is called twice, and what is said of it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Harness } from '../harness/harness.ts';
import { killAt, openModel, runUndisturbed } from '../harness/models/killed-models.ts';
import type { ScriptedModel } from '../harness/models/model-runs.ts';
import { randomFrom } from '../harness/random.ts';

const batches = 5;
const runsAtOnce = 10;

let harness: Harness;
let model: ScriptedModel;
beforeAll(async () => {
  harness = await Harness.open();
  model = await openModel();
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

test('50 runs of 20 turns and 20 calls, each killed once', async () => {
  await runUndisturbed(harness, model);
  const random = randomFrom(26);
  let [turns, calls] = [0, 0];
  for (let batch = 1; batch <= batches; batch += 1) {
    const moments = Array.from({ length: runsAtOnce }, () => random());
    const repeated = await killAt(harness, model, String(batch), moments);
    turns += repeated.repeatedTurns;
    calls += repeated.repeatedCalls;
  }
  process.stdout.write(`50 kills: ${turns} turns were asked for again, ${calls} calls were made again\n`);
  expect(turns).toBeLessThanOrEqual(batches * runsAtOnce);
});
