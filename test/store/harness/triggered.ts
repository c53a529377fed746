/** What the tests of triggers work with: a store, a trigger of it, and events from outside of runs. */
import { Client } from 'pg';
import { afterEach, onTestFinished } from 'vitest';
import type { NewRun } from '../../../prisma/store/contract/contract.ts';
import type {
  NewTrigger,
  OutsideEvent,
  Trigger,
  TriggerStore,
  VerdictOf,
} from '../../../prisma/store/contract/trigger-contract.ts';
import type { Store } from '../../../prisma/store/contract/contract.ts';
import { TRIGGERS } from '../../../worker/triggers/dispatcher.ts';
import { useStore, type Opened } from './opened.ts';

export interface Triggered {
  opened: Opened;
  add: (rest?: Partial<NewTrigger>) => Promise<Trigger>;
  /** Until the triggers have had every event. */
  spreadAll: () => Promise<void>;
  /** One that somebody else has begun: it ends with the test, where it has not been ended before. */
  transaction: () => Promise<Client>;
}

export const newTrigger = (rest: Partial<NewTrigger> = {}): NewTrigger => ({
  name: 'reviewer',
  event: 'git:*',
  definitionHash: 'h',
  project: '/a',
  persona: 'ada',
  inputs: { depth: 1 },
  taskQueue: 'sentinel',
  ...rest,
});

let count = 0;

export const outside = (rest: Partial<OutsideEvent> = {}): OutsideEvent => {
  count += 1;
  return { source: '@emit', id: `event-${count}`, name: 'git:push', data: { n: count }, project: null, ...rest };
};

/** Of a run of the trigger. */
export const rowOf = (handle: string): NewRun => ({
  handle,
  name: 'n',
  definitionHash: 'h',
  project: '/a',
  persona: 'ada',
  parent: null,
  inputs: {},
  startedAt: Date.now(),
});

/** Gives the triggers their next events, as a worker does. How many. */
export async function spread(store: Store, verdictOf?: VerdictOf): Promise<number> {
  await store.cursors.behind([TRIGGERS]);
  const session = store.session();
  try {
    const batch = await store.cursors.take(session, TRIGGERS);
    if (batch !== null) await store.triggers.spread(session, batch.events, verdictOf);
    await session.end();
    return batch?.events.length ?? 0;
  } finally {
    await session.close();
  }
}

/** No trigger outlasts a test, and no event that it has not had. `verdictOf`: for triggers with filters. */
export function useTriggers(verdictOf?: VerdictOf): Triggered {
  const opened = useStore();
  const triggers = (): TriggerStore => opened.store.triggers;
  const spreadAll = async (): Promise<void> => {
    while ((await spread(opened.store, verdictOf)) > 0);
  };
  afterEach(async () => {
    await spreadAll();
    for (const { id } of await triggers().list()) await triggers().remove(id);
  });
  return {
    opened,
    spreadAll,
    add: async (rest) => (await triggers().add(newTrigger(rest))).trigger,
    async transaction() {
      const client = new Client({ connectionString: opened.database.url });
      await client.connect();
      onTestFinished(() => client.end());
      await client.query('begin');
      return client;
    },
  };
}
