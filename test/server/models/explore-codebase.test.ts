/** The example that explores a code base: over the scripted wire (with a small real model: test/server/slow). */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Costs } from '../../../prisma/store/contract/models/spending-contract.ts';
import { Harness } from '../harness/harness.ts';
import { example, query, writeCodebase } from '../harness/models/codebase.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await Harness.open();
  writeCodebase(harness.project);
});
afterEach(() => harness.close());

const calls = (name: string, params: object): Reply =>
  streamed(
    wire,
    wire.events({
      parts: [{ call: { id: name, name, pieces: [JSON.stringify(params)] } }],
      reason: wire.reasons.calls,
    }),
  );
const answer = (value: object): Reply =>
  streamed(wire, wire.events({ parts: [{ text: [JSON.stringify(value)] }], reason: wire.reasons.end }));

describe('over the scripted wire', () => {
  let double: Double;
  beforeEach(async () => {
    double = await new Double().open();
    double.route('/v1/models', {
      status: 200,
      pieces: [JSON.stringify({ object: 'list', data: [{ id: 'some-model' }] })],
    });
    double.route('/props', { status: 404, pieces: ['{}'] });
  });
  afterEach(() => double.close());

  test('it looks, goes on from what it found, and ends when the model says that it is done', async () => {
    await harness.startWorker({ OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${double.url}/v1` });
    // By what is asked: a turn whose worker was too busy to say so is asked for again.
    double.answer(wire.path, (body) => {
      const isFirstTurn = !wire.messages(body).some(({ role }) => role === 'assistant');
      if (!JSON.stringify(body).includes('What was found so far'))
        return isFirstTurn
          ? calls('code_search', { pattern: 'serve' })
          : answer({ answer: 'src/main.js starts what src/server.js serves', complete: false });
      return isFirstTurn
        ? calls('code_read', { path: 'src/server.js' })
        : answer({ answer: '8123, in src/server.js', complete: true });
    });
    const { handle, result, events } = await harness.run(example(), { inputs: { query } });
    expect(result).toMatchObject({
      outcome: 'completed',
      iterations: 1,
      outputs: { findings: { answer: '8123, in src/server.js', complete: true } },
    });
    expect(
      events.flatMap((event) =>
        event.type === 'step-finished' && event.step !== 'condition' ? [`${event.key} ${event.outcome}`] : [],
      ),
    ).toEqual([
      'steps.0@1 ok',
      'steps.1@1/turn.1/call.0 ok',
      'steps.1@1 ok',
      'steps.2.else.0@1/turn.1/call.0 ok',
      'steps.2.else.0@1 ok',
    ]);
    const asked = double.asked.filter(({ path }) => path === wire.path).map(({ body }) => JSON.stringify(body));
    for (const said of [
      query,
      'src/server.js',
      'import { serve }',
      'What was found so far: src/main.js starts',
      'listen(8123)',
    ])
      expect(asked.some((one) => one.includes(said))).toBe(true);
    const costs = JSON.parse((await harness.command('costs', handle, '--json')).out) as Costs;
    expect(costs.total.requests - costs.total.lost - costs.total.failed).toBe(4);
    // What was answered, turn by turn, makes a test that passes.
    const out = 'again.sentinel-test.json';
    expect(await harness.command('test', '--record', handle, '--out', out)).toMatchObject({ code: 0 });
    expect(await harness.command('test', out)).toMatchObject({ code: 0 });
  });
});
