/** A run holds tokens in place of secret values, so that no history ever has them. */
import { randomBytes } from 'node:crypto';
import { looksSecret } from '../language/secrets.ts';
import type { Store } from '../prisma/store/contract/contract.ts';

export async function sealEnvironment(
  store: Pick<Store, 'secrets'>,
  handle: string,
  env: { [name: string]: string },
  namespace?: string,
): Promise<{ [name: string]: string }> {
  const values = new Map<string, string>();
  const sealed = Object.entries(env).map(([name, value]) => {
    if (!looksSecret(name) || value === '') return [name, value] as const;
    const token = `sealed_${name}_${randomBytes(16).toString('hex')}`;
    values.set(token, value);
    return [name, token] as const;
  });
  await store.secrets.keep(handle, values, namespace);
  return Object.fromEntries(sealed);
}
