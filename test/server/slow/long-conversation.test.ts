/** 400 turns with results of 5 KB: each history stays small, and the database grows by what each turn adds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from '../../../prisma/store/connection/database.ts';
import type { LlmStep } from '../../../language/model.ts';
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
  model = await new ScriptedModel(({ name, turn }) =>
    turn === turns
      ? answers('All of it is read.')
      : calls({ id: `${name}-${turn}`, name: 'code_read', input: { path: `${turn}.txt` } }),
  ).open();
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

/** Of each run that the handle continued as, in bytes. */
async function histories(handle: string): Promise<number[]> {
  const sizes: number[] = [];
  const query = `WorkflowId = "${workflowIdOf(handle)}"`;
  for await (const { historySize = 0 } of harness.client.workflow.list({ query })) sizes.push(historySize);
  return sizes;
}

test.each(['segment', 'step'] as const)('400 turns, durability %s', async (durability) => {
  const worker = await harness.startWorker(model.env);
  const empty = await stored();
  const step: LlmStep = {
    type: 'llm',
    model: 'openai/some-model',
    prompt: `${durability} Read what there is`,
    tools: ['code/read'],
    maxTurns: turns,
    outputTo: 'answer',
  };
  const handle = await harness.start(once('long', [step], { durability }));
  while ((await answered(handle)) < turns / 2) await sleep(100);
  const half = (await stored()) - empty;
  const memory = worker.memory().now;
  expect(await harness.result(handle)).toMatchObject({
    outcome: 'completed',
    outputs: { answer: 'All of it is read.' },
  });
  const whole = (await stored()) - empty;
  expect(model.paid.get(durability)).toEqual(Array.from({ length: turns }, () => 1));
  await until(async () => {
    const sizes = await histories(handle);
    return sizes.length > 0 && sizes.every((size) => size > 0);
  });
  const sizes = await histories(handle);
  const largest = Math.max(...sizes);
  const grown = worker.memory().now - memory;
  process.stdout.write(
    `400 turns with 5 KB results, durability ${durability}: ${sizes.length} histories, the largest of ${inMib(largest)} MiB; ` +
      `${inMib(half)} MiB stored after half of them, ${inMib(whole)} MiB after all; the worker grew by ${inMib(grown)} MiB\n`,
  );
  expect(largest).toBeLessThan(2 * MIB);
  // Linear in messages: all requests together, kept as they were sent, would be 400 MB.
  expect(whole).toBeLessThan(half * 2.5);
  expect(whole).toBeLessThan(20 * MIB);
  expect(grown).toBeLessThan(200 * MIB);
  await worker.kill9();
});

const inMib = (bytes: number): string => (bytes / MIB).toFixed(2);
