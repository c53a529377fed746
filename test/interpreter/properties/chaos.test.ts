/**
 * Random definitions, interrupted at random moments: every run ends, every step that began has one
 * end, and every effect is asked for once. Where nothing was said that changes what the run does, it
 * is the same run as without any interruption.
 *
 * A failure prints the seed and the smallest case; SENTINEL_CHAOS_SEED=… runs it again, and
 * SENTINEL_CHAOS_RUNS=… as many of them.
 */
import * as fc from 'fast-check';
import { afterAll, expect, test, vi } from 'vitest';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { stage } from '../../../authoring/simulate/stage.ts';
import { runScenario, STRAIGHT, type Outcome } from '../../../interpreter/simulation/run-scenario.ts';
import { ChaosScript, chaosMode, type Chaos } from './chaos-script.ts';
import { hurriedDefinition, TICK, waitingDefinition } from './random-definitions.ts';
import { runScriptedSegment } from '../harness/scripted-segment.ts';
import { randomRuns } from '../../random-runs.ts';
import { catalogue } from '../../catalogue.ts';

afterAll(() => vi.useRealTimers());

const settings = { runs: process.env['SENTINEL_CHAOS_RUNS'], seed: process.env['SENTINEL_CHAOS_SEED'] };
const usual = randomRuns(100, 40);
const numRuns = Number(settings.runs ?? usual.numRuns);
const parameters = { ...usual, numRuns, ...(settings.seed === undefined ? {} : { seed: Number(settings.seed) }) };
const scenario = fc.record({ definition: waitingDefinition, seed: fc.nat() });
const hurried = fc.record({ definition: hurriedDefinition, seed: fc.nat() });
type Scenario = typeof scenario extends fc.Arbitrary<infer Value> ? Value : never;

/** The first hundred, whose ids are shorter, come before anybody waits. */
const unheard = Array.from({ length: 100 }, () => ({ ...TICK, afterMs: 0 }));
/**
 * More than any of the runs waits for, and for longer than any of them takes: a model that is asked again later may
 * hold a run for many seconds. The first 500 come every 18 ms, and each one after that 5% later than the one before.
 */
const ticks = Array.from({ length: 800 }, (_, nth) => ({
  ...TICK,
  afterMs: nth * 18 + (nth < 500 ? 0 : 6 * Math.round(60 * (1.05 ** (nth - 500) - 1))),
}));
const events = [...unheard, ...ticks];

interface Seen extends Outcome {
  asked: string[];
}

async function run(given: Scenario, chaos: Chaos): Promise<Seen> {
  const answers = new ChaosScript(given.seed, chaos);
  const mode = chaos === 'none' ? STRAIGHT : chaosMode(given.seed);
  const staging = {
    answers,
    mode,
    segment: runScriptedSegment,
    stage: { ...stage, clockMoved: (now: number) => void vi.setSystemTime(now) },
  };
  const { definition } = given;
  const outcome = await runScenario({ definition, catalogue, inputs: { list: ['x', 'y'] }, events }, staging);
  return { ...outcome, asked: answers.asked };
}

/** Between which steps of other branches a pause falls is chance. */
const steps = (trace: readonly string[]): string[] => trace.filter((line) => !/^ *(paused|resumed)/.test(line));

/** Which of many equal events arrives at a step, and when, is chance. Texts and variables of steps quote it, too. */
const anyArrival = (seen: object): unknown =>
  JSON.parse(
    JSON.stringify(seen)
      .replaceAll(/event-\d*/g, 'event')
      .replaceAll(/\b1767\d*/g, '0'),
  );

/** What has to have happened at least once is a matter of chance: where it has not, more runs are made. */
const roundsMax = 5;

async function expectOfAll<Value>(
  property: fc.IAsyncPropertyWithHooks<Value>,
  asGiven: fc.Parameters<Value>,
  { seen, wanted }: { seen: ReadonlySet<string>; wanted: readonly string[] },
): Promise<void> {
  for (let round = 0; round < roundsMax && !wanted.every((kind) => seen.has(kind)); round += 1) {
    const { seed } = asGiven;
    await fc.assert(property, { ...asGiven, ...(seed === undefined ? {} : { seed: seed + round }) });
  }
  expect([...seen]).toEqual(expect.arrayContaining([...wanted]));
}

test('a run that is held, answered early and twice, and carried on elsewhere is the run that nobody touched', async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(scenario, async (given) => {
    const quiet = await run(given, 'none');
    const held = await run(given, 'held');
    for (const outcome of [quiet, held]) expectOrderly(outcome);
    expect(anyArrival({ trace: steps(held.trace), effects: held.effects, result: held.result })).toEqual(
      anyArrival({ trace: steps(quiet.trace), effects: quiet.effects, result: quiet.result }),
    );
    note(seen, held);
  });
  const wanted = [
    'paused',
    'answered',
    'already',
    'refused',
    'continued',
    'watch',
    'approval',
    'sentinel',
    'parallel',
    'retried',
  ];
  await expectOfAll(property, parameters, { seen, wanted });
});

test('whatever is said to a run, it ends in order', async () => {
  const seen = new Set<string>();
  const property = fc.asyncProperty(hurried, async (given) => {
    const outcome = await run(given, 'any');
    expectOrderly(outcome);
    note(seen, outcome);
  });
  const wanted = [
    'paused',
    'answered',
    'edited',
    'continued',
    'withdrawn',
    'STEP_TIMEOUT',
    'budget.steps',
    'stopped',
    'cancelled',
    'completed',
    'failed',
  ];
  await expectOfAll(property, { ...parameters, numRuns: 3 * numRuns }, { seen, wanted });
});

/** What happened at all: a property holds easily of runs in which nothing does. */
function note(kinds: Set<string>, { runs }: Outcome): void {
  for (const host of runs) {
    for (const event of host.events) {
      kinds.add(event.type);
      if (event.type === 'step-finished')
        kinds
          .add(event.step)
          .add(event.outcome)
          .add(event.failure?.code ?? event.outcome);
    }
    for (const reply of host.questions.replies)
      kinds.add('code' in reply ? 'refused' : reply.already ? 'already' : 'answered');
    if (host.continued > 0) kinds.add('continued');
    kinds.add(host.result?.outcome ?? 'unended').add(host.result?.limit ?? 'unlimited');
  }
}

function expectOrderly({ runs, asked }: Seen): void {
  expect(twice(asked)).toEqual([]);
  for (const host of runs) {
    const { handle } = host.walk.input;
    expect({ handle, result: host.result }).toEqual({ handle, result: expect.any(Object) });
    const started = keysOf(host.events, 'step-started');
    const finished = keysOf(host.events, 'step-finished');
    expect({ handle, twice: twice(host.events.map((event) => String(event.seq))) }).toEqual({ handle, twice: [] });
    expect({ handle, startedTwice: twice(started), finishedTwice: twice(finished) }).toEqual({
      handle,
      startedTwice: [],
      finishedTwice: [],
    });
    expect({ handle, lost: started.filter((key) => !finished.includes(key)) }).toEqual({ handle, lost: [] });
    expect({ handle, open: host.walk.position.questions }).toEqual({ handle, open: [] });
    expect({ handle, asked: countOf(host.events, ['asked']) }).toEqual({
      handle,
      asked: countOf(host.events, ['answered', 'expired', 'withdrawn']),
    });
  }
}

function keysOf(all: readonly RunEvent[], type: RunEvent['type']): string[] {
  return all.filter((event) => event.type === type).map((event) => event.key);
}

const countOf = (all: readonly RunEvent[], types: readonly RunEvent['type'][]): number =>
  all.filter((event) => types.includes(event.type)).length;

function twice(keys: readonly string[]): string[] {
  const seen = new Set<string>();
  return keys.filter((key) => seen.has(key) || (seen.add(key), false));
}
