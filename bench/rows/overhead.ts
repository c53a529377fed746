/**
 * The interpreter against hand-written workflows: the same no-op activities, the same server, workers
 * with the same settings in a process each, runs of the two sides one after the other in turn.
 */
import type { Definition } from '../../language/model.ts';
import { nestedLoop, shaped, SHAPES, type Shape } from '../definitions.ts';
import { inParallel } from '../lanes.ts';
import { bounded, informed, median, type Row } from '../report.ts';
import type { TwinWorkflow } from '../twin/workflows.ts';
import type { Side } from '../work.ts';
import { historyOf, type Timed, type World } from '../world.ts';

const warmUpSteps = 2000;
/** Of each shape, before the first row: a row measured first would else be measured with colder code than the others. */
const firstWarmUp = { runs: 100, count: 40 };

/** The shorter a run, the more what else the machine does is in its figures, and the less a further pair costs. */
const pairsOf = (count: number): number => Math.min(61, Math.max(9, Math.round(1000 / count)));

interface Sample {
  wallMs: number;
  cpuMs: number;
  events: number;
  bytes: number;
}

async function sample(world: World, side: Side, run: () => Promise<Timed>): Promise<Sample> {
  const worker = world.workers[side];
  const before = await worker.usage();
  const { ms, workflowId } = await run();
  const after = await worker.usage();
  return { wallMs: ms, cpuMs: after.cpuMs - before.cpuMs, ...(await historyOf(world, workflowId)) };
}

interface Comparison {
  sentinel: Sample[];
  twin: Sample[];
}

/** Both sides' code is warm before anything is measured: a worker lives for days. */
async function compare(
  world: World,
  { pairs, warmUp }: { pairs: number; warmUp: number },
  sentinel: () => Promise<Timed>,
  twin: () => Promise<Timed>,
): Promise<Comparison> {
  const found: Comparison = { sentinel: [], twin: [] };
  await warmed(warmUp, [sentinel, twin]);
  for (let pair = 0; pair <= pairs; pair += 1) {
    const sides = pair % 2 === 0 ? (['sentinel', 'twin'] as const) : (['twin', 'sentinel'] as const);
    for (const side of sides) {
      const measured = await sample(world, side, side === 'sentinel' ? sentinel : twin);
      if (pair > 0) found[side].push(measured);
    }
  }
  return found;
}

async function warmed(runs: number, sides: readonly (() => Promise<Timed>)[]): Promise<void> {
  for (const run of sides) await inParallel(runs, 4, run);
}

/** The median over pairs, so that what disturbs both of a pair disturbs nothing. */
function ratio({ sentinel, twin }: Comparison, pick: (sample: Sample) => number): number {
  return median(sentinel.map((one, index) => pick(one) / pick(twin[index] ?? one)));
}

/** The definition is in the history of a run; the hand-written workflow has its own in its code. */
const bytesOf = (definition: Definition): number => Buffer.byteLength(JSON.stringify(definition));

async function shapeRows(world: World, shape: Shape, count: number, pairs: number): Promise<Row[]> {
  const definition = shaped(shape, count);
  const effort = { pairs, warmUp: Math.ceil(warmUpSteps / count) };
  const found = await compare(
    world,
    effort,
    () => world.runSentinel(definition),
    () => world.runTwin(shape, [count]),
  );
  const definitionBytes = bytesOf(definition);
  const middle = (side: Side, pick: (sample: Sample) => number): number => median(found[side].map(pick));
  const name = `${shape} of ${count}`;
  const wall = `${middle('sentinel', (one) => one.wallMs).toFixed(0)} against ${middle('twin', (one) => one.wallMs).toFixed(0)} ms`;
  const events = `${middle('sentinel', (one) => one.events)} against ${middle('twin', (one) => one.events)}`;
  const oursBytes = middle('sentinel', (one) => one.bytes);
  const theirsBytes = middle('twin', (one) => one.bytes);
  const cpu = `${perStep(found.sentinel, count)} against ${perStep(found.twin, count)} ms a step`;
  const bytes = `${oursBytes} against ${theirsBytes}, of which the definition is ${definitionBytes}`;
  return [
    bounded(`${name}: wall`, { value: ratio(found, (one) => one.wallMs), unit: 'x', atMost: 1.05, note: wall }),
    bounded(`${name}: history events`, {
      value: ratio(found, (one) => one.events),
      unit: 'x',
      atMost: 1,
      note: events,
    }),
    bounded(`${name}: history bytes`, { value: oursBytes / theirsBytes, unit: 'x', atMost: 1.1, note: bytes }),
    informed(
      `${name}: history bytes beside the definition`,
      `${((oursBytes - definitionBytes) / theirsBytes).toFixed(3)} x`,
    ),
    bounded(`${name}: worker CPU`, { value: ratio(found, (one) => one.cpuMs), unit: 'x', atMost: 1.15, note: cpu }),
  ];
}

const perStep = (samples: readonly Sample[], count: number): string =>
  (median(samples.map((one) => one.cpuMs)) / count).toFixed(2);

const timesFaster = (found: Comparison): number => 1 / ratio(found, (one) => one.wallMs);

/** The same loop, and a bare hand-written one, with a child workflow for each pass. */
async function childLoopRows(world: World, pairs: number): Promise<Row[]> {
  const count = 40;
  const twin: TwinWorkflow = 'childLoop';
  const effort = { pairs, warmUp: 2 };
  const loop = (): Promise<Timed> => world.runSentinel(shaped('loop', count));
  const same = await compare(world, effort, loop, () => world.runSentinel(nestedLoop(count)));
  const bare = await compare(world, effort, loop, () => world.runTwin(twin, [count]));
  return [
    bounded('loop of 40 against the same loop with a child workflow a pass', {
      value: timesFaster(same),
      unit: 'x faster',
      atLeast: 4,
    }),
    informed(
      'loop of 40 against a hand-written loop with a child workflow a pass',
      `${timesFaster(bare).toFixed(3)} x faster`,
    ),
  ];
}

export async function overhead(world: World, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [
    informed(
      'overhead',
      '',
      'the twin keeps the same search attributes (3 at start, 2 at the end), no summaries; CPU is that of the worker process',
    ),
  ];
  for (const shape of SHAPES) {
    const definition = shaped(shape, firstWarmUp.count);
    await warmed(firstWarmUp.runs, [
      () => world.runSentinel(definition),
      () => world.runTwin(shape, [firstWarmUp.count]),
    ]);
  }
  for (const count of quick ? [10] : [10, 40, 200]) {
    for (const shape of SHAPES) rows.push(...(await shapeRows(world, shape, count, quick ? 3 : pairsOf(count))));
  }
  rows.push(...(await childLoopRows(world, quick ? 1 : 5)));
  return rows;
}
