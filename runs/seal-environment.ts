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

/** With the tokens that the step which starts the run hands over: under a name that no definition can list, where the run lists that name itself. */
export function withHanded(
  own: { [name: string]: string },
  handed: { readonly [name: string]: string } = {},
): { [name: string]: string } {
  const env = { ...own };
  for (const [name, token] of Object.entries(handed)) {
    let free = name;
    while (Object.hasOwn(env, free)) free = `given secret ${free}`;
    env[free] = token;
  }
  return env;
}
