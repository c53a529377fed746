/**
 * Random definitions on real services, while workers are killed, runs are held, resumed and edited,
 * and questions are answered, some twice, at random moments: every run ends, with the trace that the
 * scripted host says it has when it is given the same replies, answers and edits, and every row is
 * written once.
 *
 * A failure names the seed, and of the first run that differs its definition and where it differs;
 * SENTINEL_CHAOS_SEED=… makes the same choices again, though not at the same moments, and
 * SENTINEL_CHAOS_RUNS=… as many runs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answerRun } from '../../../runs/steer-run.ts';
import { isJsonObject, type Json } from '../../../language/json.ts';
import type { Definition } from '../../../language/model.ts';
import { defined } from '../../../language/defined.ts';
import type { AnswerReply, AnswerRequest } from '../../../interpreter/questions.ts';
import type { EditReply, EditRequest, StepList } from '../../../interpreter/edits.ts';
import { EDIT, QUERIES } from '../../../workflows/messages/messages.ts';
import { Harness } from '../harness/harness.ts';
import { Double } from '../../models/wires/double.ts';
import { answerAll } from './chaos-model.ts';
import type { WorkerProcess } from '../harness/worker-process.ts';
import { retold } from './as-scripted.ts';
import { Chance, COLLECTION, EMITTED, RandomDefinitions } from './chaos-definitions.ts';
import { keepHistories, notReplayed } from '../harness/replayed.ts';

const seed = Number(process.env['SENTINEL_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const runsMade = Number(process.env['SENTINEL_CHAOS_RUNS'] ?? 200);
const atOnce = 40;
const meddlers = 8;
const killEveryMs = 3000;
/** A step whose worker died is tried again after 16 s. */
const stillMs = 60_000;

const chance = new Chance(seed);
const random = new RandomDefinitions(chance);
const definitions = new Map(
  Array.from({ length: runsMade }, (_, n): [string, Definition] => [`chaos-${n}`, random.definition(`chaos-${n}`)]),
);

let harness: Harness;
let double: Double;
const environment = (): NodeJS.ProcessEnv => ({
  OPENAI_API_KEY: 'key-of-a-test',
  OPENAI_BASE_URL: `${double.url}/v1`,
});
const workers: WorkerProcess[] = [];
beforeAll(async () => {
  harness = await Harness.open();
  double = await new Double().open();
  answerAll(double);
  workers.push(...(await Promise.all([harness.startWorker(environment()), harness.startWorker(environment())])));
});
afterAll(async () => {
  await harness.close();
  await double.close();
});

/** How often each thing happened. */
const counts = { kills: 0, pauses: 0, answers: 0, edits: 0, refused: 0 };

/** A run may have ended, or its worker be away: then it hears nothing. */
const heard = (said: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    said.then(
      () => true,
      () => false,
    ),
    sleep(8000, false),
  ]);

/** Handles of the runs that go on, nested ones too. */
async function openRuns(): Promise<string[]> {
  const runs = await harness.store.runs.list({ limit: 10_000 });
  return runs.filter(({ finishedAt }) => finishedAt === null).map(({ handle }) => handle);
}

async function answerOpen(share: number): Promise<void> {
  const open = (await harness.store.inbox.list({})).filter((item) => item.state === 'open' && chance.isLess(share));
  const answer = (handle: string, request: AnswerRequest): Promise<AnswerReply> =>
    answerRun(harness.client, handle, request);
  const said = open.flatMap(({ handle, id }) => {
    const request: AnswerRequest = { id, choice: chance.isLess(0.8) ? 'approve' : 'reject', by: 'ada' };
    return chance.isLess(0.3)
      ? [answer(handle, request), answer(handle, { ...request, choice: 'approve', by: 'bob' })]
      : [answer(handle, request)];
  });
  counts.answers += (await Promise.all(said.map((one) => heard(one)))).filter(Boolean).length;
}

async function hold(handle: string, act: () => Promise<void>): Promise<void> {
  const ms = chance.upTo(400);
  if (await heard(harness.say(handle, 'pause'))) counts.pauses += 1;
  await act();
  await sleep(ms);
  await heard(harness.say(handle, 'resume'));
}

async function edit(handle: string): Promise<void> {
  const made = async (): Promise<EditReply> => {
    const { steps, revision } = await harness.workflow(handle).query<StepList>(QUERIES.steps);
    const request: EditRequest = { ...random.edit(steps), revision, by: 'ada' };
    return harness.workflow(handle).executeUpdate<EditReply, [EditRequest]>(EDIT, { args: [request] });
  };
  if (!(await heard(made()))) counts.refused += 1;
  else counts.edits += 1;
}

async function killWorker(): Promise<void> {
  const index = chance.upTo(workers.length);
  await workers[index]?.kill9();
  counts.kills += 1;
  workers[index] = await harness.startWorker(environment());
}

/** Somebody does one thing after another to runs that go on, until all have ended. */
async function meddle(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(chance.upTo(100));
    const open = await openRuns();
    if (open.length === 0) continue;
    const handle = chance.pick(open);
    await chance.pick([
      () => hold(handle, () => Promise.resolve()),
      () => hold(handle, () => edit(handle)),
      () => edit(handle),
      () => edit(handle),
      () => answerOpen(0.3),
    ])();
  }
}

async function keepKilling(isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await sleep(chance.upTo(2 * killEveryMs));
    if (!isOver()) await killWorker();
  }
}

/** Starts each run when there is room for it; some continue as new after every step, others after three. */
async function startAll(): Promise<void> {
  for (const [n, [handle, definition]] of [...definitions].entries()) {
    await untilFewerThan(atOnce);
    const every = [undefined, 3, undefined, 1][n % 4];
    await harness.start(definition, { handle, ...defined({ continueEvery: every }) });
  }
}

async function untilFewerThan(count: number): Promise<void> {
  while ((await openRuns()).filter((handle) => !handle.includes('/')).length >= count) await sleep(200);
}

/** Until every run has ended, or none has recorded anything for a minute. */
async function untilNothingMoves(): Promise<void> {
  let [moved, last] = [Date.now(), ''];
  for (let open = await openRuns(); open.length > 0 && Date.now() - moved < stillMs; open = await openRuns()) {
    // A pause that was said to a dead worker is heard by the next one, after its resume.
    await Promise.all(open.map((handle) => heard(harness.say(handle, 'resume'))));
    await answerOpen(1);
    await sleep(500);
    const now = JSON.stringify(
      await Promise.all(open.map(async (handle) => [handle, (await harness.events(handle)).length])),
    );
    if (now !== last) [moved, last] = [Date.now(), now];
  }
}

test(`seed ${seed}: kills, pauses, answers and edits change nothing but what they say`, async () => {
  let isOver = false;
  const others = [...Array.from({ length: meddlers }, () => meddle(() => isOver)), keepKilling(() => isOver)];
  await startAll();
  await Promise.race([untilFewerThan(atOnce / 5), sleep(stillMs)]);
  isOver = true;
  await Promise.all(others);
  await untilNothingMoves();
  await expectAsScripted();
  expect(
    await notReplayed(
      harness,
      (await harness.store.runs.list({ limit: 10_000 })).map(({ handle }) => handle),
      seed,
    ),
  ).toEqual([]);
  // A property holds easily of runs that nothing happened to.
  if (runsMade >= 100) expect(Object.entries(counts).filter(([, count]) => count < runsMade / 50)).toEqual([]);
});

const texts = (all: readonly unknown[]): string[] => all.map((row) => JSON.stringify(row)).toSorted();

async function expectAsScripted(): Promise<void> {
  const wanted: Json[] = [];
  for (const [handle, definition] of definitions) {
    const run = await harness.store.runs.find(handle);
    if (typeof run?.finishedAt !== 'number')
      throw new Error(told('did not end', { handle, stuck: await standing(handle), definition }));
    const { difference, effects, events } = await retold(harness, handle, definition).catch(async (error: unknown) => {
      throw new Error(
        told('cannot be retold', {
          handle,
          error: String(error),
          definition,
          kept: await keepHistories(harness, handle, seed),
        }),
      );
    });
    const edits = events.filter((event) => event.type === 'edited');
    if (difference !== null)
      throw new Error(
        told('is not as scripted', {
          handle,
          difference,
          edits,
          definition,
          kept: await keepHistories(harness, handle, seed),
        }),
      );
    wanted.push(...effects);
  }
  expectSame('rows', await harness.rows(COLLECTION), wanted.flatMap(rowOf));
  expectSame('emitted', await emitted(), wanted.flatMap(emissionOf));
}

/** Each as often as the scripted host asked for it; the run that a number belongs to is the one whose definition holds it. */
function expectSame(what: string, found: readonly unknown[], wanted: readonly unknown[]): void {
  const [lived, scripted] = [texts(found), texts(wanted)];
  const surplus = lived.filter((text, index) => lived.indexOf(text) + countIn(scripted, text) <= index);
  const missing = scripted.filter((text, index) => scripted.indexOf(text) + countIn(lived, text) <= index);
  const holders = [...definitions].flatMap(([handle, definition]) =>
    [...surplus, ...missing].some((text) => JSON.stringify(definition).includes(numberIn(text)))
      ? [{ handle, definition }]
      : [],
  );
  if (surplus.length + missing.length > 0)
    throw new Error(`seed ${seed}: ${what} are not as scripted: ${JSON.stringify({ surplus, missing, holders })}`);
}

const countIn = (all: readonly string[], text: string): number => all.filter((other) => other === text).length;
const numberIn = (text: string): string => /"row":\d+/.exec(text)?.[0] ?? text;

/** Whole, however deep it is. */
const told = (finding: string, of: { handle: string; [part: string]: unknown }): string =>
  [
    `seed ${seed}: ${of.handle} ${finding}`,
    ...Object.entries(of).map(([part, value]) => `${part}: ${JSON.stringify(value)}`),
  ].join('\n');

const rowOf = (effect: Json): Json[] =>
  isJsonObject(effect) && effect['command'] === 'data/create' && isJsonObject(effect['params'])
    ? [effect['params']['data'] ?? null]
    : [];
const emissionOf = (effect: Json): Json[] =>
  isJsonObject(effect) && effect['event'] === EMITTED ? [effect['data'] ?? null] : [];

async function emitted(): Promise<unknown[]> {
  const client = new Client({ connectionString: harness.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ data: unknown }>('SELECT data FROM published_events WHERE name = $1', [
      EMITTED,
    ]);
    return rows.map(({ data }) => data);
  } finally {
    await client.end();
  }
}

/** What a run that did not end came to: how it and the runs nested in it stand, and why a workflow task of theirs failed. */
async function standing(handle: string): Promise<unknown> {
  const open = (await openRuns()).filter((run) => `${run}/`.startsWith(`${handle}/`));
  return Promise.all(
    open.map(async (place) => {
      const { events } = await harness.history(place);
      const failed = events?.findLast((event) => event.workflowTaskFailedEventAttributes)
        ?.workflowTaskFailedEventAttributes?.failure?.message;
      return {
        place,
        failed: failed ?? null,
        state: await harness.state(place).catch(String),
        kept: await keepHistories(harness, place, seed),
      };
    }),
  );
}
