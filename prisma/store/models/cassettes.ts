/** Recorded requests, and the runs whose models answer from recorded ones. */
import type { Cassettes, Replayed } from '../contract/models/cassette-contract.ts';
import { queryOn, type Database } from '../connection/database.ts';
import { keepRequests, requestsBelow } from './requests.ts';

/** Of a run nested in another, the run it is nested in has the first part of its handle. */
const outermost = (handle: string): string => handle.split('/')[0] ?? handle;

const ROOT = `coalesce((select root from run_roots where handle = $1), $1)`;

export function cassettes(database: Database): Omit<Cassettes, 'head'> {
  return {
    async keep(of, requests) {
      if (requests.length === 0) return;
      await database.transaction((client) =>
        keepRequests((text, values) => queryOn(client, text, values), of, requests),
      );
    },
    requests: (handle) => requestsBelow(database, handle),
    async replay(handle, cassette) {
      if (cassette === null) await database.query('delete from replays where root = $1', [handle]);
      else
        await database.query(
          'insert into replays (root, cassette) values ($1, $2) on conflict (root) do update set cassette = excluded.cassette',
          [handle, cassette],
        );
    },
    async replayed(handle) {
      const [row] = await database.query<Replayed>(`select root, cassette from replays where root = ${ROOT}`, [
        outermost(handle),
      ]);
      return row ?? null;
    },
    async startedBy(handle, by) {
      await database.query(
        `insert into run_roots (handle, root)
         select $2, coalesce((select root from run_roots where handle = $1), $1) on conflict (handle) do nothing`,
        [outermost(by), handle],
      );
    },
    async claim(root, claimant, entries) {
      const had = await claimed(database, root, claimant);
      if (had !== null) return had;
      for (const entry of entries) {
        // Taken by another, or the claimant's other attempt has one meanwhile: the next look tells.
        const [got] = await database.query<{ entry: number }>(
          `insert into replayed_requests (root, entry, claimant) values ($1, $2, $3) on conflict do nothing returning entry`,
          [root, entry, claimant],
        );
        if (got !== undefined) return got.entry;
        const meanwhile = await claimed(database, root, claimant);
        if (meanwhile !== null) return meanwhile;
      }
      return null;
    },
  };
}

async function claimed(database: Database, root: string, claimant: string): Promise<number | null> {
  const [row] = await database.query<{ entry: number }>(
    'select entry from replayed_requests where root = $1 and claimant = $2',
    [root, claimant],
  );
  return row?.entry ?? null;
}
