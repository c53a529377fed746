/**
 * The same trace whatever happens underneath: for every shipped definition and some of our own, the
 * scripted host says what the trace is, and real runs must show it with continue-as-new forced, with
 * no workflow cache, with workers killed at seeded moments, and with everything said to them twice.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Definition } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { runCase, STRAIGHT } from '../../interpreter/harness/run-case.ts';
import type { ScriptedReply } from '../../../interpreter/simulation/script.ts';
import { counted, create, once, shell } from '../harness/definitions.ts';
import { Harness } from '../harness/harness.ts';
import { randomFrom } from '../harness/random.ts';
import { shapeOf } from '../harness/trace-shape.ts';
import { catalogue } from '../../catalogue.ts';

const folder = fileURLToPath(new URL('../../../sentinels/examples/', import.meta.url));

/** In two turns: what one refers to may be in a file that comes later. */
function shipped(): Definition[] {
  const texts = readdirSync(folder)
    .filter((name) => !name.endsWith('.sentinel-test.json'))
    .map((name) => ({ name, value: JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown }));
  const found = new Map<string, Definition>();
  for (let turn = 1; ; turn += 1) {
    for (const { name, value } of texts) {
      const read = parseDefinition(value, { catalogue, knownRefs: (ref) => found.get(ref) });
      if (read.ok) found.set(read.definition.name, read.definition);
      else if (turn > 1) throw new Error(`${name}: ${read.problems[0]?.message ?? ''}`);
    }
    if (turn > 1) return [...found.values()];
  }
}

const skip = { onError: 'skip' } as const;

const own: Definition[] = [
  once('mixed', [
    create('mixed', { n: 1 }, 'row'),
    {
      type: 'condition',
      check: '$row.n === 1',
      then: [shell('true'), create('mixed', { n: 2 })],
      else: [shell('false')],
    },
    {
      type: 'loop',
      loop: { type: 'while', check: '$iteration < 3', maxIterations: 9 },
      steps: [
        { type: 'emit', event: 'turn' },
        { type: 'loop', loop: { type: 'count', max: 2 }, steps: [create('mixed', { at: '$iteration' })] },
      ],
    },
    { type: 'command', command: 'code/read', params: { path: 'no-such-file' }, ...skip },
    {
      type: 'parallel',
      branches: [
        [create('fan', { b: 0 }), shell('echo 0'), create('fan', { b: 0.5 })],
        [{ type: 'loop', loop: { type: 'count', max: 3 }, steps: [create('fan', { b: 1 }), shell('true')] }],
        [{ type: 'sentinel', definition: counted('branch-child', 2, [create('child', { n: '$iteration' })]) }],
      ],
    },
  ]),
  counted('nests', 3, [
    {
      type: 'sentinel',
      definition: counted('inner', 2, [create('inner', { n: '$iteration' }), shell('true')]),
      outputTo: 'inner',
    },
    { type: 'sentinel', definition: once('left-alone', [shell('true')]), await: false },
    { type: 'emit', event: 'passed', data: '$inner.iterations' },
  ]),
  once('fails', [
    create('fails', {}),
    {
      type: 'parallel',
      branches: [[shell('true')], [{ type: 'command', command: 'code/read', params: { path: 'no-such-file' } }]],
    },
    create('never', {}),
  ]),
  counted('each-a-step', 4, [create('stepwise', { n: '$iteration' }), { type: 'emit', event: 'stepped' }], {
    durability: 'step',
  }),
];

const library = new Map(shipped().map((definition) => [definition.name, definition]));
const definitions = [...library.values(), ...own];
const known = (name: string): Definition | undefined => library.get(name);

/** What the world answers, as far as branches depend on it. */
const replies: { [pattern: string]: ScriptedReply } = {
  'steps.2.branches.1.0@1': { ok: true, tookMs: 60_000 },
  'code/read': { ok: false, failure: { code: 'FILE_NOT_FOUND' } },
  'health-check': { ok: true, value: { status: 'healthy' } },
};

/** Traces of the run and of every run nested in it, by their place. */
type Traces = { [place: string]: string[] };

async function scripted(definition: Definition): Promise<Traces> {
  const refs = Object.fromEntries(library);
  const slow =
    definition.name === 'fan-out'
      ? replies
      : Object.fromEntries(Object.entries(replies).filter(([key]) => !key.startsWith('steps.')));
  const row = { 'data/create': { ok: true, value: { n: 1 } } };
  const outcome = await runCase({ definition, library: refs, replies: { ...slow, ...row } }, STRAIGHT);
  return Object.fromEntries(
    outcome.runs.map((run) => [run.walk.input.handle.replace(/^run/, ''), inner(shapeOf(run.events))]),
  );
}

/** The scripted host records what happens inside a run, not its start and end. */
const inner = (shape: string[]): string[] => shape.filter((line) => !line.startsWith('run'));

async function tracesOf(harness: Harness, handle: string, places: string[]): Promise<Traces> {
  const traces: Traces = {};
  for (const place of places) {
    await harness.result(`${handle}${place}`);
    const shape = shapeOf(await harness.events(`${handle}${place}`));
    expect(shape.filter((line) => line.startsWith('run'))).toHaveLength(2);
    traces[place] = inner(shape);
  }
  return traces;
}

const expected = new Map<string, Traces>();
const open: Harness[] = [];
beforeAll(async () => {
  for (const definition of definitions) expected.set(definition.name, await scripted(definition));
  // The scripted host sets the clock; what follows is real.
  vi.useRealTimers();
});
afterAll(async () => {
  await Promise.all(open.map((harness) => harness.close()));
});

async function openHarness(): Promise<Harness> {
  const harness = await Harness.open();
  open.push(harness);
  writeFileSync(
    join(harness.project, 'package.json'),
    JSON.stringify({ name: 'empty', version: '1.0.0', private: true }),
  );
  mkdirSync(join(harness.project, 'src'));
  return harness;
}

async function expectSame(harness: Harness, runs: { definition: Definition; handle: string }[]): Promise<void> {
  for (const { definition, handle } of runs) {
    const traces = expected.get(definition.name) ?? {};
    expect(await tracesOf(harness, handle, Object.keys(traces)), definition.name).toEqual(traces);
  }
}

async function startAll(
  harness: Harness,
  every: (number | undefined)[],
): Promise<{ definition: Definition; handle: string }[]> {
  const variants = definitions.flatMap((definition) => every.map((continueEvery) => ({ definition, continueEvery })));
  return Promise.all(
    variants.map(async ({ definition, continueEvery }) => {
      const options = continueEvery === undefined ? { known } : { known, continueEvery };
      return { definition, handle: await harness.start(definition, options) };
    }),
  );
}

test.concurrent('with continue-as-new after every step, every 3 and every 7', async () => {
  const harness = await openHarness();
  await harness.startWorker();
  await expectSame(harness, await startAll(harness, [1, 3, 7]));
});

test.concurrent('with no workflow cache', async () => {
  const harness = await openHarness();
  await harness.startWorker({ SENTINEL_MAX_CACHED_WORKFLOWS: '0' });
  await expectSame(harness, await startAll(harness, [undefined]));
});

test.concurrent('with the worker killed at seeded moments', async () => {
  const harness = await openHarness();
  const random = randomFrom(20_261_121);
  let worker = await harness.startWorker();
  const runs = await startAll(harness, [undefined, 2]);
  for (let kill = 0; kill < 3; kill += 1) {
    await sleep(200 + random() * 1500);
    await worker.kill9();
    worker = await harness.startWorker();
  }
  await expectSame(harness, runs);
});

test.concurrent('with pause and resume said twice, at seeded moments', async () => {
  const harness = await openHarness();
  const random = randomFrom(42);
  await harness.startWorker();
  const runs = await startAll(harness, [undefined, 3]);
  for (let round = 0; round < 3; round += 1) {
    await sleep(random() * 500);
    await Promise.all(runs.map(({ handle }) => sayTwice(harness, handle)));
  }
  await expectSame(harness, runs);
});

/** A run may end meanwhile; then there is nothing left to say. */
async function sayTwice(harness: Harness, handle: string): Promise<void> {
  for (const verb of ['pause', 'pause', 'resume', 'resume'] as const)
    await harness.say(handle, verb).catch(() => undefined);
}
