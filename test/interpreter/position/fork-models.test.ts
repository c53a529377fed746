/** A fork where models are under way: what they were told and have answered stays, and nothing of it is done again. */
import { expect, test } from 'vitest';
import type { TurnOutcome } from '../../../interpreter/effect.ts';
import { nextKeyOf, openModels } from '../../../interpreter/models/open-models.ts';
import { firstPosition, type CallFrame, type ModelFrame, type Position } from '../../../interpreter/position.ts';
import { entriesOfSteps } from '../../../language/catalogue.ts';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Definition, LlmStep, Step } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import { freshPosition } from '../../../workflows/history/fresh-position.ts';
import { advanceModels, settlePosition, type ModelRecords } from '../../../workflows/history/kept-host.ts';
import type { Standing } from '../../../workflows/history/retrace.ts';
import { frameDifferences } from '../../../workflows/history/same-frames.ts';
import { catalogue } from '../../catalogue.ts';

const left: LlmStep = { type: 'llm', prompt: 'Left', tools: ['code/read', 'data/list'], outputTo: 'left' };
const right: LlmStep = { type: 'llm', prompt: 'Right', tools: ['code/read'], outputTo: 'right' };
const definition: Definition = {
  name: 'models',
  loop: { type: 'once' },
  steps: [{ type: 'parallel', branches: [[left], [right]] }],
};
const keys = ['steps.0.branches.0.0@1', 'steps.0.branches.1.0@1'] as const;

const frame = (key: string, rest: Partial<ModelFrame> = {}): ModelFrame => ({
  type: 'model',
  key,
  startedAt: 100,
  since: 100,
  turn: 3,
  waits: 0,
  say: [],
  answers: [],
  mistakes: 0,
  made: [],
  repairs: 0,
  usage: { input: 100, output: 10, cacheRead: 5, cacheWrite: 0, thinking: 0, estimated: false },
  usd: 0.5,
  ...rest,
});

const call = (id: string, at = 0): CallFrame => ({ id, name: 'code/read', input: { path: id }, block: { at } });

function positionOf(...frames: (ModelFrame | undefined)[]): Position {
  const position = firstPosition(1000);
  return {
    ...position,
    loop: {
      ...position.loop,
      pass: 1,
      between: false,
      block: {
        at: 0,
        step: {
          type: 'parallel',
          startedAt: 1000,
          branches: frames.map((step) => ({
            status: 'open',
            own: {},
            block: { at: 0, ...defined({ step }) },
          })),
        },
      },
    },
  };
}

const standing = (position: Position, inFlight: string[] = []): Standing => ({
  at: keys[0],
  now: 2000,
  start: {
    definition,
    project: '/',
    persona: 'p',
    catalogue: entriesOfSteps(catalogue, definition.steps),
  },
  position,
  inFlight,
});

test('the models of a position, and what each asks for next', () => {
  const position = positionOf(frame(keys[0]), frame(keys[1], { calls: [call('a', 1), call('b')] }));
  expect(openModels(position).map((open) => nextKeyOf(open))).toEqual([
    `${keys[0]}/turn.3`,
    `${keys[1]}/turn.3/call.1`,
  ]);
  expect(nextKeyOf(frame('k', { waits: 2 }))).toBe('k/turn.3#3');
  expect(openModels(firstPosition(0))).toEqual([]);
});

test("what was said stays, times begin anew, and what was paid is the old run's", () => {
  const asked: CallFrame = { ...call('b'), block: { at: 0, step: { type: 'asked', about: left } } };
  const old = positionOf(
    frame(keys[0], { waits: 2, restsUntil: 5000, say: [{ prompt: 'repair', fault: 'f' }] }),
    frame(keys[1], { calls: [call('a', 1), asked] }),
  );
  const told = [{ id: 'one', key: keys[0], text: 'Mind the gap', by: 'ada' }];
  const { told: kept, ...fresh } = freshPosition({ ...old, told }, { takenAt: 1500, now: 9000 });
  expect(kept).toEqual(told);
  const [first, second] = openModels(fresh);
  const earlier = { tokens: 115, usd: 0.5 };
  expect(first).toEqual(
    frame(keys[0], { say: [{ prompt: 'repair', fault: 'f' }], startedAt: 9000, since: 9000, earlier }),
  );
  expect(second?.calls).toEqual([call('a', 1), call('b')]);
});

test('a model that has answered nothing, and the step that the fork begins with, begin anew', () => {
  const old = positionOf(frame(keys[0], { turn: 1 }), frame(keys[1]));
  expect(openModels(freshPosition(old, { takenAt: 0, now: 1 })).map(({ key }) => key)).toEqual([keys[1]]);
  expect(openModels(freshPosition(old, { takenAt: 0, now: 1, anew: keys[1] }))).toEqual([]);
});

test('another definition goes on with it where it has a model step at that place', () => {
  const position = positionOf(frame(keys[0]), frame(keys[1]));
  expect(frameDifferences(position, definition)).toEqual([]);
  const shell: Step = { type: 'shell', command: 'true' };
  expect(
    frameDifferences(position, { ...definition, steps: [{ type: 'parallel', branches: [[left], [shell]] }] }),
  ).toEqual(['"steps.0.branches.1.0" is an open llm step, and a shell step in the definition']);
});

const outcome = (calls: { name: string; input?: JsonObject }[], text = ''): Json =>
  ({
    stopReason: calls.length > 0 ? 'tool-calls' : 'end',
    calls: calls.map((one, index) => ({ id: `c${index}`, input: {}, ...one })),
    text,
    value: text,
    usage: { input: 10, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
    usd: 0.01,
    model: 'openai/some-model',
  }) satisfies TurnOutcome;

const records = (rest: Partial<ModelRecords>): ModelRecords => ({
  until: new Map(),
  turns: new Map(),
  callReply: () => ({ ok: true, value: null }),
  ...rest,
});

test('a model is gone on with over turns that history has not one by one, up to the one that is asked for', async () => {
  const turns = new Map([
    [`${keys[0]}/turn.1`, outcome([{ name: 'code/read' }, { name: 'data/destroy' }])],
    [`${keys[0]}/turn.2`, outcome([{ name: 'data/list' }])],
    [`${keys[0]}/turn.3`, outcome([{ name: 'data/list' }])],
    [`${keys[0]}/turn.4`, outcome([], 'Done.')],
  ]);
  const failure = { code: 'FILE_NOT_FOUND', message: 'no such file', retryable: false };
  const callReply: ModelRecords['callReply'] = (key) =>
    key === `${keys[0]}/turn.1/call.0` ? { ok: false, failure } : { ok: true, value: null };
  const before = positionOf(undefined, frame(keys[1]));
  const position = await advanceModels(standing(before), records({ turns, callReply, until: new Map([[keys[0], 3]]) }));
  const [first, second] = openModels(position);
  expect(first).toMatchObject({
    turn: 3,
    made: [{ ok: false }, { ok: false }, { ok: true }],
    usage: { input: 20, output: 2 },
    usd: 0.02,
    answers: [],
    mistakes: 0,
  });
  expect(first?.calls).toBeUndefined();
  expect(second).toEqual(frame(keys[1]));
  const earlier = await advanceModels(
    standing(positionOf(undefined, frame(keys[1]))),
    records({ turns, callReply, until: new Map([[keys[0], 2]]) }),
  );
  expect(openModels(earlier)[0]).toMatchObject({
    turn: 2,
    mistakes: 1,
    answers: [
      { call: 0, text: 'no such file' },
      { call: 1, text: expect.stringContaining('data/destroy') as string },
    ],
  });
});

test('a model whose turn has no answer, or whose calls are not known to have ended, stays there', async () => {
  const turns = new Map([
    [`${keys[0]}/turn.3`, outcome([{ name: 'code/read' }])],
    [`${keys[1]}/turn.3`, null],
  ]);
  const until = new Map([
    [keys[0], Infinity],
    [keys[1], Infinity],
  ]);
  const position = await advanceModels(standing(positionOf(frame(keys[0]), frame(keys[1]))), records({ turns, until }));
  const [first, second] = openModels(position);
  expect(first).toMatchObject({ turn: 3, calls: [{ name: 'code/read', block: { at: 0 } }] });
  expect(second).toEqual(frame(keys[1]));
});

test('a turn that was in flight in another branch and ended well has its answer', async () => {
  const settled = await settlePosition(standing(positionOf(frame(keys[0]), frame(keys[1])), [`${keys[1]}/turn.3`]), [
    { key: `${keys[1]}/turn.3`, reply: { ok: true, value: outcome([{ name: 'code/read' }]) } },
  ]);
  const [first, second] = openModels(settled);
  expect(first).toEqual(frame(keys[0]));
  expect(second).toMatchObject({ turn: 3, calls: [{ name: 'code/read', block: { at: 0 } }] });
});
