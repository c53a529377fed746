/** The contract of a model provider: what of a request's options is sent, left out, or refused. */
import { describe, expect, test } from 'vitest';
import type { TurnReply, TurnRequest } from '../../../world/models/port/turn.ts';
import type { ModelFacts } from '../../../world/models/records/facts.ts';
import type { JsonObject } from '../../../language/json.ts';
import { failureOf, HELLO, replyOf, say, TOOLS, turn, useDouble, WIRES } from '../harness/turns.ts';

const schema: JsonObject = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};

describe.each(WIRES)('%s', (_name, wire) => {
  const double = useDouble();

  async function asked(
    request: Partial<TurnRequest>,
    facts: Partial<ModelFacts> = {},
  ): Promise<{ body: JsonObject; reply: TurnReply }> {
    double().next(say(wire));
    const reply = await replyOf(turn(wire, double(), { request, facts }));
    return { body: double().asked.at(-1)?.body ?? {}, reply };
  }

  test('a schema goes in the form of the wire', async () => {
    const { body, reply } = await asked({ schema });
    expect(wire.schemaOf(body)).toEqual(schema);
    expect(reply.omitted).toEqual([]);
  });

  test('a schema stays behind beside tools where the two exclude each other, and the reply says so', async () => {
    const { body, reply } = await asked({ schema, tools: TOOLS }, { schemaWithTools: false });
    expect(wire.schemaOf(body)).toBe(undefined);
    expect(wire.toolNames(body)).toHaveLength(2);
    expect(reply.omitted).toEqual(['schema']);
  });

  test('what the model does not take is left out, and named', async () => {
    const takesNothing = { temperature: false, thinking: null, schema: false, caching: false, toolChoice: false };
    const { body, reply } = await asked(
      { temperature: 0.3, thinking: 'high', schema, cache: '1h', tools: TOOLS, toolChoice: 'required' },
      takesNothing,
    );
    expect(reply.omitted.toSorted()).toEqual(['cache', 'schema', 'temperature', 'thinking', 'toolChoice']);
    const sent = JSON.stringify(body);
    for (const word of ['temperature', '0.3', 'think', 'effort', 'cache_control']) expect(sent).not.toContain(word);
  });

  test('a temperature goes where the model takes one', async () => {
    const { body } = await asked({ temperature: 0.25 }, { temperature: true });
    const options = (body['options'] ?? body) as JsonObject;
    expect(options['temperature']).toBe(0.25);
  });

  test('the limit of the answer is at most what the model can', async () => {
    const { body } = await asked({ maxTokens: 900_000 }, { maxOutput: 5000 });
    const sent = JSON.stringify(body);
    expect(sent).toContain('5000');
    expect(sent).not.toContain('900000');
  });

  test('a request that the model cannot do without is refused before it is sent', async () => {
    const before = double().asked.length;
    const image = { type: 'image' as const, mediaType: 'image/png' as const, data: 'aQ==' };
    const blind = await failureOf(
      turn(wire, double(), { request: { messages: [{ role: 'user', blocks: [image] }] }, facts: { images: false } }),
    );
    expect(blind).toMatchObject({ kind: 'unsupported', what: 'images' });
    const handless = await failureOf(turn(wire, double(), { request: { tools: TOOLS }, facts: { tools: false } }));
    expect(handless).toMatchObject({ kind: 'unsupported', what: 'tools' });
    const adapted = await failureOf(
      turn(wire, double(), { request: { adapters: [{ path: '/a.gguf', scale: 1 }] }, facts: { adapters: false } }),
    );
    expect(adapted).toMatchObject({ kind: 'unsupported', what: 'adapters' });
    expect(double().asked).toHaveLength(before);
  });

  test('system, stop sequences and model reach the wire', async () => {
    const { body } = await asked({ system: 'Be brief.', stop: ['END'], messages: HELLO });
    expect(body['model']).toBe(wire.model);
    const sent = JSON.stringify(body);
    expect(sent).toContain('Be brief.');
    expect(sent).toContain('"END"');
  });

  test('the order of tools does not change the request', async () => {
    const [one, other] = [await asked({ tools: TOOLS }), await asked({ tools: TOOLS.toReversed() })];
    expect(JSON.stringify(one.body)).toBe(JSON.stringify(other.body));
  });
});
