/** Who is told of runs, over a real receiver: it fails at first, and the worker is killed before it takes anything. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verify } from '../../../worker/triggers/signature.ts';
import type { Definition } from '../../../language/model.ts';
import { once, shell } from '../harness/definitions.ts';
import { Harness, until } from '../harness/harness.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';

const SECRET = 'a-secret-of-sixteen-or-more';

interface Got {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  status: number;
}

const got: Got[] = [];
let status = 503;
const receiver = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    got.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(pieces), status });
    response.writeHead(status).end();
  });
});

let harness: Harness;
let worker: WorkerProcess;
const environment = (): Record<string, string> => ({ SENTINEL_PROJECT: harness.project });

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  harness = await Harness.open();
  writeFileSync(
    join(harness.project, 'sentinel.config.mjs'),
    `export default { notify: [
      { url: '${url}/events/told', on: ['failed', 'asked'], secret: '${SECRET}' },
      { url: '${url}/stuck', on: ['stuck', 'stopped'], names: ['bounded-*'] },
    ] };\n`,
  );
  worker = await harness.startWorker(environment());
});
afterAll(async () => {
  await harness.close();
  await new Promise((resolve) => receiver.close(resolve));
});

/** Whether the worker has had all that runs have published. */
async function hasLooked(): Promise<boolean> {
  const sql = new Client({ connectionString: harness.databaseUrl });
  await sql.connect();
  try {
    const { rows } = await sql.query<{ done: boolean }>(
      `select c.position = (select max(position) from published_events)
         and not exists (select 1 from published_events where position is null) as done
       from event_cursors c where name = $1`,
      [`notifications of ${harness.project}`],
    );
    return rows[0]?.done === true;
  } finally {
    await sql.end();
  }
}

const taken = (): Got[] => got.filter((one) => one.status === 200);
const bodyOf = ({ body }: Got): Record<string, unknown> => JSON.parse(body.toString('utf8')) as Record<string, unknown>;
const ofRun = (handle: string): Got[] => taken().filter((one) => bodyOf(one)['handle'] === handle);

test('a failure is told once its receiver takes it, though the worker dies in between, signed and under one id', async () => {
  process.env['PAY_TOKEN'] = 'a-token-that-nobody-sees';
  const failing: Definition = once('failing', [shell('true', { cwd: 'no-such-folder-{{env.PAY_TOKEN}}' })], {
    env: ['PAY_TOKEN'],
  });
  const { handle, result } = await harness.run(failing);
  delete process.env['PAY_TOKEN'];
  expect(result).toMatchObject({ outcome: 'failed' });
  await until(() => got.some((one) => bodyOf(one)['handle'] === handle));
  await worker.kill9();
  status = 200;
  worker = await harness.startWorker(environment());
  await until(() => ofRun(handle).length > 0);
  const [message] = ofRun(handle);
  if (message === undefined) throw new Error('it was taken');
  expect(
    new Set(got.filter((one) => bodyOf(one)['handle'] === handle).map(({ headers }) => headers['x-event-id'])),
  ).toEqual(new Set([bodyOf(message)['id']]));
  expect(bodyOf(message)).toMatchObject({
    event: 'failed',
    name: 'failing',
    handle,
    project: harness.project,
    persona: 'tester',
    code: 'SHELL_NOT_STARTED',
    message: expect.stringContaining('[env PAY_TOKEN]') as string,
  });
  expect(message.body.toString('utf8')).not.toContain('a-token-that-nobody-sees');
  const signed = { id: String(message.headers['x-event-id']), name: 'failed', body: message.body };
  expect(verify(String(message.headers['x-sentinel-signature']), signed, [SECRET], Date.now())).toMatchObject({
    ok: true,
  });
  expect(
    verify(String(message.headers['x-sentinel-signature']), { ...signed, name: 'asked' }, [SECRET], Date.now()).ok,
  ).toBe(false);
});

test('a question of a nested run is told once, with the lines that answer it; its end is the end of the run around it', async () => {
  const inner: Definition = once('inner', [{ type: 'approval', message: 'Go on?' }]);
  const handle = await harness.start(once('outer', [{ type: 'sentinel', definition: inner }]));
  await until(() => taken().some((one) => String(bodyOf(one)['handle']).startsWith(`${handle}/`)));
  const about = (): Got[] => taken().filter((one) => String(bodyOf(one)['handle']).startsWith(handle));
  const [message] = about();
  const { question, answer } = bodyOf(message as Got) as { question: { id: string; kind: string }; answer: string[] };
  expect(question).toMatchObject({ kind: 'approval' });
  const line = answer.find((one) => one.endsWith(' reject')) ?? '';
  const { code } = await harness.command(...line.split(' ').slice(1));
  expect(code).toBe(0);
  expect(await harness.result(handle)).toMatchObject({ outcome: 'failed' });
  await until(() => about().length > 1);
  expect(about().map((one) => [bodyOf(one)['event'], bodyOf(one)['name']])).toEqual([
    ['asked', 'inner'],
    ['failed', 'outer'],
  ]);
});

test('each address hears of what it asks for alone', async () => {
  const bounded: Definition = {
    name: 'bounded-run',
    loop: { type: 'count', max: 3 },
    safety: { maxIterations: 3, budget: { steps: 1 } },
    steps: [shell('true')],
  };
  const [one, other] = [await harness.run(bounded), await harness.run({ ...bounded, name: 'another' })];
  const fine = await harness.run(once('bounded-fine', [shell('true')]));
  await until(() => ofRun(one.handle).length > 0);
  // Every notice has been looked at: who is to be told has been told.
  await until(hasLooked);
  expect(ofRun(one.handle).map(({ path }) => path)).toEqual(['/stuck']);
  expect(bodyOf(ofRun(one.handle)[0] as Got)).toMatchObject({ event: 'stopped', limit: 'budget.steps' });
  expect(ofRun(other.handle)).toEqual([]);
  expect(ofRun(fine.handle)).toEqual([]);
});

const asks = (name: string): Definition =>
  once(name, [{ type: 'approval', message: 'Go on?', assignee: 'grace', onError: 'skip' }]);

test('a question that was answered before anybody could be told is not asked any more; one that is open says who is meant', async () => {
  await worker.kill9();
  worker = await harness.startWorker();
  const [answered, open] = [await harness.start(asks('answered')), await harness.start(asks('still-open'))];
  for (const handle of [answered, open])
    await until(async () => (await harness.store.inbox.open(handle)).includes('steps.0@1'));
  expect((await harness.command('answer', answered, 'steps.0@1', 'reject', '--by', 'grace')).code).toBe(0);
  await harness.result(answered);
  await worker.kill9();
  worker = await harness.startWorker(environment());
  await until(() => ofRun(open).length > 0);
  // Both were noted before the other was told.
  await until(hasLooked);
  expect(bodyOf(ofRun(open)[0] as Got)).toMatchObject({ event: 'asked', question: { assignee: 'grace' } });
  expect(got.filter((one) => bodyOf(one)['handle'] === answered)).toEqual([]);
});
