/** A replay whose worker is killed again and again gives each turn the answer that it was recorded with. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordCassette } from '../../../../client/cassettes/recorded-cassette.ts';
import { putCassette } from '../../../../client/cassettes/stored-cassette.ts';
import { startRun } from '../../../../runs/start-run.ts';
import { catalogue } from '../../../catalogue.ts';
import { create, once } from '../../harness/definitions.ts';
import { Harness } from '../../harness/harness.ts';
import { answers, calls, ScriptedModel } from '../../harness/models/model-runs.ts';

let harness: Harness;
let model: ScriptedModel;
beforeAll(async () => {
  harness = await Harness.open();
  // Every turn asks for the same, so that only the order tells their answers apart.
  model = await new ScriptedModel(({ turn }) =>
    turn === TURNS
      ? answers('done')
      : calls({
          id: `call-${turn}`,
          name: 'code_shell_execute',
          input: { command: `echo ${turn} >> turns.log; sleep 0.2` },
        }),
  ).open();
});
afterAll(async () => {
  await harness.close();
  await model.close();
});

const TURNS = 8;
const PASSES = 3;
const definition = once('replayed', [
  {
    type: 'loop',
    loop: { type: 'count', max: PASSES },
    steps: [
      {
        type: 'llm',
        model: 'openai/some-model',
        prompt: 'Go on until it is done',
        tools: ['code/shell/execute'],
        onUnknown: 'retry',
        outputTo: 'answer',
      },
      create('passes', { turns: '$answer.turns', usage: '$answer.usage.tokens' }),
    ],
  },
]);

test('kill -9 in a replay: the same answers, each given once, and no request', async () => {
  const first = await harness.startWorker(model.env);
  const recorded = await harness.run(definition);
  expect(recorded.result.outcome).toBe('completed');
  const { store, client, taskQueue, project } = harness;
  const { text, requests } = await recordCassette(
    {
      store: () => Promise.resolve(store),
      find: async (handle) => {
        const run = await store.runs.find(handle);
        if (run === null) throw new Error(`no run ${handle}`);
        return run;
      },
    },
    [recorded.handle],
  );
  expect(requests).toBe(TURNS * PASSES);
  await first.kill9();
  const asked = model.turns.length;
  const cassette = await putCassette(store, text);
  let worker = await harness.startWorker();
  const { handle } = await startRun(
    { store, client, catalogue, taskQueue },
    { definition, inputs: {}, project, persona: 'tester', cassette },
  );
  for (let kill = 0; kill < 4; kill += 1) {
    await sleep(700 + 450 * kill);
    await worker.kill9();
    worker = await harness.startWorker();
  }
  expect((await harness.result(handle)).outcome).toBe('completed');
  expect(model.turns).toHaveLength(asked);
  const said = async (of: string): Promise<string[]> => {
    const turns = await store.conversations.turns(of);
    return Promise.all(
      turns.map(async ({ conversation, turn }) =>
        JSON.stringify(
          (await store.conversations.read({ handle: of, conversation })).find(
            (row) => row.turn === turn && row.part === 0,
          )?.message,
        ),
      ),
    );
  };
  expect(await said(handle)).toEqual(await said(recorded.handle));
  const [row] = await claimed(handle);
  expect(row).toEqual({ given: TURNS * PASSES });
  const rows = await harness.rows('passes');
  expect(rows.slice(PASSES)).toEqual(rows.slice(0, PASSES));
});

async function claimed(root: string): Promise<{ given: number }[]> {
  const { default: pg } = await import('pg');
  const database = new pg.Client(harness.databaseUrl);
  await database.connect();
  try {
    return (
      await database.query<{ given: number }>(
        'select count(*)::integer as given from replayed_requests where root = $1',
        [root],
      )
    ).rows;
  } finally {
    await database.end();
  }
}
