/** 400 turns with results of 5 KB: each history stays small, and the database grows by what each turn adds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../../prisma/store/connection/database.ts';
import { workflowIdOf } from '../../../workflows/messages/messages.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../harness/models/model-runs.ts';

const MIB = 1024 * 1024;
const turns = 400;
const resultBytes = 5 * 1024;

let harness: Harness;
let model: ScriptedModel;
let database: Database;
beforeAll(async () => {
  harness = await Harness.open();
  database = new Database(harness.databaseUrl, 1);
  for (let turn = 1; turn < turns; turn += 1) {
    const text = `${turn} `.repeat(resultBytes).slice(0, resultBytes);
    writeFileSync(join(harness.project, `${turn}.txt`), text);
  }
  model = await new ScriptedModel().open(({ turn }) =>
    turn === turns
      ? answers('All of it is read.')
      : calls({ id: `read-${turn}`, name: 'code_read', input: { path: `${turn}.txt` } }),
  );
});
afterAll(async () => {
  await database.close();
  await harness.close();
  await model.close();
});

/** What the database holds of a run, its indexes too, in bytes. */
async function stored(): Promise<number> {
  const [row] = await database.query<{ bytes: number }>(
    `select sum(pg_total_relation_size(c.oid))::bigint as bytes from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind = 'r'`,
    [],
  );
  return row?.bytes ?? 0;
}

const answered = async (handle: string): Promise<number> =>
  (await harness.store.conversations.turns(handle)).filter(({ answer }) => answer !== null).length;

test('400 turns', async () => {
  await harness.startWorker(model.environment);
  const empty = await stored();
  const handle = await harness.start(
    once('long', [
      {
        type: 'llm',
        model: 'openai/some-model',
        prompt: 'long Read what there is',
        tools: ['code/read'],
        maxTurns: turns,
        outputTo: 'answer',
      },
    ]),
  );
  while ((await answered(handle)) < turns / 2) await sleep(100);
  const half = (await stored()) - empty;
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: { answer: 'All of it is read.' },
  });
  const whole = (await stored()) - empty;
  expect(model.paid.get('long')).toEqual(Array.from({ length: turns }, () => 1));
  const histories = async (): Promise<number[]> => {
    const sizes: number[] = [];
    for await (const { historySize = 0 } of harness.client.workflow.list({
      query: `WorkflowId = "${workflowIdOf(handle)}"`,
    }))
      sizes.push(historySize);
    return sizes;
  };
  await until(async () => (await histories()).length > 0 && (await histories()).every((size) => size > 0));
  const sizes = await histories();
  const largest = Math.max(...sizes);
  process.stdout.write(
    `400 turns with 5 KB results: ${sizes.length} histories, the largest of ${inMib(largest)} MiB; ${inMib(half)} MiB stored after half of them, ${inMib(whole)} MiB after all\n`,
  );
  expect(largest).toBeLessThan(2 * MIB);
  // Linear in messages; a table of every request would hold 1 GB by now, half of it in the last third.
  expect(whole).toBeLessThan(half * 2.3);
  expect(whole).toBeLessThan(turns * resultBytes * 4);
});

const inMib = (bytes: number): string => (bytes / MIB).toFixed(2);
