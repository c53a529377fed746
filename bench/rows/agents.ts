/**
 * Agents over a model that answers at once: ten turns with nine calls, which write (a line that is on the disk when the
 * call has ended) or read; a hundred turns with results of 5 KB; and what each engine does again after its process was
 * killed. Beside the bare calls of the provider, in the same rounds: a hand-written workflow, DBOS and LangGraph.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Pool } from 'pg';
import { clientOf, runBare } from '../agents/bare.ts';
import { killRows } from '../agents/kills.ts';
import { openDouble } from '../agents/open-double.ts';
import { answerOf, modelOf, promptOf, type AgentSpec, type Tool } from '../agents/protocol.ts';
import { agentSteps } from '../definitions.ts';
import { flushesOf, HOW_FLUSHES } from '../disk-flushes.ts';
import { cellRows, inTurns, lineOf, middle, opened, ratio, type Engine, type Found } from '../engines.ts';
import { inParallel } from '../lanes.ts';
import { openPeer, PEERS, type AgentPeer } from '../peer.ts';
import { writeGitProject } from '../project-files.ts';
import { bounded, median, shown, skipped, type Row } from '../report.ts';
import type { Work } from '../work.ts';
import { historyOf, type World } from '../world.ts';

const turns = 10;
const longTurns = 100;
const longBytes = 5 * 1024;
const width = 32;
const files = 2000;

const SENTINEL = 'Sentinel';
const HAND_WRITTEN = 'hand-written';
const BARE = 'the bare calls';

const COLUMNS = ['ms a turn', 'over bare', `${width} at once, turns/s`, 'flushes a turn'] as const;
const [OVER_BARE, AT_ONCE, FLUSHES] = [1, 2, 3];
const KEPT_COLUMNS = [`${turns} turns: history`, `${longTurns} turns x 5 KB: ms a turn`, 'history', 'stored'] as const;

const sizes = {
  quick: { rounds: 3, alone: 4, together: 32, longRuns: 1 },
  full: { rounds: 5, alone: 15, together: 64, longRuns: 3 },
};
type Sizes = (typeof sizes)['quick'];

/** Tools whose calls are measured. */
type Calls = Exclude<Tool, 'look'>;

const short = (tool: Calls): AgentSpec =>
  tool === 'read' ? spec({ tool, file: 'notes.txt' }) : spec({ tool, file: `${randomUUID()}.log`, bytes: 200 });

const long = (tool: Calls): AgentSpec => ({
  ...(tool === 'read' ? spec({ tool, file: 'large.txt' }) : { ...short(tool), bytes: longBytes }),
  turns: longTurns,
});

const spec = (own: Partial<AgentSpec>): AgentSpec => ({
  turns,
  tool: 'read',
  file: '',
  bytes: 0,
  delayMs: 0,
  token: randomUUID(),
  ...own,
});

const workOf = (agent: AgentSpec, durability: 'segment' | 'step'): Work => ({
  definition: agentSteps(agent, durability),
  workflow: { type: 'agent', args: [modelOf(agent), promptOf(agent.token)] },
  peer: { agent },
});

interface Scene {
  world: World;
  tool: Calls;
  project: string;
  /** Where the model answers. */
  url: string;
  pool: Pool;
}

/** `database`: what it keeps beside the histories of Temporal. */
interface AgentEngine extends Engine<AgentSpec> {
  database?: string;
}

function bare({ url, project }: Scene): AgentEngine {
  const client = clientOf(url);
  return {
    name: BARE,
    together: (agent, { count, width: atOnce }) =>
      inParallel(count, atOnce, () => runBare(agent, client, { url, project })),
    end: async () => undefined,
  };
}

async function ours({ world, tool, project, url }: Scene): Promise<AgentEngine[]> {
  const taskQueue = `agents-${tool}`;
  const home = join(world.stage.folder, taskQueue);
  const worker = await world.fork('sentinel', { taskQueue, project, home, hasStates: true, modelUrl: url });
  const { pathname } = new URL(world.stage.databaseUrl);
  const engine = (name: string, durability: 'segment' | 'step', end: () => Promise<void>): AgentEngine => ({
    name,
    database: pathname.slice(1),
    together: (agent, lanes) => worker.together({ ...lanes, work: workOf(agent, durability) }),
    end,
  });
  return [
    engine(SENTINEL, 'segment', worker.end),
    engine(`${SENTINEL}, durability: "step"`, 'step', async () => undefined),
  ];
}

async function twin({ world, tool, project, url }: Scene): Promise<AgentEngine> {
  const worker = await world.fork('twin', { taskQueue: `agents-${tool}-twin`, project, modelUrl: url });
  return {
    name: HAND_WRITTEN,
    together: (agent, lanes) => worker.together({ ...lanes, work: workOf(agent, 'step') }),
    end: worker.end,
  };
}

async function peer({ world, project, url }: Scene, name: AgentPeer): Promise<AgentEngine> {
  const { together, end } = await openPeer(world.stage, name, { project, modelUrl: url });
  return {
    name,
    database: `bench_${name.toLowerCase()}`,
    together: (agent, lanes) => together({ ...lanes, work: workOf(agent, 'step') }),
    end,
  };
}

async function measure({ world, tool }: Scene, engine: AgentEngine, { alone, together }: Sizes): Promise<number[]> {
  await engine.together(short(tool), { count: 4, width: 4 });
  const { times, flushes } = await flushesOf(world.stage, () =>
    engine.together(short(tool), { count: alone, width: 1 }),
  );
  const { wallMs } = await engine.together(short(tool), { count: together, width });
  return [median(times) / turns, Number.NaN, (together * turns * 1000) / wallMs, flushes / (alone * turns)];
}

interface Kept {
  events: number;
  /** Bytes. */
  longHistory: number;
  stored: number;
  cells: string[];
}

const kb = (bytes: number): string => (Number.isFinite(bytes) ? `${(bytes / 1024).toFixed(0)} KB` : '-');

/** A run of ten turns and some of a hundred: what they leave in the history of Temporal, and in all. */
async function keptBy(scene: Scene, engine: AgentEngine, longRuns: number): Promise<Kept> {
  const one = await leftBy(scene, await engine.together(short(scene.tool), { count: 1, width: 1 }));
  const runs: { ms: number; history: History; stored: number }[] = [];
  for (let nth = 0; nth < longRuns; nth += 1) {
    const before = await storedIn(scene, engine);
    const ran = await engine.together(long(scene.tool), { count: 1, width: 1 });
    const history = await leftBy(scene, ran);
    runs.push({ ms: ran.wallMs, history, stored: (await storedIn(scene, engine)) - before + history.bytes });
  }
  const [ms, events, bytes, stored] = [
    median(runs.map((run) => run.ms)),
    median(runs.map(({ history }) => history.events)),
    median(runs.map(({ history }) => history.bytes)),
    median(runs.map((run) => run.stored)),
  ];
  const cells = [shownHistory(one), shown(ms / longTurns), shownHistory({ events, bytes }), kb(stored)];
  return { events: one.events, longHistory: bytes, stored, cells };
}

interface History {
  events: number;
  bytes: number;
}

const shownHistory = ({ events, bytes }: History): string => (events === 0 ? '-' : `${events} ev, ${kb(bytes)}`);

const leftBy = async ({ world }: Scene, { workflowId }: { workflowId?: string }): Promise<History> =>
  workflowId === undefined ? { events: 0, bytes: 0 } : historyOf(world, workflowId);

async function storedIn({ pool }: Scene, { database }: AgentEngine): Promise<number> {
  if (database === undefined) return 0;
  const { rows } = await pool.query<{ size: string }>('select pg_database_size($1) as size', [database]);
  return Number(rows[0]?.size);
}

function aims(title: string, found: Found, { events, stored }: Kept): Row[] {
  const than = (column: number, other: string) => ratio(found, column, [SENTINEL, other]);
  return [
    bounded(`${title}: a turn over bare, of DBOS's`, { ...than(OVER_BARE, 'DBOS'), unit: 'x', atMost: 2 }),
    bounded(`${title}: a turn over bare, of the hand-written one's`, {
      ...than(OVER_BARE, HAND_WRITTEN),
      unit: 'x',
      atMost: 0.33,
    }),
    bounded(`${title}: ${width} at once, of DBOS's turns/s`, { ...than(AT_ONCE, 'DBOS'), unit: 'x', atLeast: 0.5 }),
    bounded(`${title}: flushes a turn`, { value: middle(found, SENTINEL, FLUSHES), unit: '', atMost: 4 }),
    bounded(`${title}: history of ${turns} turns`, { value: events, unit: 'events', atMost: 30 }),
    bounded(`${title}: stored for ${longTurns} turns of 5 KB`, { value: stored / 1024 / 1024, unit: 'MB', atMost: 1 }),
  ];
}

async function enginesOf(scene: Scene, failed: Map<string, string>): Promise<AgentEngine[]> {
  const openers = Object.fromEntries(PEERS.map((name) => [name, () => peer(scene, name)]));
  return [bare(scene), ...(await ours(scene)), await twin(scene), ...(await opened(openers, failed))];
}

async function agentRows(world: World, quick: boolean, tool: Calls): Promise<Row[]> {
  const title = tool === 'append' ? 'agents that write' : 'agents that read';
  const project = join(world.stage.folder, `agents-${tool}-project`);
  await writeGitProject(project, files);
  writeFileSync(join(project, 'notes.txt'), 'a small file to read\n'.repeat(40));
  writeFileSync(join(project, 'large.txt'), answerOf(longBytes));
  const double = await openDouble();
  const pool = new Pool({ connectionString: world.stage.databaseUrl, max: 1 });
  const scene: Scene = { world, tool, project, url: double.url, pool };
  const failed = new Map<string, string>();
  const engines = await enginesOf(scene, failed);
  try {
    const effort = sizes[quick ? 'quick' : 'full'];
    const found = await inTurns(engines, { ...effort, failed }, (engine) => measure(scene, engine, effort));
    const bareMs = (round: number): number => found.rounds.get(BARE)?.[round]?.[0] ?? Number.NaN;
    for (const rounds of found.rounds.values())
      for (const [round, values] of rounds.entries()) values[OVER_BARE] = (values[0] ?? Number.NaN) - bareMs(round);
    return await rowsOf(scene, title, { engines, found, longRuns: effort.longRuns });
  } finally {
    await Promise.allSettled(engines.map((engine) => engine.end()));
    await pool.end();
    double.end();
  }
}

async function rowsOf(
  scene: Scene,
  title: string,
  { engines, found, longRuns }: { engines: readonly AgentEngine[]; found: Found; longRuns: number },
): Promise<Row[]> {
  const measured = engines.filter(({ name }) => !found.failed.has(name));
  const kept = new Map<string, Kept>();
  for (const engine of measured) kept.set(engine.name, await keptBy(scene, engine, longRuns));
  const lines = measured.map(({ name }) => ({
    ...lineOf(found, name, COLUMNS.length),
    cells: [...lineOf(found, name, COLUMNS.length).cells, ...(kept.get(name)?.cells ?? [])],
  }));
  const sentinel = kept.get(SENTINEL);
  return [
    ...cellRows(title, [...COLUMNS, ...KEPT_COLUMNS], lines, HOW),
    ...[...found.failed].map(([name, why]) => skipped(`${title}, ${name}`, why)),
    ...(sentinel === undefined || scene.tool === 'read' ? [] : aims(title, found, sentinel)),
    bounded(`${title}: history of ${longTurns} turns`, {
      value: (sentinel?.longHistory ?? Number.NaN) / 1024 / 1024,
      unit: 'MB',
      atMost: 2,
    }),
  ];
}

const HOW = `medians of rounds in which each engine has its turn; ${turns} turns with ${turns - 1} calls; stored: in its database and in the history of Temporal; ${HOW_FLUSHES}`;

export const writingAgents = (world: World, quick: boolean): Promise<Row[]> => agentRows(world, quick, 'append');
export const readingAgents = (world: World, quick: boolean): Promise<Row[]> => agentRows(world, quick, 'read');

/** A part of its own: a hand-written workflow notices a lost worker after minutes. */
export async function agentKills(world: World, quick: boolean): Promise<Row[]> {
  const double = await openDouble();
  try {
    return await killRows(world, double.url, quick);
  } finally {
    double.end();
  }
}
