/** Conversations that outgrow the window of their model: what is shown then, what it costs, and what stays in the store. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { Models } from '../../../world/models/open-models.ts';
import { NO_SETTINGS } from '../../../world/models/resolve/settings.ts';
import { keepCallResult } from '../../../activities/turns/call-result.ts';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import type { TurnRequest } from '../../../interpreter/contract.ts';
import type { TurnOutcome, TurnSettings } from '../../../interpreter/effect.ts';
import type { JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import { useStore } from '../../store/harness/opened.ts';
import { anthropicWire } from '../../models/wires/anthropic-wire.ts';
import { Double, type Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { streamed, type Part, type Said, type Sent } from '../../models/wires/wire.ts';

const opened = useStore();
const registry = builtInRegistry();
const MODEL = 'openai/small';
let double: Double;
let models: Models;

beforeAll(async () => {
  double = await new Double().open();
  for (const path of ['/v1/models', '/v1/models/small', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
  models = new Models({
    // With the room for an answer, a prompt of 2,800 tokens fits: 11,200 characters.
    settings: {
      ...NO_SETTINGS,
      prices: { [MODEL]: { input: 1, output: 2 } },
      windows: { [MODEL]: 4000, 'anthropic/small': 4000 },
    },
    env: {
      OPENAI_API_KEY: 'key-of-a-test',
      OPENAI_BASE_URL: `${double.url}/v1`,
      ANTHROPIC_API_KEY: 'key-of-a-test',
      ANTHROPIC_BASE_URL: double.url,
    },
    registry: '/nonexistent/models.json',
    program: { path: '/nonexistent' },
    project: '/',
  });
});
afterEach(() => {
  expect(double.forget()).toBe(undefined);
  double.asked.length = 0;
});
afterAll(async () => {
  await models.close();
  await double.close();
});

/** Without a word of what it used, so that all tokens are estimated. */
const say = (said: Partial<Said>): Reply =>
  streamed(wire, wire.events({ parts: [{ text: ['Hello.'] }], reason: wire.reasons.end, usage: null, ...said }));
const reads = (path: string, text = ''): Reply => {
  const call: Part = { call: { id: `read-${path}`, name: 'code_read', pieces: [JSON.stringify({ path })] } };
  return say({ parts: [...(text === '' ? [] : [{ text: [text] }]), call], reason: wire.reasons.calls });
};
/** Requests for an answer, as they stood on the wire. */
const asked = (): Sent[][] =>
  double.asked.filter(({ path }) => path === wire.path).map(({ body }) => wire.messages(body));
const lastAsked = (): string => JSON.stringify(asked().at(-1));

let runs = 0;

class Conversation {
  readonly handle = `compactions-${(runs += 1)}`;
  turn = 1;
  compaction: TurnRequest['compaction'];
  settings: TurnSettings = {};

  take(more: Partial<TurnRequest> = {}): Promise<TurnOutcome> {
    return runTurn(
      { store: opened.store, registry, models },
      {
        conversation: 'steps.0@1',
        turn: this.turn,
        model: MODEL,
        say: [],
        answers: [],
        tools: ['code/read'],
        settings: this.settings,
        tokensBefore: 0,
        ...(this.turn === 1 ? { opening: { system: 'Be brief.', messages: [], images: [], prompt: 'The task.' } } : {}),
        ...defined({ compaction: this.compaction }),
        ...more,
      },
      {
        run: { handle: this.handle, project: '/' },
        asker: 'steps.0@1/turn',
        attempt: 'one',
        timeoutMs: 60_000,
        signal: new AbortController().signal,
      },
    );
  }

  /** A turn that reads something, and what it is told. */
  async reads(path: string, result: string, text = ''): Promise<void> {
    double.next(reads(path, text));
    const { calls } = await this.take();
    expect(calls).toHaveLength(1);
    const place = { conversation: 'steps.0@1', turn: this.turn, call: 0, id: `read-${path}` };
    await keepCallResult(opened.store, this.handle, place, result);
    this.turn += 1;
  }

  shortened({ compacted }: TurnOutcome): void {
    this.compaction = { turn: this.turn, number: compacted?.number ?? 0 };
  }

  rows(): ReturnType<typeof opened.store.conversations.read> {
    return opened.store.conversations.read({ handle: this.handle, conversation: 'steps.0@1' });
  }

  answers(): Promise<JsonObject[]> {
    return opened.store.conversations
      .turns(this.handle)
      .then((turns) => turns.flatMap(({ conversation, turn, answer }) => ({ conversation, turn, ...answer })));
  }
}

test('results of calls make room first, without asking anybody; what is stored stays', async () => {
  const conversation = new Conversation();
  await conversation.reads('a', `first ${'x'.repeat(8000)}`);
  await conversation.reads('b', `second ${'y'.repeat(6000)} end`);
  const before = await conversation.rows();
  const outcome = await conversation.take();
  expect(outcome).toMatchObject({
    stopReason: 'compacted',
    calls: [],
    usd: 0,
    compacted: { number: 1, strategy: 'results', because: 'full', window: 4000 },
  });
  const { before: tokens = 0, after = 0 } = outcome.compacted ?? {};
  expect(tokens).toBeGreaterThan(2800);
  expect(after).toBeLessThanOrEqual(1400);
  expect(asked()).toHaveLength(2);
  conversation.shortened(outcome);
  double.next(say({}));
  expect(await conversation.take()).toMatchObject({ text: 'Hello.' });
  const results =
    asked()
      .at(-1)
      ?.flatMap((message) => message.results) ?? [];
  expect(results.map(({ id }) => id)).toEqual(['read-a', 'read-b']);
  expect(results[0]?.text).toBe(
    '[This result had 8006 characters and is left out, because the conversation had grown too long. Call again if you still need it.]',
  );
  expect(results[1]?.text).toMatch(/^second y+\n\[… \d+ of 6011 characters are left out here.*\]\ny+ end$/);
  expect((await conversation.rows()).slice(0, before.length)).toEqual(before);
  expect((await conversation.answers()).map(({ conversation: key, turn, prompts }) => [key, turn, prompts])).toEqual([
    ['steps.0@1', 1, {}],
    ['steps.0@1', 2, {}],
    ['steps.0@1', 3, { 'cleared-result': 1, 'cut-result': 1 }],
    ['steps.0@1/turn.3/compaction.1', 1, {}],
  ]);
});

test('older turns are summed up by the model after exactly what it was shown, paid once, and the task stays', async () => {
  const conversation = new Conversation();
  for (const path of ['a', 'b', 'c']) await conversation.reads(path, `${path} is short`, path.repeat(4000));
  double.next(say({ parts: [{ text: ['Three files were read.'] }], usage: { input: 2500, output: 10 } }), say({}));
  const outcome = await conversation.take();
  expect(outcome.compacted).toMatchObject({ strategy: 'summarize', because: 'full' });
  expect(outcome.usage).toMatchObject({ input: 2500, output: 10 });
  expect(outcome.usd).toBeCloseTo(0.00252, 9);
  const [, , third = [], forSummary = []] = asked();
  expect(forSummary.slice(0, third.length - 2)).toEqual(third.slice(0, -2));
  expect(forSummary.at(-1)?.texts.join('')).toMatch(/Write a summary of it.*Use at most \d+ words/s);
  // Whoever asks again, as after a lost worker, gets what was kept.
  expect(await conversation.take()).toEqual(outcome);
  expect(asked()).toHaveLength(4);
  conversation.shortened(outcome);
  expect(await conversation.take()).toMatchObject({ text: 'Hello.' });
  const shown = asked().at(-1) ?? [];
  expect(shown.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool']);
  expect(shown[0]?.texts).toEqual(['Be brief.']);
  expect(shown[1]?.texts.join('|')).toMatch(/^The task\.\|.*first 2 turns are left out.*Three files were read\.$/s);
  expect(lastAsked()).toContain('c is short');
  expect(lastAsked()).not.toContain('aaaa');
  const kept = (await conversation.answers()).find(({ conversation: key }) => key !== 'steps.0@1');
  expect(kept?.['prompts']).toEqual({ summary: 1, summarized: 1 });
});

test('truncation asks nobody, and keeps what people said', async () => {
  const conversation = new Conversation();
  conversation.settings = { autoCompact: { strategy: 'truncate' } };
  await conversation.reads('a', 'short', 'a'.repeat(4000));
  const told = { role: 'user', blocks: [{ type: 'text', text: 'Mind the tests.' }] };
  const of = { handle: conversation.handle, conversation: 'steps.0@1' };
  await opened.store.conversations.add(of, [{ turn: 1, part: 2_000_000, message: told }]);
  for (const path of ['b', 'c']) await conversation.reads(path, 'short', path.repeat(4000));
  const outcome = await conversation.take();
  expect(outcome.compacted).toMatchObject({ strategy: 'truncate' });
  expect(asked()).toHaveLength(3);
  conversation.shortened(outcome);
  double.next(say({}));
  await conversation.take();
  expect(lastAsked()).toContain('left out here');
  expect(lastAsked()).toContain('- Mind the tests.');
  expect(lastAsked()).not.toContain('aaaa');
});

test('a summary of a summary: the second one has the first before it', async () => {
  const conversation = new Conversation();
  for (const path of ['a', 'b', 'c']) await conversation.reads(path, 'short', path.repeat(4000));
  double.next(say({ parts: [{ text: ['First summary.'] }] }));
  conversation.shortened(await conversation.take());
  for (const path of ['d', 'e']) await conversation.reads(path, 'short', path.repeat(4000));
  double.next(say({ parts: [{ text: ['Second summary.'] }] }), say({}));
  const outcome = await conversation.take();
  expect(outcome.compacted?.strategy).toBe('summarize');
  expect(lastAsked()).toContain('First summary.');
  conversation.shortened(outcome);
  await conversation.take();
  expect(lastAsked()).toContain('Second summary.');
  expect(lastAsked()).not.toContain('First summary.');
});

test('a model that gives no summary is done without', async () => {
  const conversation = new Conversation();
  for (const path of ['a', 'b', 'c']) await conversation.reads(path, 'short', path.repeat(4000));
  double.next(reads('d'));
  expect((await conversation.take()).compacted).toMatchObject({ strategy: 'truncate' });
});

test('a provider that says that the conversation is too long has it shortened, twice at most before a turn', async () => {
  const conversation = new Conversation();
  await conversation.reads('a', 'x'.repeat(3000));
  await conversation.reads('b', 'y'.repeat(3000));
  const { overflow } = wire.errors;
  // The second time, a summary is asked for as well.
  double.next(overflow, overflow, overflow, overflow);
  const outcome = await conversation.take();
  expect(outcome.compacted).toMatchObject({ number: 1, because: 'overflow' });
  conversation.shortened(outcome);
  const again = await conversation.take();
  expect(again.compacted).toMatchObject({ number: 2, because: 'overflow' });
  conversation.shortened(again);
  await expect(conversation.take()).rejects.toMatchObject({ code: 'MODEL_CONTEXT_TOO_LONG' });
});

test('an answer that was cut where the window ended is paid and not kept', async () => {
  const conversation = new Conversation();
  await conversation.reads('a', 'x'.repeat(3000));
  await conversation.reads('b', 'y'.repeat(3000));
  const cut = {
    parts: [{ text: ['Hel'] }],
    reason: 'model_context_window_exceeded',
    usage: { input: 3000, output: 900 },
  };
  double.next(streamed(anthropicWire, anthropicWire.events(cut)));
  const outcome = await conversation.take({ model: 'anthropic/small' });
  expect(outcome.compacted?.because).toBe('overflow');
  expect(outcome.usage).toMatchObject({ input: 3000, output: 900 });
});

test('what cannot be made shorter is sent as it is, and fails as the provider says', async () => {
  const conversation = new Conversation();
  const opening = { messages: [], images: [], prompt: 'x'.repeat(15_000) };
  double.next(wire.errors.overflow, say({}));
  await expect(conversation.take({ opening })).rejects.toMatchObject({ code: 'MODEL_CONTEXT_TOO_LONG' });
  expect(await conversation.take({ opening })).toMatchObject({ text: 'Hello.' });
});

test('autoCompact: false leaves a conversation as it is; a threshold is a share of the window', async () => {
  const never = new Conversation();
  never.settings = { autoCompact: false };
  await never.reads('a', 'x'.repeat(8000));
  await never.reads('b', 'y'.repeat(4000));
  double.next(say({}));
  expect(await never.take()).not.toHaveProperty('compacted');
  const early = new Conversation();
  early.settings = { autoCompact: { threshold: 0.4 } };
  await early.reads('a', 'x'.repeat(4000));
  expect(await early.take()).toHaveProperty('compacted');
});

test('what the provider counted corrects the estimate', async () => {
  const conversation = new Conversation();
  double.next(
    say({
      parts: [{ call: { id: 'read-a', name: 'code_read', pieces: ['{"path":"a"}'] } }],
      reason: wire.reasons.calls,
      usage: { input: 900, output: 5 },
    }),
  );
  await conversation.take();
  await keepCallResult(
    opened.store,
    conversation.handle,
    { conversation: 'steps.0@1', turn: 1, call: 0, id: 'read-a' },
    'x'.repeat(3000),
  );
  conversation.turn = 2;
  // 750 tokens by estimate, 3,000 by what the provider makes of such text.
  expect((await conversation.take()).compacted?.before).toBeGreaterThan(2800);
});
