/**
 * Records the histories of cases that have none, with the trace of the same run:
 * `SENTINEL_RECORD_HISTORIES=1` runs it, and it never overwrites one that is there. A recorded
 * history is what a run of today leaves behind; tomorrow's code must still continue it.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { answerRun } from '../../runs/steer-run.ts';
import type { Question } from '../../language/events/question.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { Harness } from '../server/harness/harness.ts';
import { shapeOf } from '../server/harness/trace-shape.ts';
import { CASES, type HistoryCase } from './cases.ts';
import { fileOf } from './recorded.ts';

/** Stack traces name files of the machine, and replay does not read them. */
const withoutStacks = (key: string, value: unknown): unknown => (key === 'stackTrace' ? '' : value);

const missing = CASES.filter((entry) => !existsSync(fileOf(entry.name)));

let harness: Harness;

/** Every history of the run: each continue-as-new begins another. */
async function historiesOf(handle: string): Promise<unknown[]> {
  const histories: unknown[] = [];
  let runId = (await harness.workflow(handle).describe()).raw.workflowExecutionInfo?.firstRunId ?? undefined;
  while (runId !== undefined && runId !== '') {
    const history = await harness.client.workflow.getHandle(`sentinel/${handle}`, runId).fetchHistory();
    histories.push(JSON.parse(historyToJSON(history)));
    runId = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
  return histories;
}

/** What a step that just ended leads to has happened by then. */
const laterMs = 1000;

async function goOnWhenHeld(handle: string, say: 'resume-held' | 'extend-held'): Promise<void> {
  const held = say === 'resume-held' ? 'paused' : 'asked';
  for (let heard = 0; ;) {
    const isNews = ({ type, seq }: RunEvent): boolean => type === 'run-finished' || (type === held && seq > heard);
    await harness.untilEvent(handle, isNews);
    const news = (await harness.events(handle)).find(isNews);
    if (news === undefined || news.type === 'run-finished') return;
    heard = news.seq;
    if (news.type === 'asked') await extend(handle, news.question);
    else await harness.say(handle, 'resume');
  }
}

/** By a step more than is needed for the next one. */
async function extend(handle: string, { id, digest }: Question): Promise<void> {
  await answerRun(harness.client, handle, { id, digest, choice: 'extend', data: { steps: 2 }, by: 'ada' });
}

async function steer(entry: HistoryCase, handle: string): Promise<void> {
  if (entry.say === undefined) return;
  if (entry.say === 'resume-held' || entry.say === 'extend-held') return goOnWhenHeld(handle, entry.say);
  await harness.untilEvent(handle, (event) => event.type === 'step-started' && event.step === 'shell');
  if (entry.say === 'cancel') await harness.workflow(handle).cancel();
  else if (entry.say === 'stop') await harness.say(handle, 'stop');
  else if (entry.say === 'stop-later') {
    await harness.untilEvent(handle, (event) => event.type === 'step-finished' && event.step === 'shell');
    await setTimeout(laterMs);
    await harness.say(handle, 'stop');
  } else {
    await harness.say(handle, 'pause');
    await harness.untilEvent(handle, (event) => event.type === 'step-finished');
    await harness.say(handle, 'resume');
  }
}

describe.skipIf(process.env['SENTINEL_RECORD_HISTORIES'] !== '1')('recording', () => {
  beforeAll(async () => {
    harness = await Harness.open();
    await harness.startWorker();
  });
  afterAll(() => harness.close());

  test.each(missing)('record $name', async (entry) => {
    const { name, definition, continueEvery } = entry;
    const handle = await harness.start(definition, {
      handle: `recorded-${name}`,
      ...(continueEvery === undefined ? {} : { continueEvery }),
    });
    await steer(entry, handle);
    const { outcome } = await harness.result(handle);
    const histories = await historiesOf(handle);
    expect(histories.length).toBeGreaterThan(0);
    const shape = shapeOf(await harness.events(handle));
    // Of the machine that recorded it, nothing stays.
    const text = JSON.stringify({ name, outcome, shape, histories }, withoutStacks, 1).replaceAll(
      hostname(),
      'recorder',
    );
    writeFileSync(fileOf(name), `${text}\n`, { flag: 'wx' });
  });

  test('every case has its history', () => {
    expect(CASES.filter((entry) => !existsSync(fileOf(entry.name)))).toEqual([]);
  });
});
