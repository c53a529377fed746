/** Where recorded runs stood at their steps, and the replay of their histories; needs no server. */
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { retraceHistory } from '../../../client/history/retrace-history.ts';
import { replayRun } from '../../../client/history/replay-run.ts';
import type { Standing } from '../../../workflows/history/retrace.ts';
import { buildBundle } from '../../../runs/bundle.ts';
import { allRecorded } from '../../histories/recorded.ts';

let bundle: { code: string };
beforeAll(async () => {
  bundle = { code: await buildBundle() };
}, 120_000);

const historiesOf = (name: string): unknown[] =>
  allRecorded().find((recorded) => recorded.name === name)?.histories ?? [];

async function standingAt(name: string, key: string, seq: number | null = null, part = 0): Promise<Standing> {
  const history = historyFromJSON(historiesOf(name)[part]);
  const found = await retraceHistory(
    { bundle, store: null, viewer: null },
    { history, workflowId: `sentinel/recorded-${name}` },
    { key, seq },
  );
  if ('missing' in found) throw new Error(`${name} never came to ${key}: ${String(found.missing)}`);
  return found.standing;
}

describe('a recorded run stood', () => {
  const cases = [
    { name: 'sequence', key: 'steps.0@1', loop: { pass: 1, block: { at: 0 } }, has: [] },
    { name: 'loop', key: 'steps.1@2', loop: { pass: 2, block: { at: 1 } }, has: ['said'] },
    { name: 'loop-of-activities', key: 'steps.0@3', loop: { pass: 3, block: { at: 0 } }, has: [] },
    { name: 'continue-as-new', part: 1, key: 'steps.0@3', loop: { pass: 3, block: { at: 0 } }, has: ['said'] },
    { name: 'nested', key: 'steps.2@1', loop: { pass: 1, block: { at: 2 } }, has: ['child'] },
    { name: 'pause-resume', key: 'steps.1@1', loop: { pass: 1, block: { at: 1 } }, has: [] },
    {
      name: 'retry',
      key: 'steps.3.steps.0@1.2',
      loop: { block: { at: 3, step: { type: 'loop', loop: { pass: 2 } } } },
      has: [],
    },
  ];
  test.each(cases)('$name at $key', async ({ name, key, part, loop, has }) => {
    const { at, position } = await standingAt(name, key, null, part);
    expect(at).toBe(key);
    expect(position.loop).toMatchObject(loop);
    expect(Object.keys(position.own).filter((own) => !own.includes('.'))).toEqual(expect.arrayContaining(has));
    expect(position.questions).toEqual([]);
  });

  test('at the start of the segment that ran the step, where its event has a number of the block', async () => {
    // The rows of this run are written by segments, each before the echo of its pass.
    const exact = await standingAt('loop', 'steps.0@3');
    const block = (Math.floor(exact.position.seq / 1024) + 1) * 1024;
    const inside = await standingAt('loop', 'no-step-of-its-own', block + 2);
    expect(inside.at).toBe('steps.0@3');
    expect(inside.position).toEqual(exact.position);
  });

  test('with what other branches were at and ended well', async () => {
    const { at, position, inFlight } = await standingAt('parallel', 'steps.0.branches.0.1@1');
    const { step: open } = position.loop.block;
    if (open?.type !== 'parallel') throw new Error('the parallel step is not open');
    expect(at).toBe('steps.0.branches.0.1@1');
    expect(inFlight.length).toBeGreaterThan(0);
    const [first, second, third] = open.branches;
    expect(first).toMatchObject({ status: 'open', block: { at: 1 } });
    expect(first?.own).toMatchObject({ a: { stdout: 'a\n' } });
    expect(second?.own).toHaveProperty('b');
    expect(third).toMatchObject({ status: 'done' });
  });

  test('nowhere at a step it never came to', async () => {
    await expect(standingAt('stop', 'steps.7@1')).rejects.toThrow('never came to steps.7@1: null');
  });
});

const replay = (name: string, histories: unknown[]): ReturnType<typeof replayRun> =>
  replayRun(
    { bundle, store: null, viewer: null },
    `sentinel/recorded-${name}`,
    histories.map((history) => historyFromJSON(history)),
    null,
  );

describe('replay', () => {
  test.each(['continue-as-new', 'parallel', 'cancel'])('goes the way that %s went', async (name) => {
    const histories = historiesOf(name);
    const report = await replay(name, histories);
    expect(report).toMatchObject({ ok: true, differences: [] });
    expect(report.parts.map(({ ok }) => ok)).toEqual(histories.map(() => true));
  });

  test('says where it would have gone another way, and what the code wanted there', async () => {
    const tampered = JSON.parse(
      JSON.stringify(historiesOf('continue-as-new')).replaceAll('"activityId":"steps.0@3', '"activityId":"moved.0@3'),
    ) as unknown[];
    const report = await replay('continue-as-new', tampered);
    expect(report.ok).toBe(false);
    expect(report.parts.map(({ ok }) => ok)).toEqual([true, false, true]);
    const { divergence } = report.parts[1] ?? {};
    expect(divergence?.message).toContain(
      "Activity id of scheduled event 'moved.0@3' does not match activity id of activity command 'steps.0@3'",
    );
    const { events } = tampered[1] as {
      events: { eventId: string; activityTaskScheduledEventAttributes?: { activityId: string } }[];
    };
    expect(divergence?.eventId).toBe(
      Number(events.find((event) => event.activityTaskScheduledEventAttributes?.activityId === 'moved.0@3')?.eventId),
    );
  });

  test('tells what the store has otherwise', async () => {
    const name = 'loop-of-activities';
    const histories = historiesOf(name).map((history) => historyFromJSON(history));
    const event = { seq: 1, at: 0, key: 'steps.0@1', type: 'warning' as const, code: 'X', message: 'x' };
    const report = await replayRun({ bundle, store: null, viewer: null }, `sentinel/recorded-${name}`, histories, () =>
      Promise.resolve({ events: [event], hasEnded: true }),
    );
    expect(report.ok).toBe(false);
    expect(report.parts).toMatchObject([{ ok: true }]);
    expect(report.differences[0]).toEqual({ seq: 1, replayed: 'run-started', stored: 'warning steps.0@1' });
    expect(report.differences[1]?.stored).toBe(null);
  });
});
