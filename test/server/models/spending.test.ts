/** What models cost over the scripted wire: by the prices of the project, with what failed, and within a budget. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import type { Costs } from '../../../prisma/store/contract/models/spending-contract.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { json, streamed, type Said } from '../../models/wires/wire.ts';

let harness: Harness;
let double: Double;
beforeEach(async () => {
  harness = await Harness.open();
  double = await new Double().open();
  // What a worker asks about the model is no turn.
  for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
  writeFileSync(
    join(harness.project, 'sentinel.config.mjs'),
    `export default { models: { prices: { 'openai/priced': { input: 1000, output: 2000, cacheRead: 100 } } } };`,
  );
});
afterEach(async () => {
  await harness.close();
  await double.close();
});

const environment = (): NodeJS.ProcessEnv => ({
  OPENAI_API_KEY: 'key-of-a-test',
  OPENAI_BASE_URL: `${double.url}/v1`,
  SENTINEL_PROJECT: harness.project,
});
const usage = { input: 1000, output: 500, cacheRead: 1000, thinking: 200 };
const say = (said: Partial<Said>): Reply =>
  streamed(wire, wire.events({ parts: [{ text: ['Done.'] }], reason: wire.reasons.end, usage, ...said }));
const read = (): Reply =>
  say({
    parts: [{ call: { id: '1', name: 'code_read', pieces: ['{"path":"a.txt"}'] } }],
    reason: wire.reasons.calls,
  });
const refused: Reply = {
  status: 429,
  headers: json,
  pieces: [JSON.stringify({ error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } })],
};
const paid = (): number => double.asked.filter(({ path }) => path === wire.path).length;
/** Of one answer: a dollar, a dollar, and ten cents. */
const USD = 2.1;

const asking = (name: string, model: string): Step => ({
  type: 'llm',
  name,
  model,
  prompt: 'Look at a.txt',
  tools: ['code/read'],
  outputTo: name,
});

async function costs(...args: string[]): Promise<Costs> {
  const { code, out, err } = await harness.command('costs', ...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) as string });
  return JSON.parse(out) as Costs;
}

test('a tree is summed by step, model, sentinel and day, with what broke off and what has no price', async () => {
  await harness.startWorker(environment());
  const broken = streamed(
    wire,
    wire.events({ parts: [{ text: ['x'.repeat(4000)] }], reason: wire.reasons.end }).slice(0, -3),
  );
  double.next(read(), broken, say({}), say({}), say({ usage: { input: 10, output: 10 } }));
  const nested = once('inner', [asking('inner', 'openai/priced'), asking('unpriced', 'openai/some-model')]);
  const { handle, result } = await harness.run(
    once('outer', [asking('look', 'openai/priced'), { type: 'sentinel', definition: nested, outputTo: 'below' }]),
  );
  expect(result.outcome).toBe('completed');
  const { total, rows } = await costs(handle);
  // The answer that broke off was billed with about what it had said.
  expect(total).toMatchObject({ requests: 5, failed: 1, lost: 0, unpricedTokens: 20, thinking: 600, estimated: 1 });
  expect(total.usd).toBeGreaterThan(3 * USD + 1);
  expect(rows.map(({ group, requests }) => [group, requests])).toEqual([
    ['steps.0@1', 3],
    ['steps.1@1/steps.0@1', 1],
    ['steps.1@1/steps.1@1', 1],
  ]);
  // The run's own books agree with the rows.
  const finished = (await harness.events(handle)).flatMap((event) =>
    event.type === 'step-finished' && event.usage !== undefined ? [event.usage] : [],
  );
  expect(finished.reduce((sum, { usd }) => sum + usd, 0)).toBeCloseTo(total.usd, 9);
  expect((await costs('--by', 'model')).rows.map(({ group }) => group)).toEqual(['openai/priced', 'openai/some-model']);
  expect((await costs('--by', 'sentinel')).rows.map(({ group }) => group)).toEqual(['outer', 'inner']);
  expect((await costs('--by', 'day', '--since', '1h')).total).toEqual(total);
  expect((await costs('--persona', 'nobody')).total.requests).toBe(0);
  const shown = await harness.command('costs', handle);
  expect(shown.out).toContain('and more');
  expect(shown.err).toContain('the price of 20 tokens is not known');
  expect((await harness.command('costs', 'no-such-run')).code).toBe(4);
  expect((await harness.command('costs', '--since', 'yesterday')).code).toBe(2);
  expect((await harness.command('trace', handle)).out).toContain('$');
});

test('a budget is looked at before each turn, in money and in tokens', async () => {
  await harness.startWorker(environment());
  for (const budget of [{ usd: 2 }, { tokens: 2500 }]) {
    double.next(read(), say({}));
    const before = paid();
    const { result } = await harness.run(once('bounded', [asking('look', 'openai/priced')], { safety: { budget } }));
    expect(result).toMatchObject({ outcome: 'stopped', limit: `budget.${Object.keys(budget)[0]}` });
    expect(paid() - before).toBe(1);
    double.forget();
  }
  // What has no price is said where money is bounded.
  double.next(say({}));
  const { result, events } = await harness.run(
    once('unpriced', [asking('look', 'openai/some-model')], { safety: { budget: { usd: 1 } } }),
  );
  expect(result.outcome).toBe('completed');
  expect(events).toContainEqual(expect.objectContaining({ type: 'warning', code: 'MODEL_PRICE_UNKNOWN' }));
});

test('a spend limit asks the persona, over a dead worker, and the same turn goes on when it is raised', async () => {
  const first = await harness.startWorker(environment());
  double.next(read(), refused, say({}));
  const handle = await harness.start(once('limited', [asking('look', 'openai/priced')]));
  await until(async () => (await harness.store.inbox.open(handle)).length > 0);
  const [item] = await harness.store.inbox.list({ handle });
  expect(item).toMatchObject({ id: 'steps.0@1:turn.2:failed', kind: 'error', choices: ['retry', 'skip', 'abort'] });
  expect(item?.message).toMatch(/limit of spending.*raise it, or choose another model/);
  await first.kill9();
  await harness.startWorker(environment());
  expect((await harness.command('answer', handle, 'retry')).code).toBe(0);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'completed', outputs: { look: 'Done.' } });
  // One turn, the one that was refused, and the same one again.
  expect(paid()).toBe(3);
  const { rows } = await costs(handle, '--by', 'run');
  expect(rows).toMatchObject([{ requests: 3, failed: 1 }]);
  expect(rows[0]?.usd).toBeCloseTo(2 * USD, 9);
  const asked = await harness.command('incidents', 'who', 'raised', 'a', 'spending', 'limit', '--json');
  expect(JSON.parse(asked.out)).toMatchObject([
    { handle, name: 'limited', kind: 'escalation', outcome: 'ada answered retry' },
  ]);
  expect((await harness.command('incidents', 'kubernetes')).out).toContain('Nothing that went wrong is about this.');
});
