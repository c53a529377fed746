/** A conversation that fills the window of its model, over a dead worker: shortened once, paid once, whole in the store. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JsonObject } from '../../../../language/json.ts';
import { once } from '../../harness/definitions.ts';
import { Harness, until } from '../../harness/harness.ts';
import { ModelDouble } from '../../harness/models/model-double.ts';
import type { Reply } from '../../../models/wires/double.ts';
import { openAiWire as wire } from '../../../models/wires/openai-wire.ts';
import { streamed } from '../../../models/wires/wire.ts';

let harness: Harness;
let model: ModelDouble;
beforeEach(async () => {
  harness = await Harness.open();
  model = await new ModelDouble().open();
  // As vLLM says how large a window it has: a prompt of 2,800 tokens fits beside the answer.
  const models = { object: 'list', data: [{ id: 'some-model', object: 'model', max_model_len: 4000 }] };
  model.double.route('/v1/models', { pieces: [JSON.stringify(models)] });
  for (const path of ['a', 'b', 'c']) writeFileSync(join(harness.project, `${path}.txt`), `what ${path} says`);
});
afterEach(async () => {
  await harness.close();
  await model.close();
});

const reads = (path: string): Reply => {
  const pieces = [JSON.stringify({ path: `${path}.txt` })];
  const parts = [{ text: [path.repeat(4000)] }, { call: { id: path, name: 'code_read', pieces } }];
  return streamed(wire, wire.events({ parts, reason: wire.reasons.calls, usage: null }));
};
const text = (said: string): Reply =>
  streamed(wire, wire.events({ parts: [{ text: [said] }], reason: wire.reasons.end, usage: null }));
const asked = (): JsonObject[] => model.double.asked.filter(({ path }) => path === wire.path).map(({ body }) => body);

test.each([undefined, 'step'] as const)('durability %s', async (durability) => {
  model.next(
    reads('a'),
    reads('b'),
    reads('c'),
    text('Two files were read.'),
    { silentMs: Number.POSITIVE_INFINITY },
    text('Done.'),
  );
  const first = await harness.startWorker(model.env);
  const handle = await harness.start(
    once(
      'long',
      [{ type: 'llm', model: 'openai/some-model', prompt: 'The task', tools: ['code/read'], outputTo: 'answer' }],
      durability === undefined ? {} : { durability },
    ),
  );
  // Three turns, the summary, and the turn after it, under which the worker dies.
  await until(() => asked().length === 5);
  await first.kill9();
  await harness.startWorker(model.env);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { answer: 'Done.' } });
  expect(asked()).toHaveLength(6);
  const [, , , forSummary = {}, lost = {}, last = {}] = asked();
  expect(wire.messages(forSummary).at(-1)?.texts.join('')).toContain('Write a summary of it');
  expect(last).toEqual(lost);
  const shown = JSON.stringify(wire.messages(last));
  for (const kept of ['The task', 'Two files were read.', 'what c says']) expect(shown).toContain(kept);
  expect(shown).not.toContain('what a says');
  const events = await harness.events(handle);
  expect(
    events.flatMap((event) => (event.type === 'compacted' ? [[event.key, event.strategy, event.window]] : [])),
  ).toEqual([['steps.0@1/turn.4', 'summarize', 4000]]);
  const whole = await harness.command('transcript', handle, 'steps.0@1');
  for (const said of ['what a says', 'Two files were read.', 'with summary 1, summarized 1', '(summarize)'])
    expect(whole.out).toContain(said);
  expect(JSON.stringify(await harness.history(handle))).not.toContain('Two files were read.');
  expect((await harness.command('replay', handle)).code).toBe(0);
});
