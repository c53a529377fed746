/** The example that explores a code base: over the scripted wire, and with a small real model. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import type { Costs } from '../../../prisma/store/contract/spending-contract.ts';
import { parseDefinitionText } from '../../../language/read/definition.ts';
import { catalogue } from '../../catalogue.ts';
import { root } from '../../project/tree.ts';
import { Harness } from '../harness/harness.ts';
import { smallModel } from '../../models/local/small-model.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';

const file = join(root, 'sentinels', 'examples', 'explore-codebase.json');
const query = 'which port the server listens on';

let harness: Harness;
beforeEach(async () => {
  harness = await Harness.open();
  mkdirSync(join(harness.project, 'src'));
  writeFileSync(join(harness.project, 'src', 'main.js'), "import { serve } from './server.js';\nserve();\n");
  writeFileSync(join(harness.project, 'src', 'server.js'), 'export const serve = () => listen(8123);\n');
  execFileSync('git', ['init', '--quiet'], { cwd: harness.project });
  execFileSync('git', ['add', '--all', 'src'], { cwd: harness.project });
});
afterEach(() => harness.close());

const shorter = (step: Step): Step => (step.type === 'llm' ? { ...step, maxTokens: 200 } : step);

/** With more time, and shorter answers: on a busy machine a small model takes its time. */
function example(): Definition {
  const read = parseDefinitionText(readFileSync(file, 'utf8'), { catalogue });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return { ...read.definition, steps: read.definition.steps.map(shorter), timeoutMs: 200_000 };
}

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

const small = await smallModel();
const why = 'path' in small ? '' : ` (skipped: no small model: ${small.missing})`;

describe.skipIf('missing' in small)(`with a small real model${why}`, () => {
  test('it runs to its end, and what was found has the form that was asked for', async () => {
    const added = await harness.command('models', 'add', 'path' in small ? small.path : '', '--name', 'small');
    expect(added).toMatchObject({ code: 0 });
    await harness.startWorker({
      OPENAI_API_KEY: '',
      OPENAI_BASE_URL: '',
      ANTHROPIC_API_KEY: '',
      OLLAMA_HOST: '127.0.0.1:9',
    });
    const { handle, result } = await harness.run(example(), { inputs: { query } });
    // A model this small may never say that it is done, or not manage the form: then the run says so.
    expect(['completed', 'stopped', 'failed']).toContain(result.outcome);
    expect([undefined, 'MODEL_ANSWER_INVALID']).toContain(result.failure?.code);
    const transcript = await harness.command('transcript', handle, '--json');
    const { conversations } = JSON.parse(transcript.out) as { conversations: { turns: { answer: unknown }[] }[] };
    expect(conversations[0]?.turns[0]?.answer).toMatchObject({ outcome: { model: 'local/small' } });
    const costs = await harness.command('costs', handle, '--by', 'model', '--json');
    // It costs nothing, and that is known.
    expect(JSON.parse(costs.out)).toMatchObject({ total: { usd: 0, unpricedTokens: 0 } });
    const { findings } = result.outputs;
    if (findings !== undefined)
      expect(findings).toMatchObject({
        answer: expect.any(String) as string,
        complete: expect.any(Boolean) as boolean,
      });
  });
});
