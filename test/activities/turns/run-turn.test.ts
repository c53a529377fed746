/** Turns against a server that answers as a provider's wire does, over a real store: what is asked, kept, paid and refused. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Failure } from '../../../world/failures/failures.ts';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { keepCallResult } from '../../../activities/turns/call-result.ts';
import { runTurn, type TurnPlace } from '../../../activities/turns/run-turn.ts';
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { Opening, TurnOutcome } from '../../../interpreter/effect.ts';
import type { JsonObject } from '../../../language/json.ts';
import { useStore } from '../../store/harness/opened.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed, type Said } from '../../models/wires/wire.ts';
import { temporaryFolder } from '../harness/step-context.ts';

const opened = useStore();
const registry = builtInRegistry();
let double: Double;
let models: Models;

beforeAll(async () => {
  double = await new Double().open();
  // What a worker asks about the model is no turn.
  for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  models = new Models({
    settings: { ...NO_SETTINGS, prices: { 'openai/some-model': { input: 1, output: 2 } } },
    env: { OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${double.url}/v1` },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
});
afterEach(() => {
  double.forget();
  double.asked.length = 0;
});
afterAll(async () => {
  await models.close();
  await double.close();
});

const say = (said: Partial<Said>): Reply =>
  streamed(wire, wire.events({ parts: [{ text: ['Hello.'] }], reason: wire.reasons.end, ...said }));
const calls = (...list: { id: string; name: string; input: JsonObject }[]): Reply =>
  say({
    parts: list.map(({ id, name, input }) => ({ call: { id, name, pieces: [JSON.stringify(input)] } })),
    reason: wire.reasons.calls,
  });

let runs = 0;

class Conversation {
  readonly handle = `turns-${(runs += 1)}`;
  project = '/';
  turn = 1;

  take(
    request: Partial<Omit<TurnRequest, 'opening'>> & { opening?: Partial<Opening> } = {},
    place: Partial<TurnPlace> = {},
  ): Promise<TurnOutcome> {
    const { opening, ...rest } = request;
    return runTurn(
      { store: opened.store, registry, models },
      {
        conversation: 'steps.0@1',
        turn: this.turn,
        model: 'openai/some-model',
        say: [],
        answers: [],
        tools: [],
        settings: {},
        tokensBefore: 0,
        ...(this.turn === 1 ? { opening: { messages: [], images: [], prompt: 'Hello?', ...opening } } : {}),
        ...rest,
      },
      {
        run: { handle: this.handle, project: this.project },
        asker: 'steps.0@1/turn',
        attempt: 'one',
        timeoutMs: 60_000,
        signal: new AbortController().signal,
        ...place,
      },
    );
  }
}

/** Requests for an answer, as they stood on the wire. */
const asked = (): JsonObject[] => double.asked.filter(({ path }) => path === wire.path).map(({ body }) => body);

async function failureOf(turn: Promise<unknown>): Promise<Failure> {
  const error: unknown = await turn.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw new Error(`no failure: ${String(error)}`);
  return error;
}

test('a turn says what was said, and keeps what it was answered, with its price', async () => {
  const conversation = new Conversation();
  double.next(say({ usage: { input: 1000, output: 500 } }));
  const outcome = await conversation.take({
    opening: {
      system: 'Be brief.',
      messages: [
        { role: 'user', text: 'Before' },
        { role: 'assistant', text: 'Yes' },
      ],
    },
    settings: { temperature: 0.5, maxTokens: 100 },
  });
  expect(outcome).toMatchObject({
    stopReason: 'end',
    calls: [],
    text: 'Hello.',
    value: 'Hello.',
    model: 'openai/some-model',
  });
  expect(outcome.usd).toBeCloseTo(0.002, 9);
  const [body = {}] = asked();
  expect(wire.messages(body).map(({ role, texts }) => [role, ...texts])).toEqual([
    ['system', 'Be brief.'],
    ['user', 'Before'],
    ['assistant', 'Yes'],
    ['user', 'Hello?'],
  ]);
  expect(body).toMatchObject({ temperature: 0.5, max_tokens: 100 });
  const rows = await opened.store.conversations.read({ handle: conversation.handle, conversation: 'steps.0@1' });
  expect(rows.map(({ turn, message }) => [turn, message['role']])).toEqual([
    [0, 'system'],
    [0, 'user'],
    [0, 'assistant'],
    [0, 'user'],
    [1, 'assistant'],
  ]);
});

test('a turn that has its answer is not paid again, whoever asks', async () => {
  const conversation = new Conversation();
  double.next(say({}), say({ parts: [{ text: ['Another.'] }] }));
  const first = await conversation.take();
  expect(await conversation.take({}, { attempt: 'two' })).toEqual(first);
  expect(asked()).toHaveLength(1);
});

test('calls are known by their commands, and results and errors go back in the order of the calls', async () => {
  const conversation = new Conversation();
  double.next(
    calls({ id: 'a', name: 'code_read', input: { path: 'x' } }, { id: 'b', name: 'code_write', input: { path: 'y' } }),
    say({}),
  );
  const { calls: made, stopReason } = await conversation.take({ tools: ['code/read', 'code/write'] });
  expect(stopReason).toBe('tool-calls');
  expect(made).toEqual([
    { id: 'a', name: 'code/read', input: { path: 'x' } },
    { id: 'b', name: 'code/write', input: { path: 'y' } },
  ]);
  const place = { conversation: 'steps.0@1', turn: 1, call: 0, id: 'a' };
  expect(await keepCallResult(opened.store, conversation.handle, place, { content: 'text of x' })).toBe(
    '{"content":"text of x"}',
  );
  conversation.turn = 2;
  await conversation.take({ tools: ['code/read', 'code/write'], answers: [{ call: 1, id: 'b', text: 'not that' }] });
  const last = wire.messages(asked()[1] ?? {});
  expect(last.flatMap(({ results }) => results)).toEqual([
    { id: 'a', text: '{"content":"text of x"}', isError: false },
    { id: 'b', text: 'not that', isError: true },
  ]);
  expect(wire.toolNames(asked()[0] ?? {})).toEqual(['code_read', 'code_write']);
});

test('a long result is told with its beginning and its end', async () => {
  const conversation = new Conversation();
  const place = { conversation: 'steps.0@1', turn: 1, call: 0, id: 'a' };
  const word = await keepCallResult(opened.store, conversation.handle, place, `first ${'x'.repeat(200_000)} last`);
  expect(JSON.stringify(word).length).toBeLessThanOrEqual(202);
  const [row] = await opened.store.conversations.read({ handle: conversation.handle, conversation: 'steps.0@1' });
  const text = JSON.stringify(row?.message);
  expect(text.length).toBeLessThan(52_000);
  expect(text).toMatch(/first x+.*150011 of 200011 characters are left out.*x+ last/);
});

test('a reply is held against the schema of its step, and what is wrong is said before the next turn', async () => {
  const conversation = new Conversation();
  const settings = { schema: { type: 'object', required: ['a'], properties: { a: { type: 'number' } } } };
  double.next(say({ parts: [{ text: ['{"b": 1}'] }] }), say({ parts: [{ text: ['{"a": 1}'] }] }));
  const first = await conversation.take({ settings });
  expect(first.fault).toContain("required property 'a'");
  conversation.turn = 2;
  const second = await conversation.take({ settings, say: [{ prompt: 'repair', fault: first.fault ?? '' }] });
  expect(second).toMatchObject({ value: { a: 1 } });
  expect(second).not.toHaveProperty('fault');
  expect(wire.messages(asked()[1] ?? {}).at(-1)?.texts[0]).toContain(
    `Your answer does not fit the form that was asked for: ${first.fault}.`,
  );
  const turns = await opened.store.conversations.turns(conversation.handle);
  expect(turns.map(({ answer }) => answer?.['prompts'])).toEqual([{}, { repair: 1 }]);
});

test('a picture of the project goes with the prompt; one that is not there, or leads out, does not', async () => {
  const conversation = new Conversation();
  conversation.project = await temporaryFolder();
  writeFileSync(join(conversation.project, 'shot.png'), 'not really a picture');
  double.next(say({}));
  await conversation.take({ opening: { images: ['shot.png'] } });
  expect(wire.messages(asked()[0] ?? {}).at(-1)?.images).toEqual([
    Buffer.from('not really a picture').toString('base64'),
  ]);
  for (const [path, code] of [
    ['missing.png', 'FILE_NOT_FOUND'],
    ['shot.txt', 'FILE_NOT_USABLE'],
    ['../shot.png', 'PATH_OUTSIDE_PROJECT'],
  ] as const) {
    const other = new Conversation();
    other.project = conversation.project;
    expect((await failureOf(other.take({ opening: { images: [path] } }))).code).toBe(code);
  }
});

test.each<[string, Reply, string, JsonObject]>([
  ['429 with a time', wire.errors.rateLimited({ 'retry-after': '7' }), 'MODEL_RATE_LIMITED', { retryAfterMs: 7000 }],
  ['overload', wire.errors.overloaded, 'MODEL_OVERLOADED', {}],
  ['a key that is not accepted', wire.errors.auth, 'MODEL_NOT_ALLOWED', {}],
  ['an unknown model', wire.errors.unknownModel, 'MODEL_NOT_FOUND', {}],
  ['a spend limit', wire.errors.spent ?? {}, 'MODEL_SPEND_LIMIT', {}],
  ['a conversation that is too long', wire.errors.overflow, 'MODEL_CONTEXT_TOO_LONG', {}],
  ['HTML', { headers: { 'content-type': 'text/html' }, pieces: ['<html>'] }, 'MODEL_ANSWER_BROKEN', {}],
  [
    'a connection that breaks',
    { ...say({}), pieces: say({}).pieces?.slice(0, 2) ?? [], then: 'reset' },
    'MODEL_UNREACHABLE',
    {},
  ],
])('%s is a failure with a code, after one request, and nothing is kept of it', async (_what, reply, code, details) => {
  const conversation = new Conversation();
  double.next(reply, say({}));
  const failure = await failureOf(conversation.take());
  expect({ code: failure.code, details: failure.details }).toMatchObject({
    code,
    details: { ...details, provider: 'openai' },
  });
  expect(asked()).toHaveLength(1);
  // The same turn, asked for again, is asked with the same conversation.
  expect(await conversation.take()).toMatchObject({ text: 'Hello.' });
  expect(wire.messages(asked()[1] ?? {})).toEqual(wire.messages(asked()[0] ?? {}));
});

test('an answer that broke off says what it cost', async () => {
  const conversation = new Conversation();
  double.next({ ...say({}), pieces: say({ parts: [{ text: ['x'.repeat(4000)] }] }).pieces?.slice(0, 2) ?? [] });
  const { code, details } = await failureOf(conversation.take());
  expect(code).toBe('MODEL_ANSWER_BROKEN');
  expect(((details?.['spent'] ?? { tokens: 0 }) as { tokens: number }).tokens).toBeGreaterThan(500);
});

test('the step is out of time: a failure of its own, and the connection is let go', async () => {
  const conversation = new Conversation();
  double.next({ silentMs: Number.POSITIVE_INFINITY });
  expect((await failureOf(conversation.take({}, { timeoutMs: 300 }))).code).toBe('STEP_TIMEOUT');
  await double.asked.at(-1)?.closed;
});

test('a cancelled turn ends with the reason of its signal', async () => {
  const conversation = new Conversation();
  const controller = new AbortController();
  double.next({ silentMs: Number.POSITIVE_INFINITY });
  const reason = new Error('the run was cancelled');
  const turn = conversation.take({}, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 200);
  await expect(turn).rejects.toBe(reason);
});

test('without any model a step says in three lines how to get one', async () => {
  const none = new Models({
    settings: NO_SETTINGS,
    env: { OLLAMA_HOST: '127.0.0.1:1' },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
  const request = {
    conversation: 'c',
    turn: 1,
    model: 'auto',
    say: [],
    answers: [],
    tools: [],
    settings: {},
    tokensBefore: 0,
  };
  const at = {
    run: { handle: 'none', project: '/' },
    asker: 'steps.0@1/turn',
    attempt: 'one',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
  };
  for (const given of [none, null]) {
    const failure = await failureOf(runTurn({ store: opened.store, registry, models: given }, request, at));
    expect(failure.code).toBe('MODEL_NOT_FOUND');
    expect(failure.message.split('\n').slice(0, 3)).toEqual([
      expect.stringContaining('No model is configured'),
      expect.stringContaining('sentinel models add'),
      expect.stringContaining('ANTHROPIC_API_KEY'),
    ]);
  }
  await none.close();
});

test('calls in text: read where they are asked for, and told in words to a model without tools', async () => {
  const conversation = new Conversation();
  const settings = { parseToolCalls: true as const };
  double.next(
    say({ parts: [{ text: ['<tool_call>{"name": "code_read", "arguments": {"path": "a"}}</tool_call>'] }] }),
    say({}),
  );
  const { calls: made } = await conversation.take({ tools: ['code/read'], settings });
  expect(made).toEqual([{ id: 'text-0', name: 'code/read', input: { path: 'a' } }]);
  await keepCallResult(
    opened.store,
    conversation.handle,
    { conversation: 'steps.0@1', turn: 1, call: 0, id: 'text-0' },
    'text of a',
  );
  conversation.turn = 2;
  expect(await conversation.take({ tools: ['code/read'], settings })).toMatchObject({
    text: 'Hello.',
    stopReason: 'end',
  });
  expect(wire.messages(asked()[1] ?? {}).flatMap(({ results }) => results)).toEqual([
    { id: 'text-0', text: 'text of a', isError: false },
  ]);
});

test('calls in text that nobody asked for are named, and not made', async () => {
  const conversation = new Conversation();
  const text = 'I look.\n<tool_call>{"name": "code_read", "arguments": {"path": "a"}}</tool_call>';
  double.next(say({ parts: [{ text: [text] }] }));
  const outcome = await conversation.take({ tools: ['code/read'] });
  expect(outcome).toMatchObject({ calls: [], text, stopReason: 'end', unread: ['code/read'] });
});

test.each([{}, { parseToolCalls: true as const }])(
  'a turn that is to answer makes no call, whatever the server sends (%j)',
  async (more) => {
    const settings = { isFinal: true as const, ...more };
    const conversation = new Conversation();
    const call = { call: { id: 'a', name: 'code_read', pieces: ['{"path": "a"}'] } };
    double.next(say({ parts: [{ text: ['It is done.'] }, call], reason: wire.reasons.calls }));
    expect(await conversation.take({ tools: ['code/read'], settings })).toMatchObject({
      calls: [],
      text: 'It is done.',
      stopReason: 'end',
      barred: ['code/read'],
    });
    const rows = await opened.store.conversations.read({ handle: conversation.handle, conversation: 'steps.0@1' }, 2);
    expect(JSON.stringify(rows)).not.toContain('tool-call');
    const silent = new Conversation();
    double.next(say({ parts: [call], reason: wire.reasons.calls }));
    expect(await silent.take({ tools: ['code/read'], settings })).toMatchObject({
      calls: [],
      text: '',
      barred: ['code/read'],
    });
  },
);

test('calls in the text of a turn that is to answer are not made', async () => {
  const conversation = new Conversation();
  const settings = { isFinal: true as const, parseToolCalls: true as const };
  double.next(say({ parts: [{ text: ['<tool_call>{"name": "code_read"}</tool_call>'] }] }));
  expect(await conversation.take({ tools: ['code/read'], settings })).toMatchObject({
    calls: [],
    barred: ['code/read'],
  });
});
