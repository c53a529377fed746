/**
 * Everything that leaves a run or its worker is looked through for two secrets: one that the definition lists, and the
 * worker's own key of a provider, which quotes it in errors and in answers. Both are written in every way that
 * programs have, come in by every way into a run, and are looked for in every table, history, log and verb.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Step } from '../../../language/model.ts';
import { printings, writings } from '../../language/masking/writings.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { answers, ScriptedModel } from '../harness/models/model-runs.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const OWN = `sk-own/${randomBytes(20).toString('base64url')}&=`;
const LISTED = `l1st/${randomBytes(9).toString('base64')}"q'é&<${randomBytes(6).toString('hex')}`;
/** Values are kept here until their runs have ended. */
const KEPT_IN = 'sealed_values';

const written = (secret: string): string[] => Object.values(writings).map((write) => write(secret));
const printed = (secret: string): Buffer =>
  Buffer.concat(
    [...written(secret).map((text) => Buffer.from(text)), ...Object.values(printings).map((print) => print(secret))]
      .map((bytes) => [bytes, Buffer.from('\n--\n')])
      .flat(),
  );

let harness: Harness;
let model: ScriptedModel;
let worker: WorkerProcess;
const said: string[] = [];
const error = (status: number): ReturnType<typeof answers> => ({
  status,
  headers: { 'content-type': 'application/json' },
  pieces: [
    JSON.stringify({
      error: { type: 'invalid_request_error', message: `no: ${'x'.repeat(150)} ${OWN} ${written(OWN).join(' ')}` },
    }),
  ],
});

beforeAll(async () => {
  harness = await Harness.open();
  process.env['SHOP_TOKEN'] = LISTED;
  model = await new ScriptedModel(({ name }) => {
    if (name.startsWith('refuses')) return error(Number(name.slice('refuses'.length)));
    return answers(`You said ${OWN}: ${written(OWN).join(' ; ')}`);
  }).open();
  harness.variables = { ...model.env, OPENAI_API_KEY: OWN };
  writeFileSync(join(harness.project, 'own.txt'), printed(OWN));
  writeFileSync(join(harness.project, 'listed.txt'), printed(LISTED));
  worker = await harness.startWorker();
});
afterAll(async () => {
  delete process.env['SHOP_TOKEN'];
  await harness.close();
  await model.close();
});

const ask = (prompt: string): Step => ({
  type: 'llm',
  model: 'openai/some-model',
  prompt,
  outputTo: 'told',
  onError: 'skip',
});
const files = ['own.txt', 'listed.txt'];
const reads: Step[] = files.flatMap((file): Step[] => [
  shell(`cat ${file}; cat ${file} >&2`, { outputTo: 'printed' }),
  shell(`cat ${file} >&2; exit 3`, { failOn: 'nonzero', onError: 'skip' }),
  { type: 'command', command: 'code/read', params: { path: file, encoding: 'base64' }, outputTo: 'read' },
  { type: 'command', command: 'code/search', params: { pattern: '.', path: file }, outputTo: 'found', onError: 'skip' },
  { type: 'command', command: 'code/read', params: { path: 'none/{{printed.stdout}}' }, onError: 'skip' },
  {
    type: 'command',
    command: 'data/create',
    params: { collection: 'kept', data: { a: '{{printed.stdout}}', b: '{{read}}' } },
  },
  {
    type: 'command',
    command: 'collaboration/chat/send',
    params: { room: 'ops', message: '{{printed.stderr}}' },
    onError: 'skip',
  },
  {
    type: 'command',
    command: 'code/shell/execute',
    params: { command: `cat ${file}; sleep 1`, wait: false },
    outputTo: 'held',
  },
  { type: 'emit', event: 'told', data: { text: '{{printed.stdout}}' } },
  {
    type: 'sentinel',
    definition: once('inner', [shell('printf %s "$T"', { env: { T: '{{input.t}}' } })]),
    inputs: { t: '{{printed.stdout}}' },
  },
]);

/** Every text there is, apart from what is escaped around it. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return [Buffer.from(value).toString()];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => [key, ...textsIn(item)]);
}

function expectNoSecret(place: string, value: unknown): void {
  const text = textsIn(value).join('\n');
  for (const [name, secret] of Object.entries({ OWN, LISTED }))
    for (const [way, write] of Object.entries(writings)) {
      const whole = write(secret);
      // Lines that are broken are broken elsewhere in more.
      const part = way === 'base64 in lines' ? whole.slice(0, 40) : whole;
      expect(text.includes(part), `${name} as ${way} in ${place}`).toBe(false);
    }
}

async function rows(): Promise<Record<string, unknown[]>> {
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    const all: Record<string, unknown[]> = {};
    for (const { name } of tables.rows) all[name] = (await client.query(`select * from "${name}"`)).rows;
    return all;
  } finally {
    await client.end();
  }
}

test('no secret is in what runs, workers and verbs leave behind', async () => {
  const definition = once(
    'doors',
    [
      ...reads,
      ask('answers to {{printed.stdout}}'),
      ...[400, 401, 403, 404, 422].map((status) => ask(`refuses${status} go`)),
      { type: 'fail', message: 'It said {{printed.stdout}}', code: 'SAID' },
    ],
    { env: ['SHOP_TOKEN'] },
  );
  const { handle, result } = await harness.run(definition);
  expect(result.outcome).toBe('failed');
  // The worker was told all of it, and masked it.
  const events = JSON.stringify(await harness.events(handle));
  expect(events).toContain('[OPENAI_API_KEY]');
  expect(events).toContain('[env SHOP_TOKEN]');
  expect(model.turns.length).toBeGreaterThan(4);

  const stored = await rows();
  expect(stored[KEPT_IN]?.length).toBeGreaterThan(0);
  for (const [table, list] of Object.entries(stored)) if (table !== KEPT_IN) expectNoSecret(`the table ${table}`, list);

  for await (const { workflowId, runId } of harness.client.workflow.list({
    query: `TaskQueue = "${harness.taskQueue}"`,
  })) {
    const history = await harness.client.workflow.getHandle(workflowId, runId).fetchHistory();
    expectNoSecret(`the history of ${workflowId}`, history);
  }
  expectNoSecret('what the worker said', worker.output);
  for (const call of model.turns) expectNoSecret('a request to a provider', call);

  const verbs = [
    ['status', handle],
    ['trace', handle],
    ['logs', handle],
    ['transcript', handle],
    ['events', '--run', handle],
    ['inbox', '--all'],
    ['incidents'],
    ['costs', handle],
    ['diff', handle, handle],
    ['changes', handle],
    ['undo', handle, '--dry-run'],
    ['cassette', handle],
    ['samples', handle],
    ['chat', 'ops'],
    ['data', 'list', 'kept'],
    ['list'],
    ['graph', handle],
    ['explain', 'doors'],
  ];
  for (const verb of verbs)
    for (const form of [[], ['--json']]) {
      const { out, err } = await harness.command(...verb, ...form);
      said.push(out);
      expectNoSecret(`sentinel ${[...verb, ...form].join(' ')}`, [out, err]);
    }
  expect(said.join('').length).toBeGreaterThan(1_000);
});
