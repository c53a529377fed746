/**
 * The ledger of behaviour changes (interpreter/changes.ts) on a made-up example: with an entry, a run from
 * before the change replays without it, and a run of today has it without a marker in its history.
 */
import { readFileSync } from 'node:fs';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker } from '@temporalio/worker';
import { describe, expect, test } from 'vitest';
import { CHANGES, isNewFor, LEVEL_NOW, levelOf } from '../../interpreter/changes.ts';
import { SECOND_REST } from './ledger/made-up-change.ts';
import { bundleOf, historyFile, type RUNS, type Version } from './ledger/versions.ts';

type Run = keyof typeof RUNS;
const historyOf = (run: Run): { events: { eventType: string }[] } =>
  JSON.parse(readFileSync(historyFile(run), 'utf8')) as { events: { eventType: string }[] };

const eventsOf = (run: Run, type: string): number =>
  historyOf(run).events.filter(({ eventType }) => eventType === `EVENT_TYPE_${type}`).length;

async function replay(version: Version, run: Run): Promise<void> {
  const workflowBundle = await bundleOf(version);
  await Worker.runReplayHistory({ workflowBundle }, historyFromJSON(historyOf(run)), `made-up-${run}`);
}

describe('a change with an entry in the ledger', () => {
  test('does not reach a run from before it', async () => {
    expect(eventsOf('from-before', 'TIMER_STARTED')).toBe(1);
    await replay('with-entry', 'from-before');
  });

  test('is there for a run that starts with its level, without a marker', async () => {
    expect([eventsOf('from-today', 'TIMER_STARTED'), eventsOf('from-today', 'MARKER_RECORDED')]).toEqual([2, 0]);
    await replay('with-entry', 'from-today');
  });
});

test('the same change without an entry breaks the replay of a run from before it', async () => {
  await expect(replay('without-entry', 'from-before')).rejects.toThrow(/[Nn]ondeterminism|TMPRL1100/);
});

test('a run has the changes up to the level it started with', () => {
  expect([isNewFor({}, SECOND_REST), isNewFor({ level: 1 }, SECOND_REST), isNewFor({ level: 2 }, SECOND_REST)]).toEqual(
    [false, true, true],
  );
  expect(levelOf({ SECOND_REST, later: { ...SECOND_REST, id: 'later', level: 3 } })).toBe(3);
});

test('runs start with the highest level of the ledger', () => {
  expect(LEVEL_NOW).toBe(levelOf(CHANGES));
});
