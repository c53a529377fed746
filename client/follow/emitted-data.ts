/** What the steps of a run emitted, by run and step: the events of a run name the step, and not its data. */
import type { Json } from '../../language/json.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';

const EMITTED_MAX = 10_000;

/** By `HANDLE KEY`, of nested runs too. */
export async function emittedData(store: Pick<Store, 'signals'>, handle: string): Promise<Map<string, Json>> {
  const kept = await store.signals.kept({ handle, limit: EMITTED_MAX });
  return new Map(kept.map((event) => [`${event.handle} ${event.key}`, event.data]));
}

export async function emittedBy(store: Pick<Store, 'signals'>, handle: string, key: string): Promise<Json> {
  const [event] = await store.signals.kept({ handle, key, limit: 1 });
  return event?.data ?? null;
}
