/** Through which proxy of the environment servers elsewhere are asked: `doctor` says it, without the password. */
import { exceptionsIn, proxyOf, shownProxy, UnusableProxy } from '../world/http/proxy.ts';
import type { Environment } from './config/config.ts';
import type { DoctorEntry } from './doctor-entry.ts';

const KINDS = ['https', 'http'] as const;

export function inspectProxy(env: Environment): DoctorEntry {
  const entry = { name: 'proxy', ok: true, where: null, version: null };
  try {
    const named = KINDS.flatMap((kind) => {
      const proxy = proxyOf(kind, env);
      return proxy === null ? [] : [`${kind}:// through ${shownProxy(proxy)}`];
    });
    if (named.length === 0) return { ...entry, found: 'none: servers elsewhere are asked directly' };
    const exceptions = exceptionsIn(env);
    const without = exceptions === '' ? 'this machine' : `this machine and ${exceptions}`;
    return { ...entry, found: `${named.join(', ')}; without it ${without}` };
  } catch (error) {
    if (!(error instanceof UnusableProxy)) throw error;
    return { ...entry, ok: false, found: error.message, remedy: `Correct ${error.variable}, or unset it.` };
  }
}
