/**
 * Locks that a process holds for as long as it lives, each named by a text: an advisory lock of a
 * connection of its own. When that connection is lost so are the locks, and the holder is told.
 */
import { Client } from 'pg';
import { connectionConfig, type Database } from '../connection/database.ts';
import type { TriggerLocks } from '../contract/trigger-contract.ts';

/** Keeps these names apart from other users of advisory locks. */
const SEED = 72_707_371;

/** Held from when the files of a project are watched until they no longer are. */
export const watchedLock = (project: string): string => `watched ${project}`;

/** Whether any process of all that share the database holds it. */
export async function isLocked(database: Database, name: string): Promise<boolean> {
  const [row] = await database.query<{ locked: boolean }>(
    `select exists (
       select 1 from pg_locks
       where locktype = 'advisory' and granted and objsubid = 1 and database = (select oid from pg_database where datname = current_database())
         and (classid::bigint << 32) | objid::bigint = hashtextextended($1, $2)
     ) as locked`,
    [name, SEED],
  );
  return row?.locked === true;
}

export function triggerLocks(url: string, onLost: () => void): TriggerLocks {
  let connected: Promise<Client> | undefined;

  const lose = (client: Promise<Client>): void => {
    if (connected !== client) return;
    connected = undefined;
    onLost();
  };

  const connect = async (): Promise<Client> => {
    const client = new Client(connectionConfig(url));
    const connecting = client.connect().then(() => client);
    connected = connecting;
    client.on('error', () => lose(connecting));
    client.on('end', () => lose(connecting));
    try {
      return await connecting;
    } catch (error) {
      connected = undefined;
      throw error;
    }
  };

  return {
    async take(name) {
      const client = await (connected ?? connect());
      const { rows } = await client.query<{ taken: boolean }>(
        'select pg_try_advisory_lock(hashtextextended($1, $2)) as taken',
        [name, SEED],
      );
      return rows[0]?.taken === true;
    },

    async release(name) {
      const client = await connected;
      await client?.query('select pg_advisory_unlock(hashtextextended($1, $2))', [name, SEED]);
    },

    async close() {
      const client = await connected?.catch(() => undefined);
      connected = undefined;
      await client?.end().catch(() => undefined);
    },
  };
}
