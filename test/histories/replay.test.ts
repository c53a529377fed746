/**
 * Today's workflow code replays every recorded history, and what it records on the way is the trace that
 * was recorded with it. Needs no server.
 */
import { readFileSync } from 'node:fs';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunEvent } from '../../language/events/run-event.ts';
import { buildBundle } from '../../runs/bundle.ts';
import { shapeOf } from '../server/harness/trace-shape.ts';
import { BEGUN_CASES } from './begun-cases.ts';
import { CASES } from './cases.ts';
import { allRecorded, type Recorded } from './recorded.ts';

let code: string;
beforeAll(async () => {
  code = await buildBundle();
}, 120_000);

/** What the workflow code records while it replays; a segment's events are in the store, not in history. */
async function replay(name: string, histories: readonly unknown[]): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  const options: ReplayWorkerOptions = {
    workflowBundle: { code },
    sinks: {
      recorder: {
        append: {
          callDuringReplay: true,
          fn: (_info: unknown, _handle: string, batch: RunEvent[]) => void events.push(...batch),
        },
        settle: { callDuringReplay: false, fn: () => undefined },
      },
    },
  };
  for (const history of histories)
    await Worker.runReplayHistory(options, historyFromJSON(history), `sentinel/recorded-${name}`);
  return events;
}

/** The same history, had its activities been steps of another place. */
const tampered = (recorded: Recorded): string =>
  JSON.stringify(recorded.histories).replaceAll('"activityId":"steps', '"activityId":"moved');

test('every case has its history, and every history its case', () => {
  expect(
    allRecorded()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(CASES.map(({ name }) => name).toSorted());
});

/**
 * Recorded where tasks were lost on a busy machine (test/server/replay/outlasting.test.ts keeps such histories): the
 * result of a step began a local activity before the ends of two others came, and a replay is told of all three at once.
 */
test('what came apart for the run is told to a replay together, and leads to the same', async () => {
  const history: unknown = JSON.parse(
    readFileSync(new URL('told-together/result-and-ends.json', import.meta.url), 'utf8'),
  );
  await replay('told-together', [history]);
});

describe.each(allRecorded())('$name', (recorded: Recorded) => {
  test('replays, and its trace is the recorded one', async () => {
    const shape = shapeOf(await replay(recorded.name, recorded.histories));
    const missing = shape.filter((line) => !recorded.shape.includes(line));
    expect(missing).toEqual([]);
    expect(shape[0]).toBe('run-started');
    expect(shape.some((line) => line.startsWith(`run ${recorded.outcome}`))).toBe(true);
    // What is left out must be quick steps and their passes, which segments record, and shell steps that they begin.
    const left = recorded.shape.filter((line) => !shape.includes(line));
    const isBegun = BEGUN_CASES.some(({ name }) => name === recorded.name);
    const ownSteps = isBegun ? / sentinel / : / (shell|sentinel) /;
    expect(left.filter((line) => ownSteps.test(line))).toEqual([]);
  });

  test.skipIf(tampered(recorded) === JSON.stringify(recorded.histories))(
    'does not replay once tampered with',
    async () => {
      await expect(replay(recorded.name, JSON.parse(tampered(recorded)) as unknown[])).rejects.toThrow(
        /[Nn]ondeterminism|TMPRL1100/,
      );
    },
  );
});
