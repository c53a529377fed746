/** The session of a command that is an activity of its own. */
import type { Json } from '../../language/json.ts';
import type { CommandContext } from '../../operations/command.ts';
import type { OpenSession, Store } from '../../prisma/store/contract/contract.ts';
import { JournalConflict } from '../../prisma/store/contract/journal-conflict.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export async function reading(store: Store, run: (session: OpenSession) => Promise<Json>): Promise<Json> {
  const session = store.session();
  try {
    return await run(session);
  } finally {
    await session.close();
  }
}

/** A write to our store, its result and its journal row are one transaction: it happens once. */
export async function once(
  store: Store,
  { run: { handle }, key, attempt }: Pick<CommandContext, 'run' | 'key' | 'attempt'>,
  perform: (session: OpenSession) => Promise<Json>,
): Promise<Json> {
  // What an attempt before had committed, it has done.
  const before = attempt === 1 ? null : await store.journal.find(handle, key);
  const at = { handle, key };
  if (before !== null) {
    crashPoint('command.taken-over', at);
    return before;
  }
  crashPoint('command.begun', at);
  const session = store.session();
  try {
    const result = await perform(session);
    crashPoint('command.performed', at);
    // A long command acts on the world, and most have nothing to keep.
    if (session.isWriting) await session.commit({ handle, key, result, events: [] });
    crashPoint('command.committed', at);
    return result;
  } catch (error) {
    if (!(error instanceof JournalConflict)) throw error;
    return await store.journal.find(handle, key);
  } finally {
    await session.close();
  }
}
