/** What an engine does again after its process was killed while an agent was under way: paid turns, and calls. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentSteps } from '../definitions.ts';
import { beginPeer, PEERS, type AgentPeer } from '../peer.ts';
import { informed, skipped, type Row } from '../report.ts';
import type { Side } from '../work.ts';
import { TWIN_MAX, type World } from '../world.ts';
import { startRun } from '../../runs/start-run.ts';
import { modelOf, promptOf, repeated, type AgentSpec, type Counted } from './protocol.ts';

const turns = 10;
const delayMs = 60;

interface Killed {
  /** Turns that were asked for, and calls that were done, beyond one each. */
  turns: number;
  calls: number;
  /** From the kill to the end. */
  ms: number;
}

type Kill = (spec: AgentSpec, afterMs: number) => Promise<number>;

export async function killRows(world: World, url: string, quick: boolean): Promise<Row[]> {
  const kills = quick ? 3 : 10;
  const rows: Row[] = [];
  const engines: [string, Kill][] = [
    ['Sentinel', (spec, afterMs) => killWorker(world, 'sentinel', { url, spec, afterMs })],
    ['hand-written', (spec, afterMs) => killWorker(world, 'twin', { url, spec, afterMs })],
    ...PEERS.map((peer): [string, Kill] => [peer, (spec, afterMs) => killPeer(world, peer, { url, spec, afterMs })]),
  ];
  for (const [name, kill] of engines)
    rows.push(
      await killed(kill, url, kills).then(
        (found) => row(name, found),
        (error: unknown) => skipped(`agents, ${name}: kill -9`, String(error)),
      ),
    );
  return rows;
}

/** Each is killed at another moment of its ten turns. */
async function killed(kill: Kill, url: string, kills: number): Promise<Killed[]> {
  const found: Killed[] = [];
  for (let nth = 0; nth < kills; nth += 1) {
    const spec: AgentSpec = { turns, tool: 'look', file: '', bytes: 0, delayMs, token: randomUUID() };
    const ms = await kill(spec, 100 + ((nth + 0.5) / kills) * turns * delayMs);
    const counted = (await (await fetch(`${url}/counted?token=${spec.token}`)).json()) as Counted;
    found.push({ turns: repeated(counted.turns), calls: repeated(counted.calls), ms });
  }
  return found;
}

function row(name: string, found: readonly Killed[]): Row {
  const sum = (pick: (one: Killed) => number): number => found.reduce((total, one) => total + pick(one), 0);
  const seconds = (sum(({ ms }) => ms) / found.length / 1000).toFixed(1);
  return informed(
    `agents, ${name}: kill -9`,
    `${sum((one) => one.turns)} turns paid twice, ${sum((one) => one.calls)} calls done twice`,
    `in ${found.length} kills; on average ${seconds} s from the kill to the end of the run`,
  );
}

interface KillParts {
  url: string;
  spec: AgentSpec;
  afterMs: number;
}

async function killWorker(world: World, side: Side, { url, spec, afterMs }: KillParts): Promise<number> {
  const taskQueue = `kills-${side}-${spec.token}`;
  const own = { taskQueue, modelUrl: url, home: join(world.stage.folder, taskQueue) };
  const first = await world.fork(side, own);
  const workflowId = await begun(world, side, spec, taskQueue);
  await sleep(afterMs);
  await first.kill();
  const killedAt = performance.now();
  const second = await world.fork(side, own);
  try {
    await world.client.workflow.getHandle(workflowId).result();
    return performance.now() - killedAt;
  } finally {
    await second.end();
  }
}

async function begun(
  { client, plain, store, catalogue, stage }: World,
  side: Side,
  spec: AgentSpec,
  taskQueue: string,
): Promise<string> {
  if (side === 'sentinel') {
    const parts = { store, client, catalogue, taskQueue };
    const { workflowId } = await startRun(parts, {
      definition: agentSteps(spec),
      inputs: {},
      project: stage.project,
      persona: 'bench',
    });
    return workflowId;
  }
  const workflowId = `twin/${spec.token}`;
  await plain.workflow.start('agent', {
    taskQueue,
    workflowId,
    workflowExecutionTimeout: TWIN_MAX,
    args: [modelOf(spec), promptOf(spec.token)],
  });
  return workflowId;
}

async function killPeer(world: World, peer: AgentPeer, { url, spec, afterMs }: KillParts): Promise<number> {
  const first = await beginPeer(world.stage, peer, 'run', { spec, url });
  await sleep(afterMs);
  first.kill();
  const killedAt = performance.now();
  const second = await beginPeer(world.stage, peer, 'resume', { spec, url });
  await second.ended;
  return performance.now() - killedAt;
}
