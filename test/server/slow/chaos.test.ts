/**
 * Random definitions on real services, while the worker is killed, runs are held and resumed, and
 * questions are answered, some twice, at random moments: every run ends, with the trace that the
 * scripted host says it has, and every row is written once.
 *
 * A failure names the seed; SENTINEL_CHAOS_SEED=… runs it again.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Definition, Step } from '../../../language/model.ts';
import type { AnswerReply, AnswerRequest } from '../../../workflows/interpreter/answers.ts';
import { ANSWER } from '../../../workflows/messages.ts';
import { runCase, STRAIGHT } from '../../interpreter/run-case.ts';
import { counted, create, once, shell } from '../definitions.ts';
import { Harness } from '../harness.ts';
import { randomFrom } from '../random.ts';
import { shapeOf } from '../trace-shape.ts';

const seed = Number(process.env['SENTINEL_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const upTo = (count: number): number => Math.floor(random() * count);
const pick = <Item>(items: readonly Item[]): Item => {
  const item = items[upTo(items.length)];
  if (item === undefined) throw new Error('there is nothing to pick from');
  return item;
};

const runsMade = 15;
const killsMax = 6;
const chaosMs = 40_000;

let rows = 0;

/** Every row that is written says which step wrote it. */
function leaf(): Step {
  rows += 1;
  return pick<() => Step>([
    () => create('chaos', { row: rows, pass: '$iteration' }),
    () => create('chaos', { row: rows, pass: '$iteration' }),
    () => ({ type: 'emit', event: 'chaos:happened' }),
    () => shell(`sleep 0.${upTo(6)}; echo ${rows}`, { outputTo: 'said' }),
    () => ({ type: 'approval', message: `Go on with ${rows}?` }),
  ])();
}

const block = (depth: number): Step[] => Array.from({ length: 1 + upTo(3) }, () => step(depth));

function step(depth: number): Step {
  if (depth === 0 || random() < 0.4) return leaf();
  return pick<() => Step>([
    () => ({ type: 'condition', check: '$iteration < 2', then: block(depth - 1), else: block(depth - 1), always: [leaf()] }),
    () => ({ type: 'loop', loop: { type: 'count', max: 2 }, steps: block(depth - 1) }),
    () => ({ type: 'parallel', branches: [block(depth - 1), block(depth - 1)] }),
    () => ({ type: 'sentinel', definition: counted('child', 2, block(depth - 1)) }),
  ])();
}

interface Expected {
  /** By the place of the run: empty for the outermost. */
  traces: { [place: string]: string[] };
  rows: unknown[];
}

async function expectedOf(definition: Definition): Promise<Expected> {
  const { runs, effects } = await runCase({ definition, answers: { '**': { choice: 'approve' } } }, STRAIGHT);
  const written = Object.values(effects).flatMap((effect) => (isCreate(effect) ? [effect.params.data] : []));
  return { traces: Object.fromEntries(runs.map((run) => [run.walk.input.handle.replace(/^run/, ''), inner(shapeOf(run.events))])), rows: written };
}

const isCreate = (effect: unknown): effect is { params: { data: unknown } } =>
  typeof effect === 'object' && effect !== null && 'command' in effect && effect.command === 'data/create';

/** The scripted host records what happens inside a run, not its start and end. */
const inner = (shape: string[]): string[] => shape.filter((line) => !line.startsWith('run'));

let harness: Harness;
const definitions = Array.from({ length: runsMade }, (_, n) => once(`chaos-${n}`, block(3), random() < 0.3 ? { always: [leaf()] } : {}));
const expected: Expected[] = [];
beforeAll(async () => {
  for (const definition of definitions) expected.push(await expectedOf(definition));
  vi.useRealTimers();
  harness = await Harness.open();
});
afterAll(() => harness.close());

/** A run may have ended, or its worker be away: then it hears nothing. */
const unlessDeaf = (said: Promise<unknown>): Promise<unknown> => Promise.race([said.catch(() => undefined), sleep(5000)]);

async function answerAll(): Promise<void> {
  const open = (await harness.store.inbox.list({})).filter((item) => item.state === 'open');
  const answer = (handle: string, request: AnswerRequest): Promise<AnswerReply> =>
    harness.workflow(handle).executeUpdate<AnswerReply, [AnswerRequest]>(ANSWER, { args: [request] });
  const said = open.flatMap(({ handle, id }) => {
    const request: AnswerRequest = { id, choice: 'approve', by: 'ada' };
    return random() < 0.3 ? [answer(handle, request), answer(handle, request)] : [answer(handle, request)];
  });
  await Promise.all(said.map((one) => unlessDeaf(one)));
}

async function holdFor(handle: string): Promise<void> {
  const ms = upTo(400);
  await unlessDeaf(harness.say(handle, 'pause'));
  await sleep(ms);
  await unlessDeaf(harness.say(handle, 'resume'));
}

async function allEnded(handles: string[]): Promise<boolean> {
  const found = await Promise.all(handles.map((handle) => harness.store.runs.find(handle)));
  return found.every((run) => typeof run?.finishedAt === 'number');
}

test(`seed ${seed}: kills, pauses and answers change nothing`, async () => {
  let worker = await harness.startWorker();
  const handles = await Promise.all(
    definitions.map((definition, n) => harness.start(definition, { handle: `chaos-${n}`, ...(n % 3 === 0 ? {} : { continueEvery: (n % 3) * 2 - 1 }) })),
  );
  const until = Date.now() + chaosMs;
  let kills = 0;
  while (Date.now() < until && !(await allEnded(handles))) {
    await sleep(upTo(700));
    const held = holdFor(pick(handles));
    if (random() < 0.3) await answerAll();
    if (random() < 0.4 && kills < killsMax) {
      await worker.kill9();
      worker = await harness.startWorker();
      kills += 1;
    }
    await held;
  }
  expect(kills).toBeGreaterThan(0);
  await untilNothingMoves(handles);
  await expectAsScripted(handles);
});

/**
 * Until every run has ended, or none has recorded anything for a minute. Runs that continue as new at
 * every step take a second for each of them, because the server holds them back.
 */
async function untilNothingMoves(handles: string[]): Promise<void> {
  let [moved, last] = [Date.now(), ''];
  while (!(await allEnded(handles)) && Date.now() - moved < 60_000) {
    // A pause that was said to a dead worker is heard by the next one, after its resume.
    await Promise.all(handles.map((handle) => unlessDeaf(harness.say(handle, 'resume'))));
    await answerAll();
    await sleep(1000);
    const now = await progress();
    if (now !== last) [moved, last] = [Date.now(), now];
  }
}

/** Changes whenever a run begins, ends, or records something. */
async function progress(): Promise<string> {
  const runs = await harness.store.runs.list({ limit: 10_000 });
  const counts = await Promise.all(runs.map(async ({ handle, finishedAt }) => (finishedAt === null ? (await harness.events(handle)).length : -1)));
  return counts.join(' ');
}

const texts = (all: readonly unknown[]): string[] => all.map((row) => JSON.stringify(row)).toSorted();

async function expectAsScripted(handles: string[]): Promise<void> {
  for (const [n, handle] of handles.entries()) {
    const run = await harness.store.runs.find(handle);
    const stuck = typeof run?.finishedAt === 'number' ? null : await standing(handle);
    expect({ seed, handle, outcome: run?.outcome, stuck }).toEqual({ seed, handle, outcome: 'completed', stuck: null });
    const traces: Expected['traces'] = {};
    for (const place of Object.keys(expected[n]?.traces ?? {})) traces[place] = inner(shapeOf(await harness.events(`${handle}${place}`)));
    expect({ seed, handle, traces }).toEqual({ seed, handle, traces: expected[n]?.traces });
  }
  expect({ seed, rows: texts(await harness.rows('chaos')) }).toEqual({ seed, rows: texts(expected.flatMap((run) => run.rows)) });
}

/** What a run that did not end came to: how it and the runs nested in it stand, and why a workflow task of theirs failed. */
async function standing(handle: string): Promise<unknown> {
  const open = (await harness.store.runs.list({ limit: 1000 })).filter((run) => `${run.handle}/`.startsWith(`${handle}/`) && run.finishedAt === null);
  return Promise.all(
    open.map(async ({ handle: place }) => {
      const { events } = await harness.history(place);
      const failed = events?.findLast((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes?.failure?.message;
      return { place, failed: failed ?? null, state: await harness.state(place).catch(String) };
    }),
  );
}
