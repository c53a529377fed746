/** `sentinel leases`. */
import type { Command } from 'commander';
import type { LeaseName, PlaceInLease } from '../../client/contract/shown.ts';
import { oneLine } from '../../client/show/trace.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';
import { withClient } from '../request/with-client.ts';

/** Places that are shown. */
const shownMax = 1_000;

interface Options {
  json?: boolean;
}

interface Shown extends LeaseName {
  capacity: number;
  holders: Holder[];
  waiting: Holder[];
}

interface Holder {
  handle: string;
  /** Null: it is the run's. */
  step: string | null;
  since: number;
}

export function define(command: Command): void {
  command
    .description(
      'Shows who has a place in a lease and who waits for one: runs in the groups of their definitions and among those of their persona that are at work, and steps in the leases that their commands ask for. Those that wait are in the order in which they have their turn.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel leases
  sentinel leases --json    [{kind, name, project, capacity, holders: [{handle, step, since}], waiting}]`,
    )
    .action((options: Options) => leases(options));
}

async function leases(options: Options): Promise<void> {
  const output = openOutput(options);
  await withClient(output, async (client) => {
    const places = await client.places(shownMax);
    output.object(byLease(places));
    if (places.length === 0) output.line('No run and no step has a place in a lease.');
    const rows = places.map((place) => [
      oneLine(place.name),
      String(place.capacity),
      place.project === null ? '(installation)' : oneLine(place.project),
      place.handle,
      place.step ?? '(run)',
      place.isTaken ? output.paint.good('has it') : output.paint.warn('waits'),
      new Date(place.since).toISOString().slice(0, 19).replace('T', ' '),
    ]);
    const header = ['LEASE', 'PLACES', 'SHARED IN', 'RUN', 'STEP', 'STATE', 'SINCE (UTC)'];
    for (const line of table(header, rows, output.paint)) output.line(line);
    if (places.length === shownMax) output.note(`sentinel: only the first ${shownMax} are shown`);
  });
}

function byLease(places: readonly PlaceInLease[]): Shown[] {
  const found = new Map<string, Shown>();
  for (const { kind, name, project, capacity, handle, step, since, isTaken } of places) {
    const id = JSON.stringify([kind, project, name]);
    const lease = found.get(id) ?? { kind, name, project, capacity, holders: [], waiting: [] };
    found.set(id, lease);
    (isTaken ? lease.holders : lease.waiting).push({ handle, step, since });
  }
  return [...found.values()];
}
