/**
 * Agents over a model that answers at once: ten turns with nine calls, beside the bare calls of the provider, a
 * hand-written workflow, DBOS and LangGraph; a hundred turns with 5 KB results; and what each does again after
 * its process was killed. Figures that a machine decides are reported, not held to anything.
 */
import { randomUUID } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Pool } from 'pg';
import { clientOf, runBare } from '../agents/bare.ts';
import { killRows } from '../agents/kills.ts';
import { modelOf, promptOf, type AgentSpec } from '../agents/protocol.ts';
import { agentSteps } from '../definitions.ts';
import { PEERS, measurePeer, type AgentFigures } from '../peer.ts';
import { bounded, informed, median, skipped, type Row } from '../report.ts';
import type { WorkerHandle } from '../worker-handle.ts';
import type { Side, Work } from '../worker-process.ts';
import type { World } from '../world.ts';

const turns = 10;
const width = 32;
const longTurns = 100;

const spec = (own: Partial<AgentSpec> = {}): AgentSpec => ({
  turns,
  tool: 'read',
  file: 'notes.txt',
  delayMs: 0,
  token: randomUUID(),
  ...own,
});

export const workOf = (one: AgentSpec): Work => ({
  definition: agentSteps(one),
  workflow: { type: 'agent', args: [modelOf(one), promptOf(one.token)] },
});

interface Sizes {
  alone: number;
  together: number;
}

/** `stored`: bytes of the database. */
async function measure(
  world: World,
  worker: WorkerHandle,
  sizes: Sizes,
  stored: () => Promise<number>,
): Promise<Omit<AgentFigures, 'longBytes'> & { longBytes: number }> {
  const { alone, together } = sizes;
  await worker.together({ work: workOf(spec()), count: Math.max(4, alone / 2), width: 4 });
  const { times } = await worker.together({ work: workOf(spec()), count: alone, width: 1 });
  const before = await stored();
  const { wallMs } = await worker.together({ work: workOf(spec()), count: together, width });
  const bytes = ((await stored()) - before) / together;
  const longBefore = await stored();
  const long = spec({ turns: longTurns, file: 'large.txt' });
  const { wallMs: longMs } = await worker.together({ work: workOf(long), count: 1, width: 1 });
  return {
    p50: median(times),
    turnsPerSecond: (together * turns * 1000) / wallMs,
    bytes,
    longMs,
    longBytes: (await stored()) - longBefore,
  };
}

async function openDouble(): Promise<{ url: string; end(): void }> {
  const child = fork(fileURLToPath(new URL('../agents/double.js', import.meta.url)));
  const [url] = (await once(child, 'message')) as [string];
  return { url, end: () => void child.kill() };
}

const kb = (count: number): string => `${(count / 1024).toFixed(0)} KB`;

function rowsOf(name: string, figures: AgentFigures, bareMs: number): Row[] {
  const { p50, turnsPerSecond, bytes, longMs, longBytes } = figures;
  return [
    informed(
      `agents, ${name}: a turn over the bare calls`,
      `${((p50 - bareMs) / turns).toFixed(1)} ms`,
      `${turns} turns with ${turns - 1} calls in ${p50.toFixed(0)} ms, bare ${bareMs.toFixed(0)} ms`,
    ),
    informed(`agents, ${name}: ${width} at once`, `${turnsPerSecond.toFixed(0)} turns/s`),
    informed(`agents, ${name}: stored for a run of ${turns} turns`, kb(bytes)),
    informed(
      `agents, ${name}: ${longTurns} turns with results of 5 KB`,
      `${(longMs / longTurns).toFixed(1)} ms a turn`,
      `stored ${kb(longBytes)}`,
    ),
  ];
}

export async function agents(world: World, quick: boolean): Promise<Row[]> {
  writeFileSync(join(world.stage.project, 'large.txt'), 'five kilobytes of a result. '.repeat(183));
  const double = await openDouble();
  const pool = new Pool({ connectionString: world.stage.databaseUrl, max: 1 });
  const sizes = quick ? { alone: 8, together: 32 } : { alone: 40, together: 160 };
  try {
    const client = clientOf(double.url);
    const at = { url: double.url, project: world.stage.project };
    const bare: number[] = [];
    for (let nth = 0; nth < sizes.alone + 5; nth += 1) bare.push(await runBare(spec(), client, at));
    const bareMs = median(bare.slice(5));
    const rows: Row[] = [];
    for (const side of ['sentinel', 'twin'] as const)
      rows.push(...(await sideRows(world, side, { url: double.url, pool, sizes, bareMs })));
    for (const peer of PEERS) {
      const figures = await measurePeer(world.stage, peer, { ...sizes, width }, double.url).catch((error: unknown) =>
        String(error),
      );
      rows.push(
        ...(typeof figures === 'string' ? [skipped(`agents, ${peer}`, figures)] : rowsOf(peer, figures, bareMs)),
      );
    }
    return rows;
  } finally {
    await pool.end();
    double.end();
  }
}

/** A part of its own: a hand-written workflow notices a lost worker after minutes. */
export async function agentKills(world: World, quick: boolean): Promise<Row[]> {
  const double = await openDouble();
  try {
    return await killRows(world, double.url, quick);
  } finally {
    double.end();
  }
}

interface SideParts {
  url: string;
  pool: Pool;
  sizes: Sizes;
  bareMs: number;
}

/** What a side keeps is in Postgres, in the histories of Temporal, or in both. */
async function sideRows(world: World, side: Side, { url, pool, sizes, bareMs }: SideParts): Promise<Row[]> {
  const worker = await world.fork(side, { taskQueue: `agents-${side}`, modelUrl: url });
  const stored = async (): Promise<number> => {
    const { rows } = await pool.query<{ size: string }>('select pg_database_size(current_database()) as size');
    return Number(rows[0]?.size);
  };
  try {
    const figures = await measure(world, worker, sizes, stored);
    const name = side === 'twin' ? 'hand-written' : 'Sentinel';
    const short = await historyOf(world, side);
    const long = await historyOf(world, side, 'bench-agent-100');
    const rows = rowsOf(name, figures, bareMs);
    const history = informed(
      `agents, ${name}: history`,
      `${(short / 1024).toFixed(0)} KB`,
      `of ${longTurns} turns ${(long / 1024).toFixed(0)} KB`,
    );
    if (side === 'twin') return [...rows.filter(({ name: row }) => !row.includes('stored')), history];
    return [
      ...rows,
      bounded(`agents, ${name}: history of ${longTurns} turns`, { value: long / 1024 / 1024, unit: 'MB', atMost: 2 }),
      history,
    ];
  } finally {
    await worker.end();
  }
}

/** Bytes of the largest history of an agent; all parts of a run that continued as new count by themselves. */
async function historyOf(world: World, side: Side, name = 'bench-agent-10'): Promise<number> {
  const query = side === 'twin' ? `WorkflowType = 'agent'` : `WorkflowType = 'sentinel' AND SentinelName = '${name}'`;
  const sizes: number[] = [];
  for await (const { historySize } of world.client.workflow.list({ query })) sizes.push(historySize ?? 0);
  const sorted = sizes.toSorted((a, b) => a - b);
  return (name === 'bench-agent-10' ? sorted[Math.floor(sorted.length / 2)] : sorted.at(-1)) ?? Number.NaN;
}
