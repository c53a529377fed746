/**
 * A parallel step whose branches are 20 quick steps, from the client's start to its result, one run at a time and 32
 * at once, beside a hand-written workflow with local activities and DBOS on the same Postgres.
 */
import { MIXES, quickFan, type Mix } from '../../definitions.ts';
import type { PeerHandle } from '../../peer.ts';
import { bounded, informed, skipped, type Row } from '../../report.ts';
import type { World } from '../../world.ts';
import { beside, dbosOf, measure, measurePeer, width, type PeerFigures } from './steps.ts';

const steps = 20;

/** The first row is of one run at a time: a fan is what somebody waits for. */
async function mixRows(world: World, mix: Mix, quick: boolean, peer: PeerHandle | Error): Promise<Row[]> {
  const ours = await measure(world, 'sentinel', { definition: quickFan(mix, steps), steps }, quick);
  const twin = await measure(world, 'twin', { workflow: { type: 'localFan', args: [mix, steps] }, steps }, quick);
  const name = `fan of ${steps} x ${mix}`;
  return [
    bounded(`${name}: p50`, { value: ours.p50, unit: 'ms', atMost: 40, note: `${ours.history}; ${ours.note}` }),
    bounded(`${name}: p50, of the hand-written one's`, { value: ours.p50 / twin.p50, unit: 'x', atMost: 1 }),
    informed(`${name}: ${width} runs at once`, `${ours.stepsPerSecond.toFixed(0)} steps/s`),
    informed(`${name}: hand-written, local activities`, beside(twin)),
    ...(peer instanceof Error
      ? [skipped(`${name}: DBOS`, peer.message)]
      : besidePeer(name, ours, await measurePeer(peer, { kind: mix, shape: 'fan', count: steps }, quick))),
  ];
}

const besidePeer = (name: string, ours: PeerFigures, peer: PeerFigures): Row[] => [
  informed(`${name}: DBOS`, beside(peer)),
  bounded(`${name}: ${width} runs at once, of DBOS's steps/s`, {
    value: ours.stepsPerSecond / peer.stepsPerSecond,
    unit: 'x',
    atLeast: 1,
  }),
];

export async function fans(world: World, quick: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  const peer = await dbosOf(world);
  for (const mix of MIXES) rows.push(...(await mixRows(world, mix, quick, peer)));
  if (!(peer instanceof Error)) await peer.end();
  return rows;
}
