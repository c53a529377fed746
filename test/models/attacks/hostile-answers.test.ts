/** Answers that no honest provider sends: each ends as a reply or a failure of the closed union, with a count that sums take. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { CallPieces } from '../../../world/models/openai/call-pieces.ts';
import { readUsage, type SaidUsage } from '../../../world/models/answer/usage.ts';
import type { TurnResult } from '../../../world/models/port/turn.ts';
import type { TokenUsage } from '../../../language/models/token-usage.ts';
import { replyOf, say, TOOLS, turn, useDouble, WIRES } from '../harness/turns.ts';
import { streamed, type Wire } from '../wires/wire.ts';

/** Texts of JSON, as they stand on the wire in place of a count. */
const NO_COUNTS = ['-5', '0.5', '1e400', '3000000000', '"12"', 'true', '{"deep":{"er":1}}', '[7]', '"\\u0000"'];

/** In place of the number 7, which the wires of this suite say for the output. */
function withCount(wire: Wire, count: string, text = 'Hello.'): string[] {
  const usage = { input: 11, output: 7_777_777 };
  const events = wire.events({ parts: [{ text: [text] }], reason: wire.reasons.end, usage });
  return events.map((event) => event.replaceAll('7777777', count));
}

const spentIn = (result: TurnResult): TokenUsage | undefined => (result.ok ? result.reply.usage : result.failure.spent);

function expectCounts(usage: TokenUsage | undefined): void {
  const { estimated: _estimated, ...counts } = usage ?? { estimated: true, none: Number.NaN };
  for (const count of Object.values(counts)) {
    expect(Number.isSafeInteger(count)).toBe(true);
    expect(count).toBeGreaterThanOrEqual(0);
    expect(count).toBeLessThan(2 ** 31);
  }
}

const call = (id: string, pieces: string[]) => ({ call: { id, name: 'code_read', pieces } });

describe.each(WIRES)('%s', (_name, wire) => {
  const double = useDouble();
  const withTools = { request: { tools: TOOLS } };

  test.each(NO_COUNTS)('a count of tokens that is %s is estimated, and said to be', async (count) => {
    double().next(streamed(wire, withCount(wire, count, 'x'.repeat(4000))));
    const { usage, isMiscounted, blocks } = await replyOf(turn(wire, double()));
    expect(blocks).toHaveLength(1);
    expectCounts(usage);
    expect(usage.estimated).toBe(true);
    expect(usage.output).toBeGreaterThanOrEqual(1000);
    expect(isMiscounted).toBe(true);
  });

  test('an honest count is taken as it is, also a large one', async () => {
    double().next(streamed(wire, withCount(wire, '2000000000')));
    const { usage, isMiscounted } = await replyOf(turn(wire, double()));
    expect(usage).toMatchObject({ input: 11, output: 2_000_000_000, estimated: false });
    expect(isMiscounted).toBeUndefined();
  });

  test.each([600, 20_000, 500_000])('arguments %d deep are told back as wrong, and nothing breaks', async (depth) => {
    const events = wire.events({ parts: [call('a1', ['{"a":7777777}'])], reason: wire.reasons.calls });
    const deep = `${'['.repeat(depth)}${']'.repeat(depth)}`;
    double().next(
      streamed(
        wire,
        events.map((event) => event.replace('7777777', deep)),
      ),
    );
    const result = await turn(wire, double(), withTools);
    expectCounts(spentIn(result));
    if (!result.ok) {
      expect(result.failure.kind).toBe('malformed-answer');
      return;
    }
    const [block] = result.reply.blocks;
    expect(block).toMatchObject({ type: 'tool-call', input: {}, invalid: expect.any(String) as string });
  });

  test('arguments 400 deep, and an object written as a text, are arguments', async () => {
    const deep = `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`;
    const parts = [call('a1', [deep]), call('a2', [JSON.stringify('{"path":"x"}')])];
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const { blocks } = await replyOf(turn(wire, double(), withTools));
    expect(blocks.map((block) => 'invalid' in block)).toEqual([false, false]);
    expect(blocks[1]).toMatchObject({ input: { path: 'x' } });
  });

  test.each([
    ['__proto__', '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'],
    ['half a character', '{"path":"\\ud800"}'],
    ['NUL', '{"path":"a\\u0000b"}'],
    ['a number that is none', '{"path":1e999}'],
  ])('%s in arguments is data', async (_what, text) => {
    double().next(say(wire, { parts: [call('a1', [text])], reason: wire.reasons.calls }));
    const result = await turn(wire, double(), withTools);
    expectCounts(spentIn(result));
    expect(result.ok).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('ids that are the same, or longer than any, are told apart', async () => {
    const parts = [call('a1', ['{}']), call('a1', ['{}']), call('i'.repeat(100_000), ['{}'])];
    double().next(say(wire, { parts, reason: wire.reasons.calls }));
    const result = await turn(wire, double(), withTools);
    expectCounts(spentIn(result));
    if (!result.ok) return;
    const ids = result.reply.blocks.map((block) => (block.type === 'tool-call' ? block.id : ''));
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id.length).toBeLessThan(1000);
  });

  test.each([
    ['null', 'null'],
    ['a number', '7'],
    ['a list', '[[[]]]'],
    ['fields of other kinds', '{"type":7,"choices":{"0":7},"message":[1],"model":{"a":1},"usage":"much","done":"no"}'],
    [
      'deltas of other kinds',
      '{"type":"content_block_delta","index":{},"delta":7,"choices":[{"delta":{"tool_calls":7}}]}',
    ],
    [
      'calls of other kinds',
      '{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":{},"name":[],"input":7},"choices":[{"delta":{"tool_calls":[{"id":{},"function":{"name":[],"arguments":{"a":1}}}]}}],"message":{"tool_calls":[{"id":{}}]}}',
    ],
    [
      'a text of another kind',
      '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":{"a":1}},"choices":[{"delta":{"content":{"a":1}}}],"message":{"content":{"a":1}}}',
    ],
    [
      'a block 20,000 deep',
      `{"type":"content_block_start","index":0,"content_block":{"type":"new","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
    ],
  ])('an event that is %s ends the turn in one of the known ways', async (_what, event) => {
    const text = wire.streamType.includes('event-stream')
      ? `event: ${/"type":"(\w+)"/.exec(event)?.[1] ?? 'message'}\ndata: ${event}\n\n`
      : `${event}\n`;
    const [first = '', ...rest] = wire.events({ parts: [{ text: ['Hello.'] }], reason: wire.reasons.end });
    double().next(streamed(wire, [first, text, ...rest]));
    const result = await turn(wire, double());
    if (result.ok) expectCounts(result.reply.usage);
    else expect(result.failure.kind).toBe('malformed-answer');
  });
});

describe('the door', () => {
  test.each<[string, SaidUsage | null, string]>([
    ['nothing', null, 'none'],
    ['zeros', { input: 0, output: 0 }, 'none'],
    ['a part that is absent', { input: 5 }, 'counted'],
    ['a part that is null', { input: 5, output: null }, 'counted'],
    ['less than nothing', { input: 5, output: -1 }, 'unusable'],
    ['NaN', { input: Number.NaN, output: 1 }, 'unusable'],
    ['an object', { input: {}, output: 1 }, 'unusable'],
    ['2^53', { input: 2 ** 53, output: 1 }, 'unusable'],
    ['a fraction among what was thought', { input: 1, output: 1, thinking: 0.1 }, 'unusable'],
  ])('%s', (_what, said, state) => {
    expect(readUsage(said).state).toBe(state);
  });

  test('more read from a cache than was sent takes nothing from what was sent', () => {
    const read = readUsage({ input: 5, output: 1, cacheRead: 9, isCacheInInput: true });
    expect(read).toEqual({
      state: 'counted',
      counts: { input: 0, output: 1, cacheRead: 9, cacheWrite: 0, thinking: 0 },
    });
  });
});

test('arguments that come in very many pieces are not read as a whole with each of them', () => {
  const parse = vi.spyOn(JSON, 'parse');
  onTestFinished(() => parse.mockRestore());
  const pieces = new CallPieces({ offers: () => true });
  const piece = (text: string) => pieces.place({ index: 0, function: { name: 'code_read', arguments: text } });
  piece('{"path":"');
  for (let at = 0; at < 10_000; at += 1) piece('}');
  expect(parse).not.toHaveBeenCalled();
  // Once they are whole, the same name begins another call.
  const first = piece('"}');
  expect(piece('{}')?.key).not.toBe(first?.key);
});
