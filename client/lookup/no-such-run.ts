/** What is said of a handle that no run has; for one of a nested run, which runs the one around it has started. */
import { closest, distance } from 'fastest-levenshtein';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { everyEvent } from '../../prisma/store/runs/every-event.ts';
import { ClientError } from '../../runs/client-error.ts';

const NAMED_MAX = 10;
const LOOKED_AT_MAX = 1000;

export async function noSuchRun(store: Store, handle: string): Promise<ClientError> {
  const at = handle.lastIndexOf('/');
  const [parent, key] = [handle.slice(0, Math.max(at, 0)), handle.slice(at + 1)];
  if (at === -1 || (await store.runs.find(parent)) === null) {
    const near = await nearestRun(store, handle);
    return notFound(
      `There is no run "${handle}"${near === null ? ':' : `; write "${near}", or look:`} "sentinel list" shows those there are.`,
    );
  }
  const started = await startedBy(store, parent);
  const remedy =
    started.length === 0
      ? `"sentinel trace ${parent}" shows how far it is`
      : `the latest that it has started: ${started.slice(-NAMED_MAX).join(', ')}`;
  return notFound(`${parent} has started no run at "${key}"; ${remedy}.`);
}

const notFound = (message: string): ClientError => new ClientError('RUN_NOT_FOUND', message);

/** Of the latest runs; null where none is called much like it. */
async function nearestRun(store: Store, handle: string): Promise<string | null> {
  const handles = (await store.runs.list({ limit: LOOKED_AT_MAX })).map((run) => run.handle);
  const near = handles.length === 0 ? '' : closest(handle, handles);
  return near !== '' && distance(handle, near) <= Math.min(2, Math.floor(handle.length / 3)) ? near : null;
}

async function startedBy(store: Store, handle: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const event of everyEvent(store, handle))
    if (event.type === 'step-started' && event.step === 'sentinel') keys.push(event.key);
  return keys;
}
