/** What is said of a handle that no run has; for one of a nested run, which runs the one around it has started. */
import type { Store } from '../prisma/store/contract.ts';
import { everyEvent } from '../prisma/store/every-event.ts';
import { ClientError } from './client-error.ts';

const NAMED_MAX = 10;

export async function noSuchRun(store: Store, handle: string): Promise<ClientError> {
  const at = handle.lastIndexOf('/');
  const [parent, key] = [handle.slice(0, Math.max(at, 0)), handle.slice(at + 1)];
  if (at === -1 || (await store.runs.find(parent)) === null) return notFound(`There is no run "${handle}": "sentinel list" shows those there are.`);
  const started = await startedBy(store, parent);
  const remedy = started.length === 0 ? `"sentinel trace ${parent}" shows how far it is` : `the latest that it has started: ${started.slice(-NAMED_MAX).join(', ')}`;
  return notFound(`${parent} has started no run at "${key}"; ${remedy}.`);
}

const notFound = (message: string): ClientError => new ClientError('RUN_NOT_FOUND', message);

async function startedBy(store: Store, handle: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const event of everyEvent(store, handle)) if (event.type === 'step-started' && event.step === 'sentinel') keys.push(event.key);
  return keys;
}
