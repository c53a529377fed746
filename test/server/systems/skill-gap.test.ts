/** A text of the authors that stands on memories, with a scripted model, judged by what the model was sent, by events and by rows. */
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { read } from '../../project/tree.ts';
import { once } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import { listModel } from '../harness/models/broken-project.ts';
import { answers, ScriptedModel } from '../harness/models/model-runs.ts';

const fails = once('breaks', [{ type: 'shell', command: 'exit 3', failOn: 'nonzero' }]);
const gaps = { gaps: ['exit codes'], worstGap: { domain: 'exit codes', priority: 'high' } };

let harness: Harness;
let model: ScriptedModel;
beforeAll(async () => {
  model = await new ScriptedModel(() => answers(JSON.stringify(gaps))).open();
  listModel(model);
  harness = await Harness.open();
  await harness.startWorker({ ...model.env, SENTINEL_PROJECT: harness.project });
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

test('7.1 as it was written: what a persona remembers of its failures becomes a need for training', async () => {
  const persona = 'learner-ai';
  const query = <Row extends object>(text: string): Promise<Row[]> => rowsOf(harness.databaseUrl, text);
  await harness.result(await harness.start(fails, { handle: `fails-${harness.taskQueue}`, persona }));
  await until(async () => (await query(`select 1 from memory_entries where persona = '${persona}'`)).length > 0);

  const written = JSON.parse(read('test/cases/definitions/as-written/olympic-7.1-skill-gap-detector.json')) as {
    definition: Definition;
  };
  const handle = await harness.start(written.definition, { handle: `gaps-${harness.taskQueue}`, persona });
  await until(
    async () => (await query(`select 1 from published_events where name = 'persona:training:needed'`)).length > 0,
  );
  await harness.command('stop', handle);
  const [asked] = model.double.asked.filter(({ body }) => 'messages' in body);
  expect(JSON.stringify(asked?.body)).toContain('SHELL_EXIT_NONZERO');
  expect(await query(`select data from published_events where name = 'persona:training:needed'`)).toMatchObject([
    { data: { gaps: ['exit codes'] } },
  ]);
  expect(await query(`select data from records where collection = 'training_needs'`)).toMatchObject([
    { data: { gaps: ['exit codes'], priority: 'high' } },
  ]);
});

async function rowsOf<Row extends object>(connectionString: string, text: string): Promise<Row[]> {
  const database = new Client({ connectionString });
  await database.connect();
  try {
    return (await database.query<Row>(text)).rows;
  } finally {
    await database.end();
  }
}
