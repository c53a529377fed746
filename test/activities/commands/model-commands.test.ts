/** Commands that ask a model: through the models and the conversations that model steps have. */
import { expect, test } from 'vitest';
import type { CommandContext } from '../../../operations/command.ts';
import { builtInRegistry } from '../../../systems/built-in.ts';
import { runTurn } from '../../../activities/turns/run-turn.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { useStore } from '../../store/harness/opened.ts';
import { say, useModels } from '../harness/asked-models.ts';
import { commandContext } from '../harness/command-context.ts';

const opened = useStore();
const asking = useModels();
const registry = builtInRegistry();
const model = 'openai/some-model';

let steps = 0;

function run(name: string, params: JsonObject, over: Partial<CommandContext> = {}): Promise<Json> {
  steps += 1;
  const context = commandContext('/', { store: opened.store, key: `steps.${steps}@1`, ...over });
  const { key, signal } = context;
  const place = { run: context.run, asker: key, attempt: key, timeoutMs: 60_000, signal };
  const parts = { store: opened.store, registry, models: asking.models() };
  return registry.run(name, params, { ...context, turn: (request) => runTurn(parts, request, place) });
}

test('ai/generate gives the answer as text and as a value, with what it cost', async () => {
  asking.double().next(say('{"ok": true}', { usage: { input: 100, output: 50 } }));
  const result = await run('ai/generate', {
    system: 'Be brief.',
    messages: [
      { role: 'user', content: 'before' },
      { role: 'assistant', content: 'yes' },
    ],
    prompt: 'Is it?',
    ragContext: { text: 'what was collected', sources: [] },
    model,
    temperature: 0.5,
  });
  expect(result).toMatchObject({
    text: '{"ok": true}',
    data: { ok: true },
    stopReason: 'end',
    model,
    usage: { input: 100, output: 50, tokens: 150, usd: 0.0002 },
  });
  const told = asking.texts();
  for (const text of ['Be brief.', 'before', 'yes', 'what was collected\\n\\nIs it?']) expect(told).toContain(text);
  expect(asking.asked()[0]).toMatchObject({ temperature: 0.5 });
});

test('its conversation is kept under the key of the step, and its answer is paid once', async () => {
  asking.double().next(say('Hello.'));
  const over = { run: { handle: 'asks-once', project: '/', persona: 'ada', definitionHash: 'none' }, key: 'steps.0@1' };
  const first = await run('ai/generate', { prompt: 'Hi', model }, over);
  expect(await run('ai/generate', { prompt: 'Hi', model }, over)).toEqual(first);
  expect(asking.asked()).toHaveLength(1);
  const rows = await opened.store.conversations.read({ handle: 'asks-once', conversation: 'steps.0@1' });
  expect(rows.map(({ message }) => message['role'])).toEqual(['user', 'assistant']);
});

test('an answer that does not fit its schema is sent back, twice at most', async () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  asking.double().next(say('no'), say('{"n": 2}'));
  expect(await run('ai/generate', { prompt: 'n?', model, schema })).toMatchObject({ data: { n: 2 } });
  expect(asking.texts()).toContain('does not fit the form');
  asking.double().next(say('no'), say('no'), say('no'));
  const failed: unknown = await run('ai/generate', { prompt: 'n?', model, schema }).catch((error: unknown) => error);
  expect(failed).toMatchObject({
    code: 'MODEL_ANSWER_INVALID',
    details: { spent: { tokens: expect.any(Number) as number } },
  });
  expect(asking.asked()).toHaveLength(5);
});

test('a provider that asks to wait is a failure that says so, and an empty question is refused', async () => {
  asking.double().next(wire.errors.rateLimited({ 'retry-after': '7' }));
  await expect(run('ai/generate', { prompt: 'Hi', model })).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMITED',
    details: { retryAfterMs: 7000 },
  });
  await expect(run('ai/generate', { model })).rejects.toMatchObject({ code: 'COMMAND_PARAMS_INVALID' });
});

test('a question that is too long for the model is a failure, and nothing is made shorter', async () => {
  asking.double().next(wire.errors.overflow);
  await expect(run('ai/generate', { prompt: 'Hi', model })).rejects.toMatchObject({ code: 'MODEL_CONTEXT_TOO_LONG' });
  expect(asking.asked()).toHaveLength(1);
});

test('nothing to ask about costs nothing', async () => {
  const empty = { text: '', sources: [], leftOut: [] };
  expect(await run('ai/should-respond', { ragContext: empty, model })).toMatchObject({ shouldRespond: false });
  await expect(run('ai/generate', { ragContext: empty, model })).rejects.toMatchObject({
    code: 'COMMAND_PARAMS_INVALID',
  });
  expect(asking.asked()).toEqual([]);
});

test('ai/should-respond gives a decision with its reason', async () => {
  asking.double().next(say('{"shouldRespond": true, "confidence": 0.8, "reason": "They were asked."}'));
  const over = { run: { handle: 'decides', project: '/', persona: 'ada', definitionHash: 'none' }, key: 'steps.0@1' };
  const result = await run(
    'ai/should-respond',
    { ragContext: { text: 'ada, are you there?' }, strategy: 'collaborative', model },
    over,
  );
  expect(result).toMatchObject({ shouldRespond: true, confidence: 0.8, reason: 'They were asked.', model });
  const told = asking.texts();
  for (const text of ['whether \\"ada\\" should respond', 'ada, are you there?', 'collaborative'])
    expect(told).toContain(text);
  const [turn] = await opened.store.conversations.turns('decides');
  expect(turn?.answer?.['prompts']).toEqual({ 'should-respond': 1 });
});
