/** What Anthropic's wire has and no other: signatures, redaction, kinds of thinking, cache marks, its stop reasons. */
import { describe, expect, test } from 'vitest';
import type { TurnReply, TurnRequest } from '../../../world/models/port/turn.ts';
import type { ModelFacts } from '../../../world/models/records/facts.ts';
import type { JsonObject } from '../../../language/json.ts';
import { failureOf, HELLO, replyOf, say, TOOLS, turn, useDouble } from '../harness/turns.ts';
import { anthropicWire as wire } from '../wires/anthropic-wire.ts';
import { json } from '../wires/wire.ts';

const double = useDouble();

async function asked(
  request: Partial<TurnRequest>,
  facts: Partial<ModelFacts> = {},
): Promise<{ body: JsonObject; reply: TurnReply }> {
  double().next(say(wire));
  const reply = await replyOf(turn(wire, double(), { request, facts }));
  return { body: double().asked.at(-1)?.body ?? {}, reply };
}

test('signed and redacted thoughts come whole and in place, and go back as they came', async () => {
  const parts = [
    { thinking: ['One', ' two\u2028'], signature: ['c2ln', 'bmVk=='] },
    { redacted: 'ZW5jcnlwdGVk' },
    { text: ['So: '] },
    { thinking: [], signature: ['b21pdHRlZA=='] },
    { call: { id: 'toolu_1', name: 'code_read', pieces: ['{"path":"a"}'] } },
  ];
  double().next(say(wire, { parts, reason: 'tool_use' }));
  const { blocks, author } = await replyOf(turn(wire, double(), { request: { tools: TOOLS } }));
  expect(blocks).toEqual([
    { type: 'thinking', text: 'One two\u2028', signature: 'c2lnbmVk==' },
    { type: 'redacted-thinking', data: 'ZW5jcnlwdGVk' },
    { type: 'text', text: 'So: ' },
    { type: 'thinking', text: '', signature: 'b21pdHRlZA==' },
    { type: 'tool-call', id: 'toolu_1', name: 'code/read', input: { path: 'a' } },
  ]);
  const { body } = await asked({ messages: [...HELLO, { role: 'assistant', blocks, author }], tools: TOOLS });
  expect((body['messages'] as JsonObject[])[1]?.['content']).toEqual([
    { type: 'thinking', thinking: 'One two\u2028', signature: 'c2lnbmVk==' },
    { type: 'redacted_thinking', data: 'ZW5jcnlwdGVk' },
    { type: 'text', text: 'So: ' },
    { type: 'thinking', thinking: '', signature: 'b21pdHRlZA==' },
    { type: 'tool_use', id: 'toolu_1', name: 'code_read', input: { path: 'a' } },
  ]);
});

test.each([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop-sequence'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['max_tokens', 'max-tokens'],
  ['model_context_window_exceeded', 'window-full'],
])('%s is %s', async (reason, stopReason) => {
  double().next(say(wire, { reason }));
  expect(await replyOf(turn(wire, double()))).toMatchObject({ stopReason, blocks: [{ text: 'Hello there.' }] });
});

describe('thinking', () => {
  test.each([
    ['adaptive', 'max', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'max' } }],
    ['adaptive', 'off', { thinking: { type: 'disabled' } }],
    ['budget', 'medium', { thinking: { type: 'enabled', budget_tokens: 8192 }, max_tokens: 8192 + 500 }],
    ['budget', 'off', { thinking: { type: 'disabled' } }],
  ] as const)('%s, %s', async (kind, thinking, expected) => {
    const control = kind === 'adaptive' ? { kind, canBeOff: true } : { kind };
    const { body } = await asked({ thinking, maxTokens: 500 }, { thinking: control });
    expect(body).toMatchObject(expected);
    expect('output_config' in body).toBe('output_config' in expected);
  });

  test('that cannot be off stays as it is, and the reply says so', async () => {
    const { body, reply } = await asked({ thinking: 'off' }, { thinking: { kind: 'adaptive', canBeOff: false } });
    expect(body).not.toHaveProperty('thinking');
    expect(reply.omitted).toEqual(['thinking']);
  });

  test('leaves room for an answer in a model with a small output', async () => {
    const { body } = await asked(
      { thinking: 'max', maxTokens: 500 },
      { thinking: { kind: 'budget' }, maxOutput: 4096 },
    );
    const { max_tokens: most, thinking } = body as { max_tokens: number; thinking: { budget_tokens: number } };
    expect(most).toBeLessThanOrEqual(4096);
    expect(thinking.budget_tokens).toBeGreaterThanOrEqual(1024);
    expect(most - thinking.budget_tokens).toBeGreaterThanOrEqual(500);
  });
});

test('a prefix that should be kept is marked, and no other', async () => {
  const { body } = await asked({ system: 'Long.', cache: '1h' });
  const mark = { type: 'ephemeral', ttl: '1h' };
  expect(body).toMatchObject({ cache_control: mark, system: [{ text: 'Long.', cache_control: mark }] });
  const without = await asked({ system: 'Long.' });
  expect(JSON.stringify(without.body)).not.toContain('cache_control');
});

test('nothing of the environment is used, and the key goes into one header', async () => {
  await asked({});
  const { headers } = double().asked.at(-1) ?? { headers: {} };
  expect(Object.entries(headers).filter(([, value]) => String(value).includes('key-of-a-test'))).toHaveLength(1);
});

test.each(['organization_on_hold', 'contract_spend_limit_reached'])('%s is not cured by waiting', async (code) => {
  const error = { type: 'error', error: { type: 'permission_error', message: 'no', details: { error_code: code } } };
  double().next({ status: 403, headers: { ...json, 'retry-after': '3' }, pieces: [JSON.stringify(error)] });
  expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'spend-limit', code });
});

test('a limit of growth is waited for', async () => {
  const error = {
    type: 'error',
    error: { type: 'rate_limit_error', message: 'x', details: { error_code: 'ramp_limit_exceeded' } },
  };
  double().next({ status: 429, headers: { ...json, 'retry-after': '3' }, pieces: [JSON.stringify(error)] });
  expect(await failureOf(turn(wire, double()))).toMatchObject({ kind: 'rate-limited', retryAfterMs: 3000 });
});

test('a bad request names the field', async () => {
  const error = {
    type: 'error',
    error: { type: 'invalid_request_error', message: 'messages.1.content: at least one block' },
  };
  double().next({ status: 400, headers: { ...json, 'request-id': 'req_7' }, pieces: [JSON.stringify(error)] });
  expect(await failureOf(turn(wire, double()))).toMatchObject({
    kind: 'bad-request',
    field: 'messages.1.content',
    requestId: 'req_7',
  });
});

test('what the API says of a model are facts', async () => {
  const yes = { supported: true };
  double().route('/v1/models/claude-x', {
    headers: json,
    pieces: [
      JSON.stringify({
        id: 'claude-x',
        type: 'model',
        max_input_tokens: 123_456,
        max_tokens: 9000,
        capabilities: {
          image_input: { supported: false },
          structured_outputs: yes,
          thinking: {
            supported: true,
            types: { adaptive: yes, disabled: { supported: false }, enabled: yes, between_tools: yes },
          },
        },
      }),
    ],
  });
  expect(await wire.open(double().url).describe('claude-x', new AbortController().signal)).toEqual({
    window: 123_456,
    maxOutput: 9000,
    images: false,
    schema: true,
    thinking: { kind: 'adaptive', canBeOff: false },
  });
});
