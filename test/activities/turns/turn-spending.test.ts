/** What a turn costs is kept, whatever comes of it. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Models } from '../../../world/models/open-models.ts';
import { TURN_LIMITS } from '../../../world/models/port/turn.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import type { TurnOutcome } from '../../../interpreter/effect.ts';
import type { CostSum } from '../../../prisma/store/contract/models/spending-contract.ts';
import { useStore } from '../../store/harness/opened.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed } from '../../models/wires/wire.ts';

const opened = useStore();
const registry = builtInRegistry();
let double: Double;
let models: Models;

beforeAll(async () => {
  double = await new Double().open();
  for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  models = new Models({
    settings: { ...NO_SETTINGS, prices: { 'openai/some-model': { input: 1000, output: 2000 } } },
    env: { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${double.url}/v1` },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
});
afterEach(() => double.forget());
afterAll(async () => {
  await models.close();
  await double.close();
});

const take = (handle: string, attempt: string, signal = new AbortController().signal): Promise<TurnOutcome> =>
  runTurn(
    { store: opened.store, registry, models },
    {
      conversation: 'steps.0@1',
      turn: 1,
      model: 'openai/some-model',
      say: [],
      answers: [],
      tools: [],
      settings: {},
      opening: { messages: [], images: [], prompt: 'Hello?' },
    },
    { run: { handle, project: '/' }, asker: `steps.0@1/turn ${attempt}`, attempt, timeoutMs: 60_000, signal },
  );

const said = (text: string, usage = { input: 100, output: 50 }): string[] =>
  wire.events({ parts: [{ text: [text] }], reason: wire.reasons.end, usage });
const totalOf = async (handle: string): Promise<CostSum> =>
  (await opened.store.spending.sum({ handle, by: 'model' })).total;
const cut: Reply = streamed(wire, said('x'.repeat(4000)).slice(0, -3));

test('an answer that broke off counts with about what it had said, and so does the one that came then', async () => {
  double.next(cut, streamed(wire, said('Hello.')));
  await expect(take('broken', 'one')).rejects.toThrow();
  expect(await totalOf('broken')).toMatchObject({ requests: 1, failed: 1, estimated: 1, lost: 0 });
  await take('broken', 'two');
  const total = await totalOf('broken');
  expect(total).toMatchObject({ requests: 2, failed: 1, lost: 0 });
  expect(total.output).toBeGreaterThan(500 + 50);
  expect(total.usd).toBeGreaterThan(1 + 0.2);
});

test('an answer that is larger than any may be was paid for as far as it came', async () => {
  double.next(streamed(wire, said('x'.repeat(TURN_LIMITS.answerBytesMax + 1))));
  await expect(take('large', 'one')).rejects.toThrow();
  const total = await totalOf('large');
  expect(total).toMatchObject({ requests: 1, failed: 1, estimated: 1, lost: 0 });
  expect(total.output).toBeGreaterThan(500_000);
});

test('a refusal costs nothing, and a turn that nobody heard the end of is said to be lost', async () => {
  double.next(wire.errors.overloaded, { silentMs: Number.POSITIVE_INFINITY }, streamed(wire, said('Hello.')));
  await expect(take('lost', 'one')).rejects.toThrow();
  expect(await totalOf('lost')).toMatchObject({ requests: 1, failed: 1, usd: 0, unpricedTokens: 0 });
  const stop = new AbortController();
  const cancelled = take('lost', 'two', stop.signal);
  setTimeout(() => stop.abort(new Error('the worker ends')), 300);
  await expect(cancelled).rejects.toThrow('the worker ends');
  // Until somebody asks again it may be under way.
  expect(await totalOf('lost')).toMatchObject({ requests: 2, lost: 0 });
  await take('lost', 'three');
  expect(await totalOf('lost')).toMatchObject({ requests: 3, failed: 1, lost: 1, input: 100 });
});
