/** The contract of a model provider: what an answer is made of, and what it means. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Delta, TurnRequest, TurnTape } from '../../../world/models/port/turn.ts';
import { chopped } from '../wires/double.ts';
import { json, streamed } from '../wires/wire.ts';
import { failureOf, HELLO, replyOf, say, TOOLS, turn, useDouble, WIRES } from '../harness/turns.ts';

const call = (id: string, name: string, ...pieces: string[]) => ({ call: { id, name, pieces } });

describe.each(WIRES)('%s', (_name, wire) => {
  const double = useDouble();
  const withTools = { request: { tools: TOOLS } };

  test('streamed pieces, joined, are the text that is kept, whatever bytes a packet ends with', async () => {
    const words = ['Grüße ', 'aus 東京', ' 🙂', '\n\ndata: {"not": "an event"}\n', 'end'];
    const body = wire
      .events({ parts: [{ text: words }], reason: wire.reasons.end, usage: { input: 30, output: 9 } })
      .join('');
    double().next(streamed(wire, [], { pieces: chopped(body) }));
    const heard: Delta[] = [];
    const reply = await replyOf(turn(wire, double(), { onDelta: (delta) => heard.push(delta) }));
    expect(reply.blocks).toEqual([{ type: 'text', text: words.join('') }]);
    expect(heard).toEqual(words.map((text) => ({ type: 'text', text })));
    expect(reply.usage).toMatchObject({ input: 30, output: 9, estimated: false });
    expect(reply).toMatchObject({ stopReason: 'end', author: `${wire.kind}/${wire.model}`, omitted: [] });
  });

  test('two calls whose pieces come in turn keep their arguments and their order', async () => {
    const parts = [
      { text: ['Two files.'] },
      call('a1', 'code_read', '{"path"', ': "a.', 'txt"}'),
      call('b2', 'code_write', '{"path": ', '"b.txt"}'),
    ];
    double().next(streamed(wire, wire.events({ parts, reason: wire.reasons.calls }, true)));
    const reply = await replyOf(turn(wire, double(), withTools));
    expect(reply.stopReason).toBe('tool-calls');
    expect(reply.blocks).toEqual([
      { type: 'text', text: 'Two files.' },
      { type: 'tool-call', id: 'a1', name: 'code/read', input: { path: 'a.txt' } },
      { type: 'tool-call', id: 'b2', name: 'code/write', input: { path: 'b.txt' } },
    ]);
  });

  test('a call without arguments has an empty object', async () => {
    double().next(say(wire, { parts: [call('a1', 'code_read')], reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toEqual([{ type: 'tool-call', id: 'a1', name: 'code/read', input: {} }]);
  });

  test('calls run although the reason says that the model is done', async () => {
    double().next(say(wire, { parts: [call('a1', 'code_read', '{}')], reason: wire.reasons.end }));
    const reply = await replyOf(turn(wire, double(), withTools));
    expect(reply.stopReason).toBe('tool-calls');
    expect(reply.blocks).toHaveLength(1);
  });

  test('an answer that only says that it calls tools is a bad turn', async () => {
    double().next(say(wire, { parts: [], reason: wire.reasons.calls }));
    expect(await failureOf(turn(wire, double(), withTools))).toMatchObject({ kind: 'malformed-answer' });
  });

  test('of an answer cut at its limit no call is kept', async () => {
    const parts = [{ text: ['I write'] }, call('a1', 'code_write', '{"path": "x"}')];
    double().next(say(wire, { parts, reason: wire.reasons.length }));
    const reply = await replyOf(turn(wire, double(), withTools));
    expect(reply).toMatchObject({ stopReason: 'max-tokens', blocks: [{ type: 'text', text: 'I write' }] });
  });

  test('a name that the model was not given stays as the model wrote it', async () => {
    double().next(say(wire, { parts: [call('a1', 'delete_all', '{}')], reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toMatchObject([{ name: 'delete_all' }]);
  });

  test('both spellings of a command are the same tool', async () => {
    double().next(say(wire, { parts: [call('a1', 'code/read', '{}')], reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toMatchObject([{ name: 'code/read' }]);
    expect(wire.toolNames(double().asked.at(-1)?.body ?? {})).toEqual(['code_read', 'code_write']);
  });

  test('thoughts come as such, before the text', async () => {
    double().next(say(wire, { parts: [{ thinking: ['Let me', ' see.'] }, { text: ['Yes.'] }] }));
    const heard: Delta[] = [];
    const { blocks } = await replyOf(turn(wire, double(), { onDelta: (delta) => heard.push(delta) }));
    expect(blocks).toEqual([
      { type: 'thinking', text: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ]);
    expect(heard.map(({ type }) => type)).toEqual(['thinking', 'thinking', 'text']);
  });

  test('usage that the provider does not give is estimated, and says so', async () => {
    double().next(say(wire, { parts: [{ text: ['word '.repeat(40)] }], usage: null }));
    const { usage } = await replyOf(turn(wire, double()));
    expect(usage.estimated).toBe(true);
    expect(usage.output).toBe(50);
    expect(usage.input).toBeGreaterThan(0);
  });

  test.runIf(wire.can.cachedTokens)('cached tokens are counted once', async () => {
    double().next(say(wire, { usage: { input: 100, output: 7, cacheRead: 900, thinking: 3 } }));
    const { usage } = await replyOf(turn(wire, double()));
    expect(usage).toEqual({ input: 100, output: 7, cacheRead: 900, cacheWrite: 0, thinking: 3, estimated: false });
  });

  test.runIf(wire.can.cutArguments)('arguments that break off before any limit are told to the model', async () => {
    const parts = [call('a1', 'code_read', '{"path": "a"}'), call('b2', 'code_write', '{"path": "b', '.t')];
    for (const reason of [wire.reasons.calls, wire.reasons.end]) {
      double().next(say(wire, { parts, reason }));
      expect(await replyOf(turn(wire, double(), withTools))).toMatchObject({
        stopReason: 'tool-calls',
        blocks: [
          { id: 'a1', input: { path: 'a' } },
          { id: 'b2', name: 'code/write', input: {}, invalid: '{"path": "b.t' },
        ],
      });
    }
  });

  test.runIf(wire.can.cutArguments)('arguments that break off where the limit is are a cut answer', async () => {
    const parts = [call('a1', 'code_read', '{"path": "a"}'), call('b2', 'code_write', '{"path": "b', '.t')];
    double().next(say(wire, { parts, reason: wire.reasons.calls, usage: { input: 5, output: 40 } }));
    const request = { ...withTools.request, maxTokens: 40 };
    const facts = { thinking: null };
    expect(await replyOf(turn(wire, double(), { request, facts }))).toMatchObject({
      stopReason: 'max-tokens',
      blocks: [],
    });
  });

  test('a call that names nothing is a call, which the model is told of', async () => {
    const parts = [call('a1', '', '{"path": "a"}'), call('b2', 'code_read', '{"path": "b"}')];
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const { blocks, stopReason } = await replyOf(turn(wire, double(), withTools));
    expect(stopReason).toBe('tool-calls');
    expect(blocks).toMatchObject([
      { type: 'tool-call', id: 'a1', name: '', input: { path: 'a' } },
      { type: 'tool-call', id: 'b2', name: 'code/read', input: { path: 'b' } },
    ]);
    double().next(say(wire));
    const results = ['a1', 'b2'].map((callId) => ({
      type: 'tool-result' as const,
      callId,
      content: [{ type: 'text' as const, text: 'said' }],
      isError: false,
    }));
    const messages: TurnRequest['messages'] = [
      ...HELLO,
      { role: 'assistant', blocks, author: `${wire.kind}/${wire.model}` },
      { role: 'user', blocks: results },
    ];
    await replyOf(turn(wire, double(), { request: { ...withTools.request, messages } }));
    const sent = wire.messages(double().asked.at(-1)?.body ?? {});
    expect(sent.flatMap(({ calls }) => calls.map(({ name }) => name))).toEqual(['_', 'code_read']);
  });

  test.each(['null', '[]'])('arguments %s are none', async (text) => {
    double().next(say(wire, { parts: [call('a1', 'code_read', text)], reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toEqual([{ type: 'tool-call', id: 'a1', name: 'code/read', input: {} }]);
  });

  test.each([json, { 'content-type': 'text/plain; charset=utf-8' }])(
    'an answer that came whole is an answer, as %j',
    async (headers) => {
      const parts = [
        { text: ['Two', ' files.'] },
        call('a1', 'code_read', '{"path": "a"}'),
        call('b2', 'code_read', '{}'),
      ];
      const whole = JSON.stringify(
        wire.whole({ parts, reason: wire.reasons.calls, usage: { input: 30, output: 9 } }),
        null,
        2,
      );
      if (wire.kind === 'ollama' && headers !== json) return;
      double().next({ headers, pieces: chopped(whole) });
      const heard: Delta[] = [];
      const reply = await replyOf(turn(wire, double(), { ...withTools, onDelta: (delta) => heard.push(delta) }));
      expect(reply.blocks).toEqual([
        { type: 'text', text: 'Two files.' },
        { type: 'tool-call', id: 'a1', name: 'code/read', input: { path: 'a' } },
        { type: 'tool-call', id: 'b2', name: 'code/read', input: {} },
      ]);
      expect(reply).toMatchObject({ stopReason: 'tool-calls', usage: { input: 30, output: 9, estimated: false } });
      expect(heard[0]).toEqual({ type: 'text', text: 'Two files.' });
    },
  );

  test('a stream under the label of JSON is a stream', async () => {
    const events = wire.events({ parts: [{ text: ['Hello', ' there.'] }], reason: wire.reasons.end });
    double().next({ headers: json, pieces: events });
    expect((await replyOf(turn(wire, double()))).blocks).toEqual([{ type: 'text', text: 'Hello there.' }]);
  });

  test('a whole answer is kept as it came, with what it cost, before its end is told', async () => {
    const parts = [{ text: ['word '.repeat(40)] }];
    const whole = JSON.stringify(wire.whole({ parts, reason: wire.reasons.end, usage: null }));
    double().next({ headers: json, pieces: [whole] });
    const kept: { body: string; output: number }[] = [];
    const tape: TurnTape = {
      kept: null,
      keep: async ({ body }, spent) => {
        kept.push({ body: gunzipSync(body).toString(), output: spent.output });
      },
    };
    await replyOf(turn(wire, double(), { tape }));
    expect(kept).toEqual([{ body: whole, output: 50 }]);
    const again = { status: 200, headers: [['content-type', 'application/json']] as [string, string][] };
    const replay: TurnTape = { kept: { ...again, body: gzipSync(whole) }, keep: () => Promise.reject(new Error('no')) };
    const asked = double().asked.length;
    expect((await replyOf(turn(wire, double(), { tape: replay }))).blocks).toEqual([
      { type: 'text', text: 'word '.repeat(40) },
    ]);
    expect(double().asked).toHaveLength(asked);
  });

  test.runIf(wire.can.cutArguments)('arguments that are no JSON reach the caller as they were written', async () => {
    const parts = [call('a1', 'code_read', "{path: 'a'}"), call('b2', 'code_read', '[1]')];
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toMatchObject([
      { id: 'a1', input: {}, invalid: "{path: 'a'}" },
      { id: 'b2', input: {}, invalid: '[1]' },
    ]);
  });

  test.runIf(wire.can.cutArguments)('arguments that were written as a text of JSON are the same call', async () => {
    const parts = [call('a1', 'code_read', JSON.stringify('{"path": "a"}'))];
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks).toEqual([{ type: 'tool-call', id: 'a1', name: 'code/read', input: { path: 'a' } }]);
  });

  test('a hundred calls of one turn are a hundred calls, each with an id of its own', async () => {
    const parts = Array.from({ length: 100 }, (_, index) => call('same', 'code_read', `{"path": "${index}"}`));
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    const calls = blocks.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
    expect(calls.map(({ input }) => input['path'])).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
    expect(new Set(calls.map(({ id }) => id)).size).toBe(100);
  });
});
