/** The contract of a model provider: what of a stored conversation reaches the wire, and how. */
import { describe, expect, test } from 'vitest';
import type { AssistantMessage, Message, UserBlock } from '../../../world/models/port/message.ts';
import type { TurnRequest } from '../../../world/models/port/turn.ts';
import type { Sent } from '../wires/wire.ts';
import { failureOf, HELLO, replyOf, say, TOOLS, turn, useDouble, WIRES } from '../harness/turns.ts';

const text = (said: string): UserBlock => ({ type: 'text', text: said });
const user = (...blocks: UserBlock[]): Message => ({ role: 'user', blocks });
const result = (callId: string, said: string, isError = false): UserBlock => ({
  type: 'tool-result',
  callId,
  content: [{ type: 'text', text: said }],
  isError,
});

const call = (id: string, path = 'a') => ({ type: 'tool-call' as const, id, name: 'code/read', input: { path } });
const results = (all: readonly Sent[]) => all.flatMap((message) => message.results);
const calls = (all: readonly Sent[]) => all.flatMap((message) => message.calls);
const said = (words: string) => ({ type: 'text' as const, text: words });

describe.each(WIRES)('%s', (name, wire) => {
  const double = useDouble();
  const author = `${name}/${wire.model}`;
  const answer = (...blocks: AssistantMessage['blocks']): AssistantMessage => ({ role: 'assistant', blocks, author });

  async function sent(messages: readonly Message[], request: Partial<TurnRequest> = {}): Promise<Sent[]> {
    const before = JSON.stringify(messages);
    double().next(say(wire));
    await replyOf(turn(wire, double(), { request: { messages, tools: TOOLS, ...request }, facts: { images: true } }));
    expect(JSON.stringify(messages)).toBe(before);
    return wire.messages(double().asked.at(-1)?.body ?? {});
  }

  test('a conversation with a call goes as it was', async () => {
    const all = await sent([
      user(text('Read a.')),
      answer(said('I read.'), call('a1')),
      user(result('a1', 'content of a')),
    ]);
    expect(calls(all)).toEqual([{ id: 'a1', name: 'code_read', input: { path: 'a' } }]);
    expect(results(all)).toEqual([{ id: 'a1', text: 'content of a', isError: false }]);
    expect(all.flatMap(({ texts }) => texts)).toEqual(['Read a.', 'I read.']);
  });

  test('a call that was interrupted gets a result that says so', async () => {
    const all = await sent([
      user(text('Go.')),
      answer(call('a1'), call('b2')),
      user(result('b2', 'done'), text('And now?')),
    ]);
    expect(results(all)).toMatchObject([
      { id: 'a1', isError: true },
      { id: 'b2', text: 'done', isError: false },
    ]);
    expect(results(all)[0]?.text).toContain('interrupted');
    const at = all.findIndex(({ texts }) => texts.includes('And now?'));
    const last = all.findLastIndex((message) => message.results.length > 0);
    expect(at).toBeGreaterThanOrEqual(last);
  });

  test('a call at the very end gets a result too, and so does one before another answer', async () => {
    const all = await sent([user(text('Go.')), answer(call('a1')), answer(call('b2'))]);
    expect(results(all).map(({ id, isError }) => [id, isError])).toEqual([
      ['a1', true],
      ['b2', true],
    ]);
  });

  test('results go in the order of their calls, without those of no call', async () => {
    const all = await sent([
      user(text('Go.')),
      answer(call('a1'), call('b2'), call('c3')),
      user(result('c3', '3'), result('zz', 'of no call'), result('a1', '1'), result('b2', '2')),
    ]);
    expect(results(all).map((given) => [given.id, given.text])).toEqual([
      ['a1', '1'],
      ['b2', '2'],
      ['c3', '3'],
    ]);
    if (name === 'anthropic') expect(all.filter((message) => message.results.length > 0)).toHaveLength(1);
  });

  test('ids that a server uses again each turn, or that others refuse, are told apart', async () => {
    const all = await sent([
      user(text('Go.')),
      answer(call('call-1', 'a')),
      user(result('call-1', 'a')),
      answer(call('call-1', 'b'), call('ö #', 'c')),
      user(result('ö #', 'c'), result('call-1', 'b')),
    ]);
    const ids = calls(all).map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(ids.filter((id) => !/^[A-Za-z0-9_-]{1,64}$/.test(id))).toEqual([]);
    expect(results(all).map((given) => [given.id, given.text])).toEqual([
      [ids[0], 'a'],
      [ids[1], 'b'],
      [ids[2], 'c'],
    ]);
  });

  test('no empty text reaches the wire, and no empty message', async () => {
    const all = await sent([
      user(text('Go.'), text('  ')),
      answer(said(''), call('a1')),
      user(result('a1', '')),
      answer(said('\n')),
      user(text('On.')),
    ]);
    expect(all.flatMap(({ texts }) => texts)).toEqual(['Go.', 'On.']);
    expect(results(all)).toMatchObject([{ id: 'a1' }]);
    expect(results(all)[0]?.text).not.toBe('');
    expect(all.every((message) => Object.values(message).flat().join('') !== message.role)).toBe(true);
  });

  test('the name of a tool that is not offered any more is a name all the same', async () => {
    const old = { type: 'tool-call' as const, id: 'a1', name: 'old/täsk with a name', input: {} };
    const all = await sent([user(text('Go.')), answer(old), user(result('a1', 'x'))]);
    expect(calls(all)[0]?.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
  });

  test('images go as images, those of results too', async () => {
    const image = { type: 'image' as const, mediaType: 'image/png' as const, data: 'aW1hZ2U=' };
    const all = await sent([
      user(text('Look.'), image),
      answer(call('a1')),
      user({ type: 'tool-result', callId: 'a1', content: [image], isError: false }),
    ]);
    expect(all.flatMap(({ images }) => images)).toEqual(['aW1hZ2U=', 'aW1hZ2U=']);
    expect(all.flatMap(({ texts }) => texts).join('')).not.toContain('aW1hZ2U=');
  });

  test('thoughts go back to the model that had them, byte for byte, and to no other', async () => {
    const thought = { type: 'thinking' as const, text: 'hm\u00a0…  ', signature: 'c2ln+/=' };
    const blocks = [thought, { type: 'redacted-thinking' as const, data: 'cmVk' }, said('So.'), call('a1')];
    const messages = (by: string): Message[] => [
      user(text('Go.')),
      { role: 'assistant', blocks, author: by },
      user(result('a1', 'x')),
    ];
    const [own, others] = [await sent(messages(author)), await sent(messages('anthropic/another'))];
    expect(others.flatMap(({ thoughts, redacted }) => [...thoughts, ...redacted])).toEqual([]);
    expect(calls(others)).toHaveLength(1);
    if (wire.can.thinkingSignatures) {
      expect(own.flatMap(({ thoughts }) => thoughts)).toEqual(['hm\u00a0…  |c2ln+/=']);
      expect(own.flatMap(({ redacted }) => redacted)).toEqual(['cmVk']);
    }
  });

  test('tools whose names no wire takes are refused before anything is sent', async () => {
    const asked = double().asked.length;
    for (const names of [['a/b', 'a_b'], [`code/${'x'.repeat(70)}`], ['hällo']]) {
      const tools = names.map((tool) => ({ name: tool, description: '', parameters: { type: 'object' } }));
      expect(await failureOf(turn(wire, double(), { request: { messages: HELLO, tools } }))).toMatchObject({
        kind: 'bad-request',
        field: 'tools',
      });
    }
    expect(double().asked).toHaveLength(asked);
  });
});
