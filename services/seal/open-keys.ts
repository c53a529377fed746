/**
 * Which keys an installation has. Those that it is given are the only ones. Otherwise it has one that
 * nobody has to carry about: a database that machines share holds it for all of them, and a home holds it
 * where the database is its own.
 */
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Config } from '../config/config.ts';
import { homeKeys, homeKeysIfThere } from './home-key.ts';
import { keysIn, newKeyText, type SealKeys } from '../config/seal-key.ts';

type Place = Pick<Config, 'seal' | 'database' | 'home'>;

export async function openKeys({ seal, database, home }: Place, store: Pick<Store, 'sealKey'>): Promise<SealKeys> {
  if (seal !== null) return keysIn(seal.keys);
  if (!database.isExternal) return homeKeys(home);
  const shared = keysIn(await store.sealKey(newKeyText()));
  // Runs that began before the database was somebody else's go on.
  return [...shared, ...(homeKeysIfThere(home) ?? [])];
}

/** Makes none; null where there are none, or where the database that has them does not answer. */
export async function keysIfThere(place: Place, store: Pick<Store, 'sealKey'> | null): Promise<SealKeys | null> {
  if (place.seal !== null) return keysIn(place.seal.keys);
  if (!place.database.isExternal) return homeKeysIfThere(place.home);
  return store === null ? null : openKeys(place, store);
}
