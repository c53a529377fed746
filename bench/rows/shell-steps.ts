/**
 * Shell steps, each a command that the step starts: one, nine and forty in a row, a fan of twenty, and nine in a row of
 * 32 runs at once. Sentinel as it comes keeps states of a project in git before and after each of them; beside it, in
 * the same rounds, the processes alone and others of the field, of which each starts the same command in a durable step.
 */
import { join } from 'node:path';
import { runShell } from '../bare-shell.ts';
import { shellFan, shellSteps } from '../definitions.ts';
import { flushesOf, HOW_FLUSHES } from '../disk-flushes.ts';
import { cellRows, inTurns, lineOf, opened, ratio, type Engine, type Found, type Line } from '../engines.ts';
import { inParallel, type Together } from '../lanes.ts';
import { openPeer, type Peer } from '../peer.ts';
import { writeGitProject } from '../project-files.ts';
import { bounded, median, shown, skipped, type Row } from '../report.ts';
import type { Work } from '../work.ts';
import { historyOf, type World } from '../world.ts';

interface Order {
  shape: 'sequence' | 'fan';
  count: number;
}

const width = 32;
const files = 2000;
const TITLE = 'shell steps';
const ONE: Order = { shape: 'sequence', count: 1 };
const NINE: Order = { shape: 'sequence', count: 9 };
const FORTY: Order = { shape: 'sequence', count: 40 };
const FAN: Order = { shape: 'fan', count: 20 };
const SHAPES = [ONE, NINE, FORTY, FAN] as const;

const COLUMNS = ['1, ms', '9', '40', `fan of ${FAN.count}`, `9, ${width} at once, steps/s`, 'flushes a step'] as const;
const AT_ONCE = 4;
const HOW = `medians of rounds in which each engine has its turn; echo in a git project of ${files} files; ${HOW_FLUSHES}`;

interface Sizes {
  rounds: number;
  /** Runs of each of the shapes. */
  alone: readonly [number, number, number, number];
  together: number;
}

const sizes = {
  quick: { rounds: 3, alone: [5, 3, 2, 2], together: 32 },
  full: { rounds: 5, alone: [9, 7, 5, 5], together: 96 },
} as const satisfies { [effort: string]: Sizes };

const SENTINEL = 'Sentinel as it comes';
const STATELESS = 'Sentinel without states';
const LOCAL = 'hand-written, local activities';

const workOf = ({ shape, count }: Order): Work => ({
  definition: shape === 'fan' ? shellFan(count) : shellSteps(count),
  peer: { steps: { kind: 'shell', shape, count } },
});

const bare = (project: string): Engine<Order> => ({
  name: 'the processes alone',
  together: ({ shape, count: steps }, { count, width: atOnce }) =>
    inParallel(count, atOnce, () => inParallel(steps, shape === 'fan' ? steps : 1, () => runShell(0, project))),
  end: async () => undefined,
});

async function sentinel(world: World, project: string, hasStates: boolean): Promise<Engine<Order>> {
  const name = hasStates ? SENTINEL : STATELESS;
  const taskQueue = `shell-${hasStates ? 'with' : 'without'}-states`;
  const worker = await world.fork('sentinel', {
    taskQueue,
    project,
    home: join(world.stage.folder, taskQueue),
    hasStates,
  });
  return { name, together: (order, lanes) => worker.together({ ...lanes, work: workOf(order) }), end: worker.end };
}

const WORKFLOWS: { [name: string]: (order: Order) => { type: string; args: unknown[] } } = {
  [LOCAL]: ({ shape, count }) => ({ type: shape === 'fan' ? 'localFan' : 'localSteps', args: ['shell', count] }),
  'hand-written, activities': ({ shape, count }) => ({
    type: shape === 'fan' ? 'shellFan' : 'shellSteps',
    args: [count],
  }),
};

const twinsOf = ({ workers: { twin } }: World): Engine<Order>[] =>
  Object.entries(WORKFLOWS).map(([name, workflowOf]) => ({
    name,
    together: (order, lanes) => twin.together({ ...lanes, work: { workflow: workflowOf(order) } }),
    end: async () => undefined,
  }));

async function peer({ stage }: World, name: Peer, project: string): Promise<Engine<Order>> {
  const { together, end } = await openPeer(stage, name, { project });
  return { name, together: (order, lanes) => together({ ...lanes, work: workOf(order) }), end };
}

async function measure({ stage }: World, engine: Engine<Order>, { alone, together }: Sizes): Promise<number[]> {
  await engine.together(NINE, { count: 8, width: 8 });
  const values: number[] = [];
  let flushes = Number.NaN;
  for (const [index, shape] of SHAPES.entries()) {
    const count = alone[index] ?? 1;
    const run = (): Promise<Together> => engine.together(shape, { count, width: 1 });
    const found = shape === FORTY ? await flushesOf(stage, run) : { ...(await run()), flushes };
    if (shape === FORTY) flushes = found.flushes / (count * shape.count);
    values.push(median(found.times));
  }
  const { wallMs } = await engine.together(NINE, { count: together, width });
  return [...values, (together * NINE.count * 1000) / wallMs, flushes];
}

/** What a run of each shape leaves in the history of Temporal. */
async function historiesOf(world: World, { name, together }: Engine<Order>): Promise<{ line: Line; events: number[] }> {
  const events: number[] = [];
  const cells: string[] = [];
  for (const shape of SHAPES) {
    const { workflowId = '' } = await together(shape, { count: 1, width: 1 });
    const history = await historyOf(world, workflowId);
    events.push(history.events);
    cells.push(`${history.events} ev, ${shown(history.bytes / 1024)} KB`);
  }
  return { line: { name: `${name}: events and bytes in the history of a run`, cells }, events };
}

const aims = (found: Found, events: number): Row[] => [
  bounded(`${TITLE}: one, of the local activity's`, { ...ratio(found, 0, [SENTINEL, LOCAL]), unit: 'x', atMost: 1 }),
  bounded(`${TITLE}: 40 in a row, of DBOS's`, { ...ratio(found, 2, [SENTINEL, 'DBOS']), unit: 'x', atMost: 1 }),
  bounded(`${TITLE}: fan of 20, of DBOS's`, { ...ratio(found, 3, [SENTINEL, 'DBOS']), unit: 'x', atMost: 1 }),
  bounded(`${TITLE}: ${width} runs at once, of DBOS's steps/s`, {
    ...ratio(found, AT_ONCE, [SENTINEL, 'DBOS']),
    unit: 'x',
    atLeast: 0.67,
  }),
  bounded(`${TITLE}: history of 40`, { value: events, unit: 'events', atMost: 30 }),
];

export async function shellRows(world: World, quick: boolean): Promise<Row[]> {
  const project = join(world.stage.folder, 'shell-project');
  await writeGitProject(project, files);
  const failed = new Map<string, string>();
  const ours = await Promise.all([sentinel(world, project, true), sentinel(world, project, false)]);
  const twins = twinsOf(world);
  const peers = await opened(
    {
      DBOS: () => peer(world, 'DBOS', project),
      LangGraph: () => peer(world, 'LangGraph', project),
      Restate: () => peer(world, 'Restate', project),
    },
    failed,
  );
  const engines = [bare(project), ...ours, ...twins, ...peers];
  try {
    const effort = sizes[quick ? 'quick' : 'full'];
    const found = await inTurns(engines, { ...effort, failed }, (engine) => measure(world, engine, effort));
    const histories = new Map<string, { line: Line; events: number[] }>();
    for (const engine of [...ours, ...twins])
      if (!failed.has(engine.name)) histories.set(engine.name, await historiesOf(world, engine));
    const lines = engines
      .filter(({ name }) => !failed.has(name))
      .flatMap(({ name }) => [lineOf(found, name, COLUMNS.length), histories.get(name)?.line ?? []].flat());
    return [
      ...cellRows(TITLE, COLUMNS, lines, HOW),
      ...[...failed].map(([name, why]) => skipped(`${TITLE}, ${name}`, why)),
      ...aims(found, histories.get(SENTINEL)?.events[2] ?? Number.NaN),
    ];
  } finally {
    await Promise.allSettled(engines.map((engine) => engine.end()));
  }
}
