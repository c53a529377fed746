/**
 * Whatever a provider sends after an answer began is kept, charged and bounded: real turns over a real store,
 * with the providers' wires doubled.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { runTurn, type TurnParts, type TurnPlace } from '../../../activities/turns/run-turn.ts';
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { TurnOutcome } from '../../../interpreter/effect.ts';
import { turnCallsMax } from '../../../language/limits.ts';
import type { CostSum } from '../../../prisma/store/contract/models/spending-contract.ts';
import { useStore } from '../../store/harness/opened.ts';
import { WIRES } from '../../models/harness/turns.ts';
import { Double } from '../../models/wires/double.ts';
import { streamed } from '../../models/wires/wire.ts';

const opened = useStore();
const registry = builtInRegistry();
let double: Double;
let models: Models;

beforeAll(async () => {
  double = await new Double().open();
  // What a worker asks about a model is no turn.
  const described = WIRES.map(([, { model }]) => `/v1/models/${model}`);
  for (const path of ['/v1/models', '/props', ...described]) double.route(path, { status: 404, pieces: ['{}'] });
  double.route('/api/show', { pieces: ['{"model_info":{},"capabilities":["tools"]}'] });
  const names = WIRES.map(([, { kind, model }]) => `${kind}/${model}`);
  models = new Models({
    settings: {
      ...NO_SETTINGS,
      prices: Object.fromEntries(names.map((name) => [name, { input: 1000, output: 2000 }])),
    },
    env: {
      OPENAI_API_KEY: 'key-of-a-test',
      OPENAI_BASE_URL: `${double.url}/v1`,
      ANTHROPIC_API_KEY: 'key-of-a-test',
      ANTHROPIC_BASE_URL: double.url,
      OLLAMA_HOST: double.url,
    },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
});
afterAll(async () => {
  await models.close();
  await double.close();
});

/** As the driver says it that the database went away in the middle. */
const away = (): Error => new Error('Connection terminated unexpectedly');

let runs = 0;
const handle = (): string => `paid-${(runs += 1)}`;
const totalOf = async (run: string): Promise<CostSum> =>
  (await opened.store.spending.sum({ handle: run, by: 'model' })).total;

describe.each(WIRES)('%s', (_name, wire) => {
  const take = (
    run: string,
    attempt: string,
    request: Partial<TurnRequest> = {},
    store: TurnParts['store'] = opened.store,
    place: Partial<TurnPlace> = {},
  ): Promise<TurnOutcome> =>
    runTurn(
      { store, registry, models },
      {
        conversation: 'steps.0@1',
        turn: 1,
        model: `${wire.kind}/${wire.model}`,
        say: [],
        answers: [],
        tools: [],
        settings: {},
        opening: { messages: [], images: [], prompt: 'Hello?' },
        ...request,
      },
      {
        run: { handle: run, project: '/' },
        asker: 'steps.0@1/turn',
        attempt,
        timeoutMs: 60_000,
        signal: new AbortController().signal,
        ...place,
      },
    );
  const asked = (): number => double.asked.filter(({ path }) => path === wire.path).length;
  const calling = (count: number) =>
    streamed(
      wire,
      wire.events({
        parts: Array.from({ length: count }, (_each, at) => ({
          call: { id: `c${at}`, name: 'data_list', pieces: ['{}'] },
        })),
        reason: wire.reasons.calls,
      }),
    );
  const answered = (text: string, count = '7') =>
    streamed(
      wire,
      wire
        .events({ parts: [{ text: [text] }], reason: wire.reasons.end, usage: { input: 11, output: 7_777_777 } })
        .map((event) => event.replaceAll('7777777', count)),
    );

  test.each(['0.5', '-3', '3000000000', '1e400', '"9"', '{"a":1}'])(
    'an answer whose count of tokens is %s is kept and charged, and asked for once',
    async (count) => {
      const run = handle();
      double.next(answered('Hello.', count));
      const before = asked();
      const outcome = await take(run, 'one');
      expect(outcome).toMatchObject({ text: 'Hello.', isMiscounted: true });
      expect(await take(run, 'two')).toEqual(outcome);
      expect(asked() - before).toBe(1);
      const total = await totalOf(run);
      expect(total).toMatchObject({ requests: 1, failed: 0, lost: 0, estimated: 1 });
      expect(total.output).toBeGreaterThan(0);
      expect(total.usd).toBeGreaterThan(0);
    },
  );

  test('an honest answer with an honest count is charged as it is', async () => {
    const run = handle();
    double.next(answered('Hello.', '2000000000'));
    expect(await take(run, 'one')).not.toHaveProperty('isMiscounted');
    expect(await totalOf(run)).toMatchObject({ requests: 1, estimated: 0, output: 2_000_000_000 });
  });

  test.each([
    ['NUL', 'a\u0000b'],
    ['half a character', 'a\ud800b'],
    ['a text of 1 MiB', 'x'.repeat(1024 * 1024)],
    ['JSON with __proto__', '{"__proto__":{"a":1},"b":1e999}'],
    ['JSON 100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ])('an answer that holds %s is kept', async (_what, text) => {
    const run = handle();
    double.next(answered(text));
    const outcome = await take(run, 'one');
    expect(outcome.text).toBe(text);
    expect(await take(run, 'two')).toMatchObject({ text });
    expect(await totalOf(run)).toMatchObject({ requests: 1, failed: 0, lost: 0 });
  });

  test.each([
    ['that holds itself in "allOf"', { allOf: [{ $ref: '#' }] }],
    ['that holds itself behind a definition', { $ref: '#/$defs/a', $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }] } } }],
    ['that names nothing', { $ref: '#/nowhere' }],
  ])('an answer to a schema %s is charged, and ends with a code', async (_what, schema) => {
    const run = handle();
    double.next(answered('{"a":1}'));
    const before = asked();
    const outcome = await take(run, 'one', { settings: { schema } }).catch((error: unknown) => error);
    if (outcome instanceof Failure) expect(outcome.code).toMatch(/^MODEL_/);
    else expect((outcome as TurnOutcome).fault).toEqual(expect.any(String));
    expect(asked() - before).toBeLessThanOrEqual(1);
    if (asked() > before) expect((await totalOf(run)).output).toBeGreaterThan(0);
    double.forget();
  });

  test('an answer that could not be written is read again, and not asked for again', async () => {
    const run = handle();
    double.next(answered('Hello.', '70'));
    const before = asked();
    const lost = { ...opened.store.conversations, answer: () => Promise.reject(away()) };
    await expect(take(run, 'one', {}, { ...opened.store, conversations: lost })).rejects.toThrow(
      'Connection terminated',
    );
    const [charged] = [await totalOf(run)];
    expect(charged).toMatchObject({ requests: 1, failed: 0, lost: 0, estimated: 1 });
    expect(charged.usd).toBeGreaterThan(0);
    expect(await take(run, 'two')).toMatchObject({ text: 'Hello.' });
    expect(asked() - before).toBe(1);
    expect(await totalOf(run)).toMatchObject({ requests: 1, failed: 0, lost: 0, estimated: 0, input: 11, output: 70 });
    expect(await opened.database.query('select 1 from raw_answers where handle = $1', [run])).toEqual([]);
  });

  test('of what the provider sent beside an answer, only what says how to read it is kept', async () => {
    const run = handle();
    const sent = answered('Hello.');
    double.next({
      ...sent,
      headers: { ...sent.headers, 'set-cookie': 'session=secret-of-the-provider', 'x-request-id': 'asked-1' },
    });
    const lost = { ...opened.store.conversations, answer: () => Promise.reject(away()) };
    await expect(take(run, 'one', {}, { ...opened.store, conversations: lost })).rejects.toThrow(
      'Connection terminated',
    );
    const rows = await opened.database.query('select headers from raw_answers where handle = $1', [run]);
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).toContain('asked-1');
    expect(JSON.stringify(rows)).not.toContain('secret-of-the-provider');
    expect(await take(run, 'two')).toMatchObject({ text: 'Hello.' });
  });

  test('one that ended too early is not asked for again by another attempt either', async () => {
    const run = handle();
    const events = wire.events({ parts: [{ text: ['x'.repeat(400)] }], reason: wire.reasons.end });
    double.next(streamed(wire, events.slice(0, -3)));
    const before = asked();
    const first: unknown = await take(run, 'one').catch((error: unknown) => error);
    const second: unknown = await take(run, 'two').catch((error: unknown) => error);
    expect([first, second]).toMatchObject([{ code: 'MODEL_ANSWER_BROKEN' }, { code: 'MODEL_ANSWER_BROKEN' }]);
    expect(asked() - before).toBe(1);
    expect(await totalOf(run)).toMatchObject({ requests: 1, failed: 1 });
  });

  test('one that broke off as soon as it had begun is charged, with what the provider had counted', async () => {
    const run = handle();
    const [first = ''] = wire.events({ parts: [{ text: ['Hel', 'lo.'] }], reason: wire.reasons.end });
    double.next({ ...streamed(wire, [first]), then: 'reset' });
    expect(await take(run, 'one').catch((error: unknown) => error)).toMatchObject({
      code: expect.stringMatching(/^MODEL_/),
    });
    const total = await totalOf(run);
    expect(total).toMatchObject({ requests: 1, failed: 1, lost: 0 });
    expect(total.usd).toBeGreaterThan(0);
  });

  test.each(['the time of its step', 'a cancellation'])(
    'one that %s cuts off is charged for what came',
    async (what) => {
      const run = handle();
      const cancel = new AbortController();
      const events = wire.events({ parts: [{ text: ['x'.repeat(400)] }], reason: wire.reasons.end });
      const said = events.findIndex((event) => event.includes('xxx')) + 1;
      double.next({ ...streamed(wire, events.slice(0, said)), then: 'silence' });
      const isTime = what.startsWith('the time');
      const cut = take(run, 'one', {}, opened.store, { timeoutMs: isTime ? 700 : 60_000, signal: cancel.signal });
      if (!isTime) setTimeout(() => cancel.abort(new Error('CANCELLED')), 700);
      const error: unknown = await cut.catch((reason: unknown) => reason);
      if (isTime)
        expect(error).toMatchObject({ code: 'STEP_TIMEOUT', details: { spent: { tokens: expect.any(Number) } } });
      const total = await totalOf(run);
      expect(total).toMatchObject({ requests: 1, failed: 1, lost: 0, estimated: 1 });
      expect(total.output).toBeGreaterThan(0);
      expect(total.usd).toBeGreaterThan(0);
    },
  );

  test('one of which nothing came is not: nobody knows what it cost', async () => {
    const run = handle();
    double.next({ silentMs: Number.POSITIVE_INFINITY });
    const cut = take(run, 'one', {}, opened.store, { timeoutMs: 500 });
    expect(await cut.catch((error: unknown) => error)).toMatchObject({ code: 'STEP_TIMEOUT' });
    expect(await totalOf(run)).toMatchObject({ requests: 1, failed: 0, output: 0, usd: 0 });
  });

  test('an answer that makes more calls than a turn performs is charged, and none of them is performed', async () => {
    const run = handle();
    double.next(calling(turnCallsMax + 1));
    const offered = { tools: ['data/list'] };
    expect(await take(run, 'one', offered).catch((error: unknown) => error)).toMatchObject({
      code: 'MODEL_ANSWER_BROKEN',
    });
    expect((await totalOf(run)).usd).toBeGreaterThan(0);
    double.next(calling(turnCallsMax));
    expect((await take(handle(), 'one', offered)).calls).toHaveLength(turnCallsMax);
  });

  test('an answer that fits its schema, which holds itself within bounds, is an answer', async () => {
    const run = handle();
    double.next(answered('{"in":{"in":{}}}'));
    const schema = { type: 'object', properties: { in: { $ref: '#' } } };
    const { value, fault } = await take(run, 'one', { settings: { schema } });
    expect([value, fault]).toEqual([{ in: { in: {} } }, undefined]);
  });
});
