/** The example that explores a code base, end to end with a small real model. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { smallModel } from '../../models/local/small-model.ts';
import { Harness } from '../harness/harness.ts';
import { example, query, writeCodebase } from '../harness/models/codebase.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await Harness.open();
  writeCodebase(harness.project);
});
afterEach(() => harness.close());

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
