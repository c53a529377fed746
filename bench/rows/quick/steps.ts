/**
 * Quick steps: 40 of them from the client's start to its result, one run at a time and 32 at once,
 * beside a hand-written workflow with local activities and DBOS on the same Postgres.
 */
import { MIXES, quickLoop, quickSteps, type Mix } from '../../definitions.ts';
import { openPeer, type PeerHandle } from '../../peer.ts';
import { bounded, informed, median, percentile, shown, skipped, type Row } from '../../report.ts';
import type { PeerWork, Side, Work } from '../../work.ts';
import { historyOf, type World } from '../../world.ts';

const steps = 40;
export const width = 32;

export interface PeerFigures {
  p50: number;
  stepsPerSecond: number;
}

export interface Figures extends PeerFigures {
  note: string;
  /** What a run leaves in the history of Temporal. */
  history: string;
}

/** Of turns with 32 at once the middle one counts, of the peer's too. The twin, that nothing is held to, has one. */
const sizes = {
  quick: {
    sentinel: { alone: 15, together: 320, turns: 1 },
    twin: { alone: 15, together: 64, turns: 1 },
    peer: { alone: 15, together: 64, turns: 1 },
  },
  full: {
    sentinel: { alone: 60, together: 320, turns: 3 },
    twin: { alone: 60, together: 160, turns: 1 },
    peer: { alone: 60, together: 320, turns: 3 },
  },
};

/** A peer that works, or why there is none. */
export const dbosOf = ({ stage }: World): Promise<PeerHandle | Error> =>
  openPeer(stage, 'DBOS').catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));

export async function measurePeer(
  peer: PeerHandle,
  order: NonNullable<PeerWork['steps']>,
  quick: boolean,
): Promise<PeerFigures> {
  const work = { peer: { steps: order } };
  const { alone, together, turns } = sizes[quick ? 'quick' : 'full'].peer;
  await peer.together({ work, count: quick ? 8 : 40, width: 8 });
  const { times } = await peer.together({ work, count: alone, width: 1 });
  const wallMs: number[] = [];
  for (let turn = 0; turn < turns; turn += 1)
    wallMs.push((await peer.together({ work, count: together, width })).wallMs);
  return { p50: median(times), stepsPerSecond: (together * order.count * 1000) / median(wallMs) };
}

/** Client and worker in one process on every side, as DBOS has it; a run's first task comes with its start. */
export async function measure(
  world: World,
  side: Side,
  work: Work & { steps: number },
  quick: boolean,
): Promise<Figures> {
  const worker = world.workers[side];
  const { alone, together, turns } = sizes[quick ? 'quick' : 'full'][side];
  await worker.together({ work, count: quick ? 8 : 40, width: 8 });
  const { times, workflowId } = await worker.together({ work, count: alone, width: 1 });
  const { events, bytes } = await historyOf(world, workflowId);
  const serverBefore = world.stage.serverCpuMs();
  const before = await worker.usage();
  const wallMs: number[] = [];
  for (let turn = 0; turn < turns; turn += 1)
    wallMs.push((await worker.together({ work, count: together, width })).wallMs);
  const server = world.stage.serverCpuMs();
  const after = await worker.usage();
  const perRun = [
    after.cpuMs - before.cpuMs,
    server.temporal - serverBefore.temporal,
    server.postgres - serverBefore.postgres,
  ].map((ms) => (ms / (together * turns)).toFixed(1));
  return {
    p50: percentile(times, 0.5),
    stepsPerSecond: (together * work.steps * 1000) / median(wallMs),
    history: `history of a run: ${events} events, ${shown(bytes / 1024)} KB`,
    note: `CPU ms a run: worker and client ${perRun[0]}, Temporal ${perRun[1]}, Postgres ${perRun[2]}; p99 alone ${percentile(times, 0.99).toFixed(0)} ms`,
  };
}

export const beside = ({ p50, stepsPerSecond }: PeerFigures): string =>
  `p50 ${p50.toFixed(1)} ms, ${stepsPerSecond.toFixed(0)} steps/s`;

async function mixRows(world: World, mix: Mix, quick: boolean, peer: PeerFigures | null): Promise<Row[]> {
  const definition = quickSteps(mix, steps);
  const ours = await measure(world, 'sentinel', { definition, steps }, quick);
  const twin = await measure(world, 'twin', { workflow: { type: 'localSteps', args: [mix, steps] }, steps }, quick);
  const isReading = mix !== 'data-create';
  const name = `${steps} x ${mix}`;
  return [
    bounded(`${name}: p50`, { value: ours.p50, unit: 'ms', atMost: isReading ? 50 : 100, note: ours.history }),
    bounded(`${name}: ${width} runs at once`, {
      value: ours.stepsPerSecond,
      unit: 'steps/s',
      atLeast: 2200,
      note: ours.note,
    }),
    informed(`${name}: hand-written, local activities`, beside(twin)),
    ...(peer === null ? [] : besidePeer(name, ours, peer)),
  ];
}

/** A machine's speed is the same for both, so these hold on a slow one too. */
function besidePeer(name: string, ours: Figures, peer: PeerFigures): Row[] {
  return [
    informed(`${name}: DBOS`, beside(peer)),
    bounded(`${name}: ${width} runs at once, of DBOS's steps/s`, {
      value: ours.stepsPerSecond / peer.stepsPerSecond,
      unit: 'x',
      atLeast: 2,
    }),
    bounded(`${name}: p50, of DBOS's`, { value: ours.p50 / peer.p50, unit: 'x', atMost: 0.6 }),
  ];
}

export async function quickRows(world: World, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const peer = await dbosOf(world);
  for (const mix of MIXES) {
    const figures =
      peer instanceof Error ? null : await measurePeer(peer, { kind: mix, shape: 'sequence', count: steps }, quick);
    rows.push(...(await mixRows(world, mix, quick, figures)));
  }
  if (peer instanceof Error) rows.push(skipped(`${steps} quick steps: DBOS`, peer.message));
  else await peer.end();
  return [...rows, ...(await bookkeeping(world, quick))];
}

/** Differences between loops that differ in one thing only, measured in turn; the quickest of each counts. */
async function bookkeeping(world: World, quick: boolean): Promise<Row[]> {
  const passes = quick ? 1000 : 4000;
  const loops = {
    plain: quickLoop(passes, 1, 0),
    checked: quickLoop(passes, 1, 5),
    packed: quickLoop(passes / 10, 10, 0),
  };
  const best = { plain: Infinity, checked: Infinity, packed: Infinity };
  for (let turn = 0; turn < (quick ? 3 : 6); turn += 1) {
    for (const kind of ['plain', 'checked', 'packed'] as const)
      best[kind] = Math.min(best[kind], (await world.runSentinel(loops[kind])).ms);
  }
  const { plain, checked, packed } = best;
  return [
    bounded('condition', { value: (checked - plain) / (passes * 5), unit: 'ms', atMost: 0.2 }),
    bounded('loop bookkeeping, a pass', { value: (plain - packed) / (passes * 0.9), unit: 'ms', atMost: 0.2 }),
    informed('quick reading step inside a loop', `${(plain / passes).toFixed(3)} ms`),
  ];
}
