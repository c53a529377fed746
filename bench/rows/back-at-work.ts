/**
 * How long after a `kill -9` of the worker each run goes on, under services as they stand on a developer's machine.
 * A run has gone on with the first row that it writes after the kill: an event, or a line of a step's output, which
 * a worker that takes a long step over writes. With `--base` another built checkout is killed in turns with this one.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { openDouble } from '../agents/open-double.ts';
import { CROWD, GO, type Kind } from '../kills/crowd.ts';
import { killWorker, type StandingServices, standUp } from '../kills/standing-services.ts';
import { bounded, informed, median, percentile, type Row } from '../report.ts';
import { packageRoot, type World } from '../world.ts';

const LOOK_MS = 20;
/** A supervisor starts a worker again at once that had been up for five seconds. */
const BETWEEN_MS = 6_000;
const GONE_ON_MAX_MS = 60_000;

interface Member {
  kind: string;
  handle: string;
  asks: Kind['asks'];
}

interface Side {
  name: string;
  services: StandingServices;
  database: Client;
  crowd: Member[];
  /** In milliseconds from each kill. */
  times: Map<string, number[]>;
  ups: { upMs: number; cpuMs: number }[];
}

export async function backAtWork(
  _world: World,
  quick: boolean,
  { base }: { base?: string | undefined } = {},
): Promise<Row[]> {
  const double = await openDouble();
  const sides: Side[] = [];
  try {
    if (base !== undefined) sides.push(await openSide('base', base, double.url));
    sides.push(await openSide('', packageRoot, double.url));
    for (let kill = 0; kill < (quick ? 3 : 10); kill += 1)
      for (const side of sides) {
        await sleep(BETWEEN_MS);
        await killOnce(side);
      }
    return sides.flatMap((side) => rowsOf(side, sides.length > 1));
  } finally {
    for (const { services, database } of sides) {
      await database.end();
      await services.end();
    }
    double.end();
  }
}

async function openSide(name: string, root: string, modelUrl: string): Promise<Side> {
  const services = await standUp(root, modelUrl);
  const database = new Client({ connectionString: services.databaseUrl });
  await database.connect();
  const crowd: Member[] = [];
  for (const [kind, { count, definition, asks }] of Object.entries(CROWD))
    for (let nth = 0; nth < count; nth += 1) {
      const { handle } = await services.client.start(definition, { project: services.project });
      crowd.push({ kind, handle, asks });
    }
  return { name, services, database, crowd, times: new Map(), ups: [] };
}

/** By handle, what it has written so far. */
async function marksOf({ database, crowd }: Side): Promise<Map<string, number>> {
  const { rows } = await database.query<{ handle: string; mark: string }>(
    `select asked.handle,
        (select count(*) from run_events where handle = asked.handle) +
        (select coalesce(max(revision), 0) from log_chunks where handle = asked.handle) as mark
      from unnest($1::text[]) as asked(handle)`,
    [crowd.map(({ handle }) => handle)],
  );
  return new Map(rows.map(({ handle, mark }) => [handle, Number(mark)]));
}

async function killOnce(side: Side): Promise<void> {
  const waiting = new Map(side.crowd.map((member) => [member.handle, member]));
  const killedAt = performance.now();
  const up = killWorker(side.services);
  await sleep(LOOK_MS);
  const before = await marksOf(side);
  const asked = Promise.all(side.crowd.map((member) => ask(side, member)));
  while (waiting.size > 0) {
    const after = performance.now() - killedAt;
    if (after > GONE_ON_MAX_MS) throw new Error(`${[...waiting.keys()].join(', ')} did not go on`);
    for (const [handle, mark] of await marksOf(side)) {
      const member = waiting.get(handle);
      if (member === undefined || mark === before.get(handle)) continue;
      waiting.delete(handle);
      side.times.set(member.kind, [...(side.times.get(member.kind) ?? []), after]);
    }
    await sleep(LOOK_MS);
  }
  side.ups.push(await up);
  await asked;
}

async function ask({ services: { client } }: Side, { asks, handle }: Member): Promise<void> {
  if (asks === 'event') await client.emit(GO);
  if (asks === 'answer') await client.answer(handle, { choice: 'approve', by: 'bench' });
}

const seconds = (ms: number): string => (ms / 1000).toFixed(2);

function rowsOf({ name, times, ups }: Side, isCompared: boolean): Row[] {
  const label = `back at work${isCompared ? `, ${name === '' ? 'this checkout' : name}` : ''}`;
  const all = [...times.values()].flat().map((ms) => ms / 1000);
  const limits = name === '' ? { median: { atMost: 3 }, worst: { atMost: 5 } } : { median: {}, worst: {} };
  const note = `${ups.length} kills, ${all.length} times`;
  return [
    bounded(`${label}: median`, { value: median(all), unit: 's', ...limits.median, note }),
    bounded(`${label}: worst`, { value: Math.max(...all), unit: 's', ...limits.worst }),
    informed(
      `${label}: the next worker is up`,
      `${seconds(median(ups.map(({ upMs }) => upMs)))} s`,
      `worst ${seconds(Math.max(...ups.map(({ upMs }) => upMs)))} s; processor time of its start ${seconds(median(ups.map(({ cpuMs }) => cpuMs)))} s`,
    ),
    ...Array.from(times, ([kind, list]) =>
      informed(
        `${label}: ${kind}`,
        `${seconds(median(list))} s`,
        `nine of ten ${seconds(percentile(list, 0.9))} s, worst ${seconds(Math.max(...list))} s`,
      ),
    ),
  ];
}
