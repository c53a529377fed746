/**
 * Records the history of each case, with the trace of the same run: `npm run histories`. Until a version
 * is released nobody has runs to keep, so whoever changes the shape of history records all of them anew.
 * From then on a recorded history is what somebody's run looks like, and stays: SENTINEL_RECORD_HISTORIES=missing
 * records only the cases that have none.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { decodePayloads } from '../../services/seal/decode-payloads.ts';
import { answerRun } from '../../runs/steer-run.ts';
import type { Question } from '../../language/events/question.ts';
import type { JsonObject } from '../../language/json.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { defined } from '../../language/defined.ts';
import { Harness } from '../server/harness/harness.ts';
import { shapeOf } from '../server/harness/trace-shape.ts';
import { Double, type Reply } from '../models/wires/double.ts';
import { openAiWire as wire } from '../models/wires/openai-wire.ts';
import { streamed } from '../models/wires/wire.ts';
import { CASES } from './cases.ts';
import type { HistoryCase, ModelTurn } from './history-case.ts';
import { bundleOf, historyFile, RUNS } from './ledger/versions.ts';
import { fileOf } from './recorded.ts';

/** Stack traces name files of the machine, and replay does not read them. */
function withoutStacks(key: string, value: unknown): unknown {
  if (key === 'stackTrace') return '';
  return key === 'encodedAttributes' ? withoutItsStack(value as { data: string }) : value;
}

/** The message and the stack trace of a failure are one value, which was sealed. */
function withoutItsStack(payload: { data: string }): { data: string } {
  const attributes = JSON.parse(Buffer.from(payload.data, 'base64').toString('utf8')) as JsonObject;
  const data = Buffer.from(JSON.stringify({ ...attributes, stack_trace: '' })).toString('base64');
  return { ...payload, data };
}

const mode = process.env['SENTINEL_RECORD_HISTORIES'];
const wanted = CASES.filter((entry) => mode === 'all' || !existsSync(fileOf(entry.name)));

/** Of the machine that recorded it, nothing stays. */
function writeHistory(file: string, recorded: unknown): void {
  writeFileSync(file, `${JSON.stringify(recorded, withoutStacks, 1).replaceAll(hostname(), 'recorder')}\n`);
}

let harness: Harness;
let double: Double;

/** Its values as they were before they were sealed, so that a reader sees them and a replay needs no key. */
async function inClear(part: unknown): Promise<unknown> {
  if (Array.isArray(part)) return Promise.all(part.map((inner) => inClear(inner)));
  if (typeof part !== 'object' || part === null) return part;
  if ('metadata' in part) {
    const { payloads = [] } = (await decodePayloads(harness.keys, { payloads: [part] })) ?? {};
    return payloads[0] ?? part;
  }
  const fields = Object.entries(part).map(async ([name, inner]) => [name, await inClear(inner)] as const);
  return Object.fromEntries(await Promise.all(fields));
}

/** Every history of the run: each continue-as-new begins another. */
async function historiesOf(handle: string): Promise<unknown[]> {
  const histories: unknown[] = [];
  let runId = (await harness.workflow(handle).describe()).raw.workflowExecutionInfo?.firstRunId ?? undefined;
  while (runId !== undefined && runId !== '') {
    const history = await harness.client.workflow.getHandle(`sentinel/${handle}`, runId).fetchHistory();
    histories.push(await inClear(JSON.parse(historyToJSON(history))));
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

function replyOf(turn: ModelTurn, index: number): Reply {
  if ('asksToWaitSeconds' in turn) return wire.errors.rateLimited({ 'retry-after': String(turn.asksToWaitSeconds) });
  const said =
    'says' in turn
      ? { parts: [{ text: [turn.says] }], reason: wire.reasons.end }
      : {
          parts: [{ call: { id: `call-${index}`, name: turn.calls, pieces: [JSON.stringify(turn.input)] } }],
          reason: wire.reasons.calls,
        };
  return streamed(wire, wire.events(said));
}

describe.skipIf(mode !== 'all' && mode !== 'missing')('recording', () => {
  beforeAll(async () => {
    harness = await Harness.open();
    double = await new Double().open();
    for (const path of ['/v1/models', '/props']) double.route(path, { status: 404, pieces: ['{}'] });
    await harness.startWorker({ OPENAI_API_KEY: 'key-of-a-test', OPENAI_BASE_URL: `${double.url}/v1` });
  });
  afterAll(async () => {
    await harness.close();
    await double.close();
  });

  const madeUpRuns = Object.keys(RUNS) as (keyof typeof RUNS)[];
  test.each(madeUpRuns.filter((run) => mode === 'all' || !existsSync(historyFile(run))))(
    'record the made-up run %s',
    async (run) => {
      const { version, start } = RUNS[run];
      const taskQueue = `made-up-${run}`;
      const connection = await NativeConnection.connect({ address: inject('temporalAddress') });
      const worker = await Worker.create({ connection, taskQueue, workflowBundle: await bundleOf(version) });
      await worker.runUntil(async () => {
        const client = new Client({ connection });
        const handle = await client.workflow.start('madeUp', {
          workflowId: taskQueue,
          taskQueue,
          args: [start],
        });
        await handle.result();
        writeHistory(historyFile(run), JSON.parse(historyToJSON(await handle.fetchHistory())));
      });
      await connection.close();
    },
  );

  test.each(wanted)('record $name', async (entry) => {
    const { name, definition, continueEvery, turns = [] } = entry;
    double.next(...turns.map(replyOf));
    const handle = await harness.start(definition, {
      handle: `recorded-${name}`,
      ...defined({ continueEvery }),
    });
    await steer(entry, handle);
    const { outcome } = await harness.result(handle);
    const histories = await historiesOf(handle);
    expect(histories.length).toBeGreaterThan(0);
    const shape = shapeOf(await harness.events(handle));
    writeHistory(fileOf(name), { name, outcome, shape, histories });
  });
});
