/** A migrated database and a store on it for one test file; `close` fails when a connection leaked. */
import { afterAll, beforeAll, inject } from 'vitest';
import type { RunEvent, RunFinished, RunStarted } from '../../../language/events/run-event.ts';
import type { Session, Store } from '../../../prisma/store/contract/contract.ts';
import { migrate } from '../../../prisma/store/connection/migrate.ts';
import { openStore } from '../../../prisma/store/open-store.ts';
import { makeTables } from '../../../operations/system.ts';
import { builtInSystems } from '../../../systems/built-in.ts';
import { createDatabase } from '../../postgres.ts';
import type { TestDatabase } from '../../postgres.ts';

export interface Opened {
  store: Store;
  database: TestDatabase;
}

export function useStore(): Opened {
  const opened = {} as Opened;
  beforeAll(async () => {
    opened.database = await createDatabase(inject('postgresUrl'));
    await migrate(opened.database.url);
    opened.store = openStore({ url: opened.database.url });
    await makeTables(opened.store, builtInSystems);
  });
  afterAll(async () => {
    await opened.store.close();
    // Postgres refuses to drop a database that somebody is still connected to.
    await opened.database.drop();
  });
  return opened;
}

/** What `read` finds, over a session of its own. */
export async function reading<Found>(store: Store, read: (session: Session) => Promise<Found>): Promise<Found> {
  const session = store.session();
  try {
    return await read(session);
  } finally {
    await session.close();
  }
}

const START = Date.parse('2026-01-01T00:00:00Z');

export function started(seq: number, name = 'verify-project'): RunStarted {
  return {
    type: 'run-started',
    seq,
    at: START,
    key: '',
    name,
    definitionHash: 'h',
    project: '/project',
    persona: 'ada',
    parent: null,
    inputs: { n: 1 },
  };
}

export function warning(seq: number, message = `event ${seq}`): RunEvent {
  return { type: 'warning', seq, at: START + seq, key: `steps.${seq}`, code: 'TEST', message };
}

export function finished(seq: number, rest: Partial<RunFinished> = {}): RunFinished {
  return {
    type: 'run-finished',
    seq,
    at: START + seq,
    key: '',
    status: 'completed',
    outcome: 'completed',
    iterations: 1,
    durationMs: seq,
    outputs: { answer: 42 },
    ...rest,
  };
}

export async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  return take(items, Number.POSITIVE_INFINITY);
}
