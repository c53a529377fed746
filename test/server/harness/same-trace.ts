/**
 * What a run of every shipped definition, and of some of our own, must look like, as the scripted host says,
 * and real runs of them to hold against it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, vi } from 'vitest';
import { visitSteps, type KnownRefs } from '../../../language/explain/visit.ts';
import type { Definition } from '../../../language/model.ts';
import { parseDefinition } from '../../../language/read/definition.ts';
import { runCase, STRAIGHT } from '../../interpreter/harness/run-case.ts';
import type { ScriptedReply } from '../../../interpreter/simulation/script.ts';
import { counted, create, once, shell } from './definitions.ts';
import type { Harness } from './harness.ts';
import { useHarnesses } from './opened.ts';
import { shapeOf } from './trace-shape.ts';
import { catalogue } from '../../catalogue.ts';

const folder = fileURLToPath(new URL('../../../sentinels/examples/', import.meta.url));

/** No host of these tests has a model, a remote to push to, a program that goes on, somebody to answer, or a project with commands of its own. */
function needsMore(definition: Definition, known: KnownRefs): boolean {
  let needs = definition.trigger !== undefined;
  visitSteps(definition, known, ({ step }) => {
    const starts = step.type === 'command' && ['code/git', 'code/shell/execute'].includes(step.command);
    const isGiven = step.type === 'shell' && /^\$\w+$/.test(step.command);
    needs ||= step.type === 'llm' || step.type === 'approval' || starts || isGiven;
  });
  return needs;
}

/** In two turns: what one refers to may be in a file that comes later. */
function shipped(): Definition[] {
  const texts = readdirSync(folder)
    .filter((name) => !name.endsWith('.sentinel-test.json'))
    .map((name) => ({ name, value: JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown }));
  const found = new Map<string, Definition>();
  const known = (ref: string): Definition | undefined => found.get(ref);
  for (let turn = 1; ; turn += 1) {
    for (const { name, value } of texts) {
      const read = parseDefinition(value, { catalogue, knownRefs: known });
      if (read.ok) found.set(read.definition.name, read.definition);
      else if (turn > 1) throw new Error(`${name}: ${read.problems[0]?.message ?? ''}`);
    }
    if (turn > 1) return [...found.values()].filter((definition) => !needsMore(definition, known));
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
  'code/verify': { ok: false, failure: { code: 'NO_CHECKS_FOUND' } },
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

export interface Started {
  definition: Definition;
  handle: string;
}

export interface SameTrace {
  /** With a project in which the shipped definitions find what they look for. */
  openHarness(): Promise<Harness>;
  /** A run of each definition for each number of steps after which it continues as new; undefined is never. */
  startAll(harness: Harness, every: (number | undefined)[]): Promise<Started[]>;
  expectSame(harness: Harness, runs: readonly Started[]): Promise<void>;
}

export function useSameTrace(): SameTrace {
  const expected = new Map<string, Traces>();
  const open = useHarnesses();
  beforeAll(async () => {
    for (const definition of definitions) expected.set(definition.name, await scripted(definition));
    // The scripted host sets the clock; what follows is real.
    vi.useRealTimers();
  });
  return {
    async openHarness() {
      const harness = await open();
      writeFileSync(
        join(harness.project, 'package.json'),
        JSON.stringify({ name: 'empty', version: '1.0.0', private: true }),
      );
      mkdirSync(join(harness.project, 'src'));
      return harness;
    },
    startAll(harness, every) {
      const variants = definitions.flatMap((definition) =>
        every.map((continueEvery) => ({ definition, continueEvery })),
      );
      return Promise.all(
        variants.map(async ({ definition, continueEvery }) => {
          const options = continueEvery === undefined ? { known } : { known, continueEvery };
          return { definition, handle: await harness.start(definition, options) };
        }),
      );
    },
    async expectSame(harness, runs) {
      for (const { definition, handle } of runs) {
        const traces = expected.get(definition.name) ?? {};
        expect(await tracesOf(harness, handle, Object.keys(traces)), definition.name).toEqual(traces);
      }
    },
  };
}
