/**
 * A command that a person calls, at once and outside of runs: what it writes into our store, its events and its result
 * are one transaction, kept under the id of the call. The same call again gives the result of the first.
 */
import type { Json, JsonObject } from '../language/json.ts';
import { findCommand } from '../language/catalogue.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import { JournalConflict } from '../prisma/store/contract/journal-conflict.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import { Failure } from '../world/failures/failures.ts';
import { PERSONS_HANDLE, type Caller } from './caller.ts';
import type { RunPort } from './command.ts';
import { quickContext } from './quick-context.ts';
import type { Registry } from './registry.ts';

export interface Performing {
  store: Store;
  registry: Registry;
  runs: RunPort;
}

export interface Asked {
  command: string;
  params: JsonObject;
  /** Absolute. */
  project: string;
  /** The person, or the program of the agent. */
  by: string;
  as?: 'person' | 'agent';
  /** Of the call. */
  id: string;
  timeoutMs: number;
}

export async function perform({ store, registry, runs }: Performing, asked: Asked): Promise<Json> {
  const entry = findCommand(registry.catalogue, asked.command);
  if (entry?.speed === 'long') throw new Failure('COMMAND_PARAMS_INVALID', longWords(asked.command));
  const key = `${asked.command} ${asked.id}`;
  const called = contentHash({ params: asked.params, by: asked.by });
  const first = await keptFor(store, key);
  // What the first call did would stand in the way of a second.
  if (first !== null) return resultOf(first, called, asked);
  const session = store.session();
  try {
    const { command, params, project, by, as = 'person', timeoutMs } = asked;
    const run = { handle: PERSONS_HANDLE, project, persona: by, definitionHash: '' };
    const caller: Caller = { kind: as, name: by };
    const context = quickContext({ run, caller, key, store, session, runPort: runs, timeoutMs });
    const result = await registry.run(command, params, context);
    if (entry?.permission !== 'read') {
      const kept: Kept = { at: Date.now(), called, value: result };
      await session.commit({ handle: PERSONS_HANDLE, key, result: kept, events: [] });
      store.signals.announce();
    }
    return result;
  } catch (error) {
    if (!(error instanceof JournalConflict)) throw error;
    const other = await keptFor(store, key);
    if (other === null) throw error;
    return resultOf(other, called, asked);
  } finally {
    await session.close();
  }
}

/** Its time comes first, in milliseconds since the epoch: a day later it is swept. */
type Kept = { at: number; called: string; value: Json };

const keptFor = async (store: Store, key: string): Promise<Kept | null> =>
  (await store.journal.find(PERSONS_HANDLE, key)) as Kept | null;

function resultOf({ called: before, value }: Kept, called: string, { command, id }: Asked): Json {
  if (before === called) return value;
  throw new Failure(
    'COMMAND_PARAMS_INVALID',
    `the id "${id}" is that of another call of ${command}, with other parameters; give each call an id of its own`,
  );
}

const longWords = (command: string): string =>
  `${command} takes long or acts on the world, so it belongs into a run: make it the step of a definition, or use "sentinel command"`;
