/** The contract of a model provider: how a turn fails. Each failure is of a closed kind, after one request. */
import { describe, expect, test } from 'vitest';
import { isTransient } from '../../../world/models/port/turn-failure.ts';
import { json, streamed } from '../wires/wire.ts';
import { failureOf, say, TOOLS, turn, useDouble, WIRES, type TurnParts } from '../harness/turns.ts';
import type { Reply } from '../wires/double.ts';

describe.each(WIRES)('%s', (name, wire) => {
  const double = useDouble();
  const whole = wire.events({ parts: [{ text: ['one ', 'two ', 'three'] }], reason: wire.reasons.end });
  const half = whole.slice(0, whole.findLastIndex((event) => event.includes('three')) + 1);

  /** The failure, after exactly one request. */
  async function failing(reply: Reply, parts: TurnParts = {}) {
    const before = double().asked.length;
    double().forget();
    double().next(reply, say(wire));
    const failure = await failureOf(turn(wire, double(), parts));
    expect(double().asked.length - before).toBe(1);
    return { ...failure, isTransient: isTransient(failure) };
  }

  test.each([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['milliseconds', { 'retry-after-ms': '1250', 'retry-after': '9' }, 1250],
    ['nothing', {}, null],
    ['words', { 'retry-after': 'soon' }, null],
    ['seconds of a million years', { 'retry-after': '99999999999999' }, 366 * 86_400_000],
    ['milliseconds without end', { 'retry-after-ms': '1e300' }, 366 * 86_400_000],
    ['the year 9999', { 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 366 * 86_400_000],
  ])('a rate limit is transient, with the wait that its header says in %s', async (_how, headers, retryAfterMs) => {
    const failure = await failing(wire.errors.rateLimited(headers));
    expect(failure).toMatchObject({
      kind: 'rate-limited',
      retryAfterMs,
      isTransient: true,
      status: 429,
      provider: name,
    });
  });

  test('a rate limit may say a date', async () => {
    const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000).toUTCString();
    const failure = await failing(wire.errors.rateLimited({ 'retry-after': at }));
    if (failure.kind !== 'rate-limited') throw new Error(`it is ${failure.kind}`);
    expect(failure.retryAfterMs).toBeGreaterThan(30_000);
    expect(failure.retryAfterMs).toBeLessThanOrEqual(61_000);
  });

  test.runIf(wire.errors.spent !== null)('a spend limit is not cured by waiting', async () => {
    const failure = await failing(wire.errors.spent ?? {});
    expect(failure).toMatchObject({ kind: 'spend-limit', isTransient: false });
  });

  test('overload before the answer is transient', async () => {
    expect(await failing(wire.errors.overloaded)).toMatchObject({ kind: 'overloaded', isTransient: true });
  });

  test('overload in the stream is transient, and what came is counted, not kept', async () => {
    const failure = await failing(streamed(wire, [...half, wire.overloadEvent]));
    expect(failure).toMatchObject({ kind: 'overloaded', isTransient: true, spent: { estimated: true } });
    expect(failure.spent?.output).toBeGreaterThan(0);
  });

  test('an overflow says the numbers where the provider does', async () => {
    const failure = await failing(wire.errors.overflow);
    expect(failure).toMatchObject({ kind: 'context-too-long', tokens: 210_000, window: 200_000, isTransient: false });
  });

  test('a conversation of which the server left out a part is an overflow', async () => {
    const text = 'word '.repeat(4000);
    const failure = await failing(say(wire, { usage: { input: 900, output: 5 } }), {
      request: { messages: [{ role: 'user', blocks: [{ type: 'text', text }] }] },
      facts: { window: 4096 },
    });
    expect(failure).toMatchObject({ kind: 'context-too-long', window: 4096 });
  });

  test('a conversation that cannot fit is not sent', async () => {
    const before = double().asked.length;
    const messages = [{ role: 'user' as const, blocks: [{ type: 'text' as const, text: 'word '.repeat(40_000) }] }];
    const failure = await failureOf(turn(wire, double(), { request: { messages }, facts: { window: 4096 } }));
    expect(failure).toMatchObject({ kind: 'context-too-long', window: 4096 });
    expect(double().asked).toHaveLength(before);
  });

  test('a key that is not accepted names its setting', async () => {
    const failure = await failing(wire.errors.auth);
    const setting = { anthropic: 'ANTHROPIC_API_KEY', openai: 'OPENAI_API_KEY', ollama: 'OLLAMA_HOST', local: '' }[
      wire.kind
    ];
    expect(failure).toMatchObject({ kind: 'auth', setting, isTransient: false });
    expect(failure.message).toContain(setting);
    expect(failure.message).not.toContain('key-of-a-test');
  });

  test('a model that is not there says what to do', async () => {
    const failure = await failing(wire.errors.unknownModel);
    expect(failure).toMatchObject({ kind: 'model-not-found', retired: false, isTransient: false });
    expect(failure.message).toMatch(/sentinel models/);
  });

  test('a model that was to go, and is not there, has gone', async () => {
    const failure = await failing(wire.errors.unknownModel, {
      facts: { retires: { on: '2026-01-01', instead: 'newer' } },
    });
    expect(failure).toMatchObject({ kind: 'model-not-found', retired: true });
    expect(failure.message).toMatch(/2026-01-01.*"newer".*models\.aliases/);
  });

  test('a stream without its last event is transient', async () => {
    const failure = await failing(streamed(wire, half));
    expect(failure).toMatchObject({ kind: 'truncated-stream', isTransient: true });
    expect(failure.spent?.output).toBeGreaterThan(0);
  });

  test('an empty stream is transient', async () => {
    expect(await failing(streamed(wire, []))).toMatchObject({ kind: 'truncated-stream' });
  });

  test('a connection that breaks in the middle is transient', async () => {
    expect(await failing(streamed(wire, half, { then: 'reset' }))).toMatchObject({
      kind: 'network',
      isTransient: true,
    });
  });

  test('an address where nobody listens is named', async () => {
    const failure = await failureOf(turn(wire, { url: 'http://127.0.0.1:1' }));
    expect(failure).toMatchObject({ kind: 'network' });
    expect(failure.message).toContain('127.0.0.1:1');
  });

  test('silence before the answer and silence in it are two timeouts', async () => {
    const limits = { headersMs: 150, idleMs: 150 };
    const before = await failing({ silentMs: Number.POSITIVE_INFINITY }, { limits });
    expect(before).toMatchObject({ kind: 'timeout', phase: 'headers', afterMs: 150, isTransient: true });
    const within = await failing(streamed(wire, half, { then: 'silence' }), { limits: { ...limits, headersMs: 5000 } });
    expect(within).toMatchObject({ kind: 'timeout', phase: 'idle', afterMs: 150 });
    await double().asked.at(-1)?.closed;
  });

  test('an answer that goes on for ever is stopped by its time', async () => {
    const failure = await failing(streamed(wire, half, { then: 'endless' }), {
      limits: { wallMs: 300, answerBytesMax: Number.POSITIVE_INFINITY },
    });
    expect(failure).toMatchObject({ kind: 'timeout', phase: 'wall' });
    await double().asked.at(-1)?.closed;
  });

  test('an answer that goes on for ever is stopped by its size, and the connection with it', async () => {
    const failure = await failing(streamed(wire, half, { then: 'endless' }), { limits: { answerBytesMax: 20_000 } });
    expect(failure).toMatchObject({ kind: 'answer-too-large', bytesMax: 20_000, isTransient: false });
    await double().asked.at(-1)?.closed;
  });

  test('an answer of 10 MB is stopped', async () => {
    const piece = 'x'.repeat(100_000);
    const events = wire.events({
      parts: [{ text: Array.from({ length: 100 }, () => piece) }],
      reason: wire.reasons.end,
    });
    expect(await failing(streamed(wire, events))).toMatchObject({ kind: 'answer-too-large' });
  });

  test('a line that never ends is stopped', async () => {
    const failure = await failing(streamed(wire, ['data: ', 'y'.repeat(1_000_000)], { then: 'endless' }));
    expect(failure).toMatchObject({ kind: 'answer-too-large' });
    await double().asked.at(-1)?.closed;
  });

  test('HTML with a status of success is no answer', async () => {
    const page = { headers: { 'content-type': 'text/html' }, pieces: ['<html><body>Sign in</body></html>'] };
    const failure = await failing(page);
    expect(failure).toMatchObject({ kind: 'malformed-answer' });
    expect(failure.message).toContain('Sign in');
  });

  test('an HTML page of an error keeps its status', async () => {
    const page = { status: 502, headers: { 'content-type': 'text/html' }, pieces: ['<h1>Bad Gateway</h1>'] };
    expect(await failing(page)).toMatchObject({ kind: 'overloaded', status: 502 });
  });

  test.each([204, 205])('an answer without a body (%i) is none, and its status is said', async (status) => {
    const failure = await failing({ status, headers: {} });
    expect(failure).toMatchObject({ kind: 'malformed-answer' });
    expect(failure.message).toContain(`${name} answered with status ${status}, which has no answer in it`);
  });

  test.each([300, 301, 304, 307])('a status that sends on to no address (%i) is said', async (status) => {
    const failure = await failing({ status, headers: {}, pieces: status === 304 ? [] : ['Moved.'] });
    expect(failure).toMatchObject({ kind: 'redirected', status, isTransient: false });
    expect(failure.message).toContain(`${name} answered with status ${status}, which sends on, and says to no address`);
  });

  test.each([
    [301, '/elsewhere'],
    [302, '/elsewhere'],
    [303, 'https://login.elsewhere.test/'],
    [308, 'https://api.elsewhere.test/v2'],
  ])('a redirect (%i to %s) names where it leads', async (status, location) => {
    const failure = await failing({ status, headers: { location }, pieces: ['{}'] });
    expect(failure).toMatchObject({ kind: 'redirected', isTransient: false });
    expect(failure.message).toContain(new URL(location, double().url).origin);
  });

  test('JSON that is no answer of this provider is named', async () => {
    const failure = await failing({ headers: json, pieces: ['{"hello": "you"}'] });
    expect(failure).toMatchObject(wire.kind === 'ollama' ? { kind: 'truncated-stream' } : { kind: 'malformed-answer' });
    if (wire.kind !== 'ollama') expect(failure.message).toContain('application/json in place of a stream');
  });

  test('an error in JSON with a status of success is an error', async () => {
    const { pieces = [] } = wire.errors.overflow;
    for (const headers of [json, { 'content-type': wire.streamType }].slice(0, wire.kind === 'ollama' ? 2 : 1))
      expect(await failing({ status: 200, headers, pieces })).toMatchObject({ kind: 'context-too-long' });
  });

  test('a broken line of JSON is no answer', async () => {
    const prefix =
      wire.kind === 'ollama' ? '' : wire.kind === 'openai' ? 'data: ' : 'event: content_block_delta\ndata: ';
    const failure = await failing(streamed(wire, [...half, `${prefix}{"half": \n\n`]));
    expect(failure).toMatchObject({ kind: 'malformed-answer' });
  });

  test('a cancelled turn lets go of the connection and throws the reason it was given', async () => {
    const cancel = new AbortController();
    const reason = new Error('the run was cancelled');
    double().forget();
    double().next(streamed(wire, half, { then: 'silence' }));
    const taken = turn(wire, double(), {
      signal: cancel.signal,
      onDelta: () => cancel.abort(reason),
      request: { tools: TOOLS },
    });
    await expect(taken).rejects.toBe(reason);
    await double().asked.at(-1)?.closed;
  });

  test('a turn that is cancelled before it begins asks nobody', async () => {
    const before = double().asked.length;
    const reason = new Error('too late');
    await expect(turn(wire, double(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(double().asked).toHaveLength(before);
  });
});
