/** From where one run stood to where another begins: what stays, what begins anew, what must fit. */
import { expect, test } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { compareEvents } from '../../../workflows/history/compare-events.ts';
import { freshPosition, setVariableAt } from '../../../workflows/history/fresh-position.ts';
import { settlePosition } from '../../../workflows/history/kept-host.ts';
import type { Standing } from '../../../workflows/history/retrace.ts';
import { adoptBounds, cleansUpCancelled, frameDifferences } from '../../../workflows/history/same-frames.ts';
import { beginSegment } from '../../../interpreter/budget.ts';
import type { Host } from '../../../interpreter/host.ts';
import { timeLimitsLeft } from '../../../interpreter/limits.ts';
import { firstPosition, type Position, type StepFrame } from '../../../interpreter/position.ts';
import { rootStrand } from '../../../interpreter/walk-state.ts';
import { runInputOf } from '../../../workflows/messages/start-input.ts';

const say = (text: string): Step => ({ type: 'shell', command: `echo ${text}`, outputTo: text });

/** A loop, in its second pass at the second branch of a parallel step in a condition. */
const definition: Definition = {
  name: 'deep',
  loop: { type: 'count', max: 3 },
  steps: [
    say('first'),
    {
      type: 'condition',
      check: 'true',
      then: [
        {
          type: 'parallel',
          branches: [
            [say('left'), say('more')],
            [{ type: 'loop', loop: { type: 'count', max: 4 }, steps: [say('right'), say('last')] }],
          ],
        },
      ],
    },
    say('end'),
  ],
};

function deepPosition(): Position {
  const position = firstPosition(1000);
  return {
    ...position,
    own: { first: 'one', kept: 1 },
    seq: 77,
    steps: 9,
    pausedMs: 50,
    spent: { steps: 1, tokens: 2, usd: 3 },
    extensions: { maxIterations: 1, timeoutMs: 2, 'budget.usd': 1 },
    paused: { reason: 'asked', since: 5 },
    stopping: true,
    detached: ['other'],
    consumed: { 'a:*': 4 },
    loop: {
      ...position.loop,
      pass: 2,
      between: false,
      max: 3,
      block: {
        at: 1,
        step: {
          type: 'condition',
          branch: 'then',
          startedAt: 1200,
          block: {
            at: 0,
            step: {
              type: 'parallel',
              startedAt: 1300,
              branches: [
                { status: 'open', own: { side: 'left' }, block: { at: 0 } },
                {
                  status: 'open',
                  own: { side: 'right' },
                  block: {
                    at: 0,
                    step: {
                      type: 'loop',
                      startedAt: 1400,
                      since: 1400,
                      loop: {
                        pass: 1,
                        between: false,
                        rested: false,
                        startedAt: 1400,
                        max: 4,
                        block: { at: 1, step: { type: 'asked', about: say('last'), since: 3 } },
                      },
                    },
                  },
                },
              ],
            },
          },
        },
      },
    },
  };
}

const here = 'steps.1.then.0.branches.1.0.steps.1';
const parallelIn = (position: Position): Extract<StepFrame, { type: 'parallel' }> => {
  const condition = position.loop.block.step;
  const inner = condition?.type === 'condition' ? condition.block.step : undefined;
  if (inner?.type !== 'parallel') throw new Error('the parallel step is not open');
  return inner;
};

test.each<[string, StepFrame]>([
  ['sleeps', { type: 'sleeping', since: 2000, until: 9000, held: 0 }],
  ['waits for runs', { type: 'joining', since: 2000, held: 0, handles: ['a'], ended: [] }],
])('a step that %s begins anew in a fork', (_what, step) => {
  const old = firstPosition(1000);
  old.loop = { ...old.loop, pass: 1, between: false, block: { at: 2, step } };
  expect(freshPosition(old, { takenAt: 3000, now: 50_000 }).loop.block).toEqual({ at: 2 });
});

test('what was done stays, and what belongs to the old run goes', () => {
  const old = deepPosition();
  const fresh = freshPosition(old, { takenAt: 2000, now: 90_000 });
  expect(fresh).toMatchObject({
    seq: 0,
    steps: 0,
    pausedMs: 0,
    paused: null,
    stopping: false,
    detached: [],
    own: { first: 'one', kept: 1 },
    consumed: { 'a:*': 4 },
  });
  expect(fresh.extensions).toEqual({ maxIterations: 1, timeoutMs: 0, 'budget.usd': 1 });
  expect(fresh.loop).toMatchObject({ pass: 2, startedAt: 90_000, max: 3 });
  expect(parallelIn(fresh).branches[1]?.block).toEqual({
    at: 0,
    step: {
      type: 'loop',
      startedAt: 90_000,
      since: 90_000,
      loop: { pass: 1, between: false, rested: false, startedAt: 90_000, max: 4, block: { at: 1 } },
    },
  });
  expect(old).toEqual(deepPosition());
});

test('what was used of the budget stays used, of a fork of a fork, too', () => {
  const held = { pausedMs: 50, paused: { reason: 'asked', since: 1900 } };
  const fresh = freshPosition({ ...deepPosition(), ...held }, { takenAt: 2000, now: 90_000 });
  expect(fresh).toMatchObject({ steps: 0, spent: { steps: 10, tokens: 2, usd: 3 }, earlierMs: 850 });
  const again = freshPosition({ ...fresh, steps: 4 }, { takenAt: 90_100, now: 200_000 });
  expect(again).toMatchObject({ steps: 0, spent: { steps: 14, tokens: 2, usd: 3 }, earlierMs: 950 });
});

test.each([
  ['nothing granted', 0, 1000 - 850 - 100],
  ['the same granted once more', 1, 2000 - 850 - 100],
])('time of the budget that had gone is gone: %s', (_what, granted, left) => {
  const budget = { wallMs: 1000 };
  const position = {
    ...firstPosition(90_000),
    earlierMs: 850,
    extensions: { maxIterations: 0, timeoutMs: 0, 'budget.wallMs': granted },
  };
  const start = { definition: { ...definition, safety: { budget } }, project: '/', persona: 'p' };
  const walk = {
    input: runInputOf(start, 'fork', 90_000),
    position,
    host: { now: () => 90_100 } as Host,
    textFields: new Map(),
  };
  expect(timeLimitsLeft(walk)).toEqual({ wallMs: left });
  // A segment knows nothing of it, and is given so much less.
  const share = beginSegment(walk, rootStrand(walk), 'steps.0@1')?.budget;
  const inside = {
    ...walk,
    input: { ...walk.input, limits: { ...walk.input.limits, budget: share ?? {} } },
    position: { ...position, earlierMs: 0 },
  };
  expect(timeLimitsLeft(inside)).toEqual({ wallMs: left });
});

test('a clean-up keeps the time it had left', () => {
  const old: Position = { ...deepPosition(), cleanUp: { end: { kind: 'cancelled' }, block: { at: 1 }, until: 2500 } };
  expect(freshPosition(old, { takenAt: 2000, now: 90_000 }).cleanUp).toEqual({
    end: { kind: 'cancelled' },
    block: { at: 1 },
    until: 90_500,
  });
});

test('a variable is set where the step would find it', () => {
  const position = deepPosition();
  for (const name of ['side', 'kept', 'new']) setVariableAt(position, { path: here, passes: [] }, name, 'set');
  expect(position.own).toEqual({ first: 'one', kept: 'set', new: 'set' });
  expect(parallelIn(position).branches.map(({ own }) => own)).toEqual([{ side: 'left' }, { side: 'set' }]);
});

const withSteps = (change: (steps: Step[]) => Step[]): Definition => ({
  ...definition,
  steps: change([...definition.steps]),
});
const condition = definition.steps[1] as Extract<Step, { type: 'condition' }>;
const parallel = condition.then?.[0] as Extract<Step, { type: 'parallel' }>;

test.each([
  ['the same definition', definition, null],
  ['another step ahead', withSteps((steps) => [...steps.slice(0, 2), say('other'), say('more')]), null],
  [
    'a step before it removed',
    withSteps((steps) => steps.slice(1)),
    '"steps.1" is an open condition step, and a shell step in the definition',
  ],
  [
    'the open step removed',
    withSteps((steps) => steps.slice(0, 1)),
    '"steps.1" is an open condition step, and the definition does not have it',
  ],
  [
    'the branch removed',
    withSteps(([first]) => [first ?? say('x'), { type: 'condition', check: 'true', else: [] }]),
    'the run is in "steps.1.then", which the definition does not have',
  ],
  [
    'a branch added',
    withSteps(([first]) => [
      first ?? say('x'),
      { ...condition, then: [{ ...parallel, branches: [...(parallel.branches ?? []), [say('third')]] }] },
    ]),
    '"steps.1.then.0" is open with 2 branches, and the definition has 3',
  ],
])('%s: whether the definition can go on', (_what, changed, difference) => {
  expect(frameDifferences(deepPosition(), changed)).toEqual(difference === null ? [] : [difference]);
});

test('a bound that the definition states anew holds for the loop under way', () => {
  const position = deepPosition();
  adoptBounds(position, definition, { ...definition, loop: { type: 'count', max: 9 } });
  expect(position.loop.max).toBe(9);
  const open = parallelIn(position).branches[1]?.block.step;
  expect(open?.type === 'loop' ? open.loop.max : null).toBe(4);
});

test('a clean-up after a cancellation is told from others', () => {
  const position = deepPosition();
  expect(cleansUpCancelled(position)).toBe(false);
  const { step: open } = position.loop.block;
  if (open?.type === 'condition') open.cleanUp = { end: { kind: 'cancelled' }, block: { at: 0 }, until: 1 };
  expect(cleansUpCancelled(position)).toBe(true);
});

const standing = (position: Position): Standing => ({
  at: `${here}@2.1`,
  now: 2000,
  start: { definition, project: '/', persona: 'p' },
  position,
  inFlight: ['steps.1.then.0.branches.0.0@2'],
});

const reply = (key: string, ok: boolean): Parameters<typeof settlePosition>[1][number] => ({
  key,
  reply: ok ? { ok, value: { stdout: key } } : { ok, failure: { code: 'X', message: 'x', retryable: false } },
});

test('what was in flight and ended well is kept, and nothing else moves', async () => {
  const settled = await settlePosition(standing(deepPosition()), [
    reply('steps.1.then.0.branches.0.0@2', true),
    reply('steps.1.then.0.branches.0.1@2', true),
  ]);
  const [left, right] = parallelIn(settled).branches;
  expect(left).toMatchObject({
    status: 'open',
    own: { side: 'left', left: { stdout: 'steps.1.then.0.branches.0.0@2' } },
    block: { at: 1 },
  });
  expect(right).toEqual(parallelIn(deepPosition()).branches[1]);
});

test('what was in flight and failed is done again', async () => {
  expect(await settlePosition(standing(deepPosition()), [reply('steps.1.then.0.branches.0.0@2', false)])).toEqual(
    deepPosition(),
  );
});

const warning = (seq: number, key: string): RunEvent => ({ seq, at: 0, key, type: 'warning', code: 'X', message: 'x' });

test.each([
  ['the same', [warning(1, 'a')], [warning(1, 'a')], true, []],
  ['another step', [warning(1, 'a')], [warning(1, 'b')], true, [1]],
  [
    "a segment's events, which are in the store alone",
    [warning(1, 'a')],
    [warning(1, 'a'), warning(1025, 'b')],
    true,
    [],
  ],
  ['one that the store has besides', [warning(1, 'a')], [warning(1, 'a'), warning(2, 'b')], true, [2]],
  ['the same of a run under way', [warning(1, 'a')], [warning(1, 'a'), warning(2, 'b')], false, []],
  ['one on its way to the store', [warning(1, 'a'), warning(2, 'b')], [warning(1, 'a')], false, []],
  ['one that never reached the store', [warning(1, 'a'), warning(2, 'b')], [warning(1, 'a')], true, [2]],
])('events compared: %s', (_what, replayed, stored, isWhole, seqs) => {
  expect(compareEvents(replayed, stored, isWhole).map(({ seq }) => seq)).toEqual(seqs);
});
