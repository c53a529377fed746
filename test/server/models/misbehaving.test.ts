/**
 * A model that misbehaves over a whole run: what can be mended is, in the same run, and what cannot ends the
 * step with a failure that says what happened. The worker's memory stays bounded, and what was said before
 * stays in the transcript.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTEXT } from '../../../activities/turns/conversation.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LlmStep } from '../../../language/model.ts';
import type { Reply } from '../../models/wires/double.ts';
import { openAiWire as wire } from '../../models/wires/openai-wire.ts';
import { json, streamed } from '../../models/wires/wire.ts';
import { once } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const MIB = 1024 * 1024;

let harness: Harness;
let model: ScriptedModel;
let worker: WorkerProcess;
/** By conversation, what its turns are answered, each as often as it is asked. */
const scripts = new Map<string, Reply[][]>();
beforeAll(async () => {
  harness = await Harness.open();
  model = await new ScriptedModel(({ name, turn }) => {
    const turns = scripts.get(name) ?? [];
    const script = turns[turn - 1] ?? turns.at(-1) ?? [];
    return script[(model.paid.get(name)?.[turn - 1] ?? 1) - 1] ?? script.at(-1) ?? answers('There is nothing more.');
  }).open();
  worker = await harness.startWorker(model.env);
  writeFileSync(join(harness.project, 'a.txt'), 'what a says');
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const asking = (name: string, rest: Partial<LlmStep> = {}): ReturnType<typeof once> =>
  once('asking', [
    {
      type: 'llm',
      model: 'openai/some-model',
      prompt: `${name} Read what there is`,
      tools: ['code/read', 'code/write'],
      outputTo: 'answer',
      ...rest,
    },
  ]);

const read = (id: string, path = 'a.txt') => ({ id, name: 'code_read', input: { path } });
const whole = wire.events({ parts: [{ text: ['Half of ', 'an answer'] }], reason: wire.reasons.end });
const [, piece = ''] = wire.events({ parts: [{ text: ['word '.repeat(200)] }], reason: wire.reasons.end });
const html: Reply = { headers: { 'content-type': 'text/html' }, pieces: ['<html><body>Sign in</body></html>'] };
const htmlInStream: Reply = streamed(wire, ['<html><body>Sign in</body></html>']);
const truncated = streamed(wire, whole.slice(0, 3));
const reset = streamed(wire, whole.slice(0, 3), { then: 'reset' });
const broken = streamed(wire, [...whole.slice(0, 2), 'data: {"choices": [{"delta": \n\n', ...whole.slice(2)]);
const notJson: Reply = { headers: json, pieces: ['{"choices": '] };
const badArguments = streamed(
  wire,
  wire.events({
    parts: [{ call: { id: 'bad', name: 'code_write', pieces: ["{path: 'b.txt'}"] } }],
    reason: wire.reasons.calls,
  }),
);
const halfArguments = {
  parts: [{ call: { id: 'cut', name: 'code_write', pieces: ['{"path": "b.txt", "content": "ha'] } }],
  reason: wire.reasons.calls,
};
const brokenArguments = streamed(wire, wire.events(halfArguments));
/** As many tokens as the step allows. */
const cutArguments = streamed(wire, wire.events({ ...halfArguments, usage: { input: 5, output: 40 } }));

const warnings = async (handle: string): Promise<string[]> =>
  (await harness.events(handle)).flatMap((event) => (event.type === 'warning' ? [event.code] : []));

const lastAsked = (name: string): ReturnType<typeof wire.messages> => {
  const bodies = model.double.asked.filter(
    ({ path, body }) => path === wire.path && JSON.stringify(body).includes(name),
  );
  return wire.messages(bodies.at(-1)?.body ?? { messages: [] });
};

test('what can be mended is, and each good answer is paid once', async () => {
  // Two wrong turns in a row are mended; a third would end the step.
  scripts.set('mended', [
    [truncated, calls(read('1'))],
    [html, calls(read('2'))],
    [broken, calls({ id: '3', name: 'no_such_tool', input: {} })],
    [calls({ id: '4', name: 'code_read', input: { file: 'a.txt' } })],
    [notJson, calls(read('5'))],
    [calls(read('6'), { id: '6b', name: 'no_such_tool', input: {} })],
    [badArguments],
    [reset, calls(...Array.from({ length: 100 }, (_, n) => read(`many-${n}`)))],
    [htmlInStream, answers('All of it is read.')],
  ]);
  const { handle, result } = await harness.run(asking('mended'));
  expect(result).toMatchObject({ outcome: 'completed', outputs: { answer: 'All of it is read.' } });
  expect(model.paid.get('mended')).toEqual([2, 2, 2, 1, 2, 1, 1, 2, 2]);
  const said = lastAsked('mended');
  expect(said.flatMap(({ results }) => results.map(({ id }) => id))).toEqual([
    '1',
    '2',
    '3',
    '4',
    '5',
    '6',
    '6b',
    'bad',
    ...Array.from({ length: 100 }, (_, n) => `many-${n}`),
  ]);
  expect(said.flatMap(({ texts }) => texts).join(' ')).not.toContain('Half of');
  const codes = await warnings(handle);
  expect(codes.filter((code) => code === 'MODEL_CALLS_WRONG')).toHaveLength(3);
  expect(
    codes.filter((code) => code.startsWith('MODEL_') && code !== 'MODEL_STUCK' && code !== 'MODEL_CALLS_WRONG'),
  ).toHaveLength(6);
  const finished = (await harness.events(handle)).filter((event) => event.type === 'step-finished');
  expect(finished.filter(({ key, outcome }) => key.includes('/turn.8/') && outcome === 'ok')).toHaveLength(100);
});

test.each<[string, Reply, Partial<LlmStep>, RegExp]>([
  [
    'ten-megabytes',
    streamed(
      wire,
      wire.events({
        parts: [{ text: Array.from({ length: 160 }, () => 'x'.repeat(64 * 1024)) }],
        reason: wire.reasons.end,
      }),
    ),
    {},
    /^MODEL_ANSWER_TOO_LARGE/,
  ],
  ['endless', streamed(wire, [...whole.slice(0, 1), piece], { then: 'endless' }), {}, /^MODEL_ANSWER_TOO_LARGE/],
  ['silent', { silentMs: Number.POSITIVE_INFINITY }, { timeoutMs: 4000 }, /^STEP_TIMEOUT/],
  ['silent-inside', streamed(wire, whole.slice(0, 2), { then: 'silence' }), { timeoutMs: 4000 }, /^STEP_TIMEOUT/],
  ['never-json', html, { timeoutMs: 5000 }, /^MODEL_ANSWER_BROKEN/],
  ['never-good-arguments', badArguments, {}, /^MODEL_CALLS_WRONG/],
  ['broken-off-in-a-call', brokenArguments, {}, /^MODEL_CALLS_WRONG/],
  ['cut-in-a-call', cutArguments, { maxTokens: 40 }, /^MODEL_ANSWER_BROKEN .*raise maxTokens/],
])('%s ends the step clearly, and loses nothing of what was said before', async (name, reply, rest, expected) => {
  const before = worker.memory().now;
  scripts.set(name, [[calls(read('1'))], [reply]]);
  const { handle, result } = await harness.run(asking(name, rest));
  expect(result.outcome).toBe('failed');
  expect(`${result.failure?.code} ${result.failure?.message}`).toMatch(expected);
  expect(worker.isAlive).toBe(true);
  expect(worker.memory().now - before).toBeLessThan(200 * MIB);
  const kept = await harness.store.conversations.read({ handle, conversation: 'steps.0@1' });
  expect(kept.map(({ turn, part }) => [turn, part]).slice(0, 3)).toEqual([
    [0, CONTEXT + 1],
    [1, 0],
    [1, 1],
  ]);
  expect(JSON.stringify(kept)).toContain('what a says');
  expect(JSON.stringify(kept).length).toBeLessThan(50_000);
  const { closed } = model.double.asked.filter(({ path }) => path === wire.path).at(-1) ?? {};
  await closed;
});
