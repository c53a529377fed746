/** A run that stands still: how long it was held, whatever overlaps, and what its other lines wait for meanwhile. */
import { expect, test } from 'vitest';
import { stage } from '../../../authoring/simulate/stage.ts';
import { firstPosition } from '../../../interpreter/position.ts';
import { runScenario, type Scenario } from '../../../interpreter/simulation/run-scenario.ts';
import { lineGoesOn, lineStands, NestedStillness } from '../../../interpreter/stillness.ts';
import { heldMs, type Walk } from '../../../interpreter/walk-state.ts';
import type { Step } from '../../../language/model.ts';
import { catalogue } from '../../catalogue.ts';

/** Three things that hold a run; each begins and ends once. */
const HOLDS = ['pause', 'line', 'nested'] as const;
type Hold = (typeof HOLDS)[number];

/** All orders in which they begin and end. */
function orders(begun: readonly Hold[] = [], ended: readonly Hold[] = []): Hold[][] {
  const next = HOLDS.filter((hold) => !ended.includes(hold));
  if (next.length === 0) return [[]];
  return next.flatMap((hold) => {
    const rest = begun.includes(hold) ? orders(begun, [...ended, hold]) : orders([...begun, hold], ended);
    return rest.map((others) => [hold, ...others]);
  });
}

function heldRun() {
  let now = 0;
  const walk = { position: firstPosition(0), host: { now: () => now } } as unknown as Walk;
  const { position } = walk;
  const nested = new NestedStillness();
  let word = 0;
  const hearNested = (isStill: boolean): void => nested.hear(walk, 'run/steps.0@1', { word: (word += 1), isStill });
  const begin: Record<Hold, () => void> = {
    pause: () => (position.paused = { reason: 'asked', since: now }),
    line: () => lineStands(walk),
    nested: () => hearNested(true),
  };
  const end: Record<Hold, () => void> = {
    // As the hosts resume a run.
    pause: () => {
      position.pausedMs += now - (position.paused?.since ?? now);
      position.paused = null;
    },
    line: () => lineGoesOn(walk),
    nested: () => hearNested(false),
  };
  return { walk, begin, end, pass: (ms: number) => (now += ms) };
}

test('in every order of a pause, a line that stands and a nested run that does, each moment is counted once', () => {
  const all = orders();
  expect(all).toHaveLength(90);
  for (const order of all) {
    const { walk, begin, end, pass } = heldRun();
    const open = new Set<Hold>();
    let held = 0;
    for (const [index, hold] of order.entries()) {
      const ms = 10 ** index;
      pass(ms);
      if (open.size > 0) held += ms;
      expect({ order, index, held: heldMs(walk) }).toEqual({ order, index, held });
      (open.has(hold) ? end : begin)[hold]();
      if (!open.delete(hold)) open.add(hold);
      expect({ order, index, held: heldMs(walk) }).toEqual({ order, index, held });
    }
    pass(10 ** 6);
    expect({ order, held: heldMs(walk), still: walk.position.still }).toEqual({ order, held, still: undefined });
  }
});

test('until when a line waits is forgotten with the last line that does, also where a nested run still stands', () => {
  const { walk, begin, end } = heldRun();
  begin.line();
  begin.line();
  if (walk.position.still !== undefined) walk.position.still.until = 5;
  begin.nested();
  end.line();
  expect(walk.position.still).toMatchObject({ lines: 1, until: 5, withNested: true });
  end.line();
  expect(walk.position.still).toEqual({ since: 0, held: 0, lines: 0, withNested: true });
});

const HOUR = 3_600_000;
const SPENT = { ok: false, failure: { code: 'PERSONA_BUDGET_SPENT', message: 'spent' } };
const deep: Step = { type: 'shell', command: 'waits' };
const inner = { name: 'inner', loop: { type: 'once' as const }, steps: [deep] };

/** What stands still for ten hours beside a line; by the key whose day is spent. */
const STANDING: { [key: string]: Step } = {
  'steps.0.branches.0.0@1': deep,
  'steps.0.branches.0.0@1/steps.0@1': { type: 'sentinel', definition: inner },
};

/** Waits beside it, and when each ends by the clock. */
const BESIDE: [string, Step, number][] = [
  ['a sleep', { type: 'sleep', durationMs: 10_000 }, 10 * HOUR + 10_000],
  ['a sleep until a time', { type: 'sleep', until: '2026-01-01T01:00:00Z', timeoutMs: 5_000 }, HOUR],
  ['a sleep of long', { type: 'sleep', durationMs: 90_000_000, timeoutMs: 7_000 }, 10 * HOUR + 7_000],
  ['a question', { type: 'approval', message: 'Go on?', timeoutMs: 10_000 }, 10 * HOUR + 10_000],
  ['an event', { type: 'watch', event: 'never', timeoutMs: 10_000 }, 10 * HOUR + 10_000],
];

test.each(
  Object.entries(STANDING).flatMap(([key, standing]) => BESIDE.map((beside) => [key, standing, ...beside] as const)),
)('while %s stands still, %o, %s beside it sets few timers', async (key, standing, _name, beside, at) => {
  const scenario: Scenario = {
    catalogue,
    definition: {
      name: 'work',
      loop: { type: 'once' },
      timeoutMs: 60_000,
      steps: [{ type: 'parallel', branches: [[standing], [{ ...beside, onError: 'skip' }]] }],
    },
    replies: { [key]: [SPENT, { ok: true, value: {} }] },
    days: [10 * HOUR],
  };
  let moved = 0;
  const { runs, result } = await runScenario(scenario, { stage: { ...stage, clockMoved: () => void (moved += 1) } });
  expect(result).toMatchObject({ outcome: 'completed' });
  expect(moved).toBeLessThan(12);
  const own = runs[0]?.events ?? [];
  const end = own.find((event) => event.type === 'step-finished' && event.key === 'steps.0.branches.1.0@1');
  expect(end).toMatchObject({ at: Date.parse('2026-01-01T00:00:00Z') + at });
});
