/**
 * Which code of projects a user trusts: by project, the digest of all that its `sentinel.config` loads. What has
 * changed since is not trusted. Kept in the user's own folder, or named by SENTINEL_TRUST where nobody can be asked.
 */
import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod';
import { ConfigError } from '../home/config-error.ts';
import { readDecision, writeDecision } from '../home/state-folder.ts';
import { textDigest, type ProjectCode } from './project-code.ts';

const Trusted = z.strictObject({
  project: z.string(),
  digest: z.string(),
  /** The digest of each file, to say what has changed. */
  files: z.record(z.string(), z.string()),
  at: z.string(),
});
type Trusted = z.infer<typeof Trusted>;

export const TRUST_ALL = 'all';

export const isTrusted = (code: ProjectCode): boolean =>
  isNamedInEnvironment(code) || trustedOf(code.path)?.digest === code.digest;

/** By SENTINEL_TRUST, and not by a decision that is kept. */
export function isNamedInEnvironment({ digest }: ProjectCode): boolean {
  const named = (process.env['SENTINEL_TRUST'] ?? '').split(',').map((word) => word.trim());
  return named.includes(TRUST_ALL) || named.includes(digest);
}

/** Throws `ConfigError` where the code is not trusted. */
export function refuseUntrusted(code: ProjectCode): void {
  if (!isTrusted(code)) throw new ConfigError(untrustedText(code));
}

export function untrustedText(code: ProjectCode): string {
  const what =
    changesOf(code) === null
      ? 'is code that you have not trusted'
      : 'is not what you trusted: it has changed, or what it imports';
  return `${code.path} ${what} (digest ${code.digest}). Look at it, then run "sentinel trust"; without a terminal "sentinel trust --yes", or set SENTINEL_TRUST=${code.digest}.`;
}

export interface CodeChanges {
  added: string[];
  changed: string[];
  gone: string[];
}

/** Against what was trusted before; null: nothing was. */
export function changesOf({ path, files }: ProjectCode): CodeChanges | null {
  const before = trustedOf(path)?.files;
  if (before === undefined) return null;
  const now = new Map([...files.values()].map(({ name, digest }) => [name, digest]));
  return {
    added: [...now.keys()].filter((name) => !Object.hasOwn(before, name)),
    changed: [...now]
      .filter(([name, digest]) => Object.hasOwn(before, name) && before[name] !== digest)
      .map(([name]) => name),
    gone: Object.keys(before).filter((name) => !now.has(name)),
  };
}

/** Throws `ConfigError` where it cannot be kept. */
export function trustCode({ path, digest, files }: ProjectCode): void {
  const project = realpathSync(dirname(path));
  const trusted: Trusted = {
    project,
    digest,
    files: Object.fromEntries([...files.values()].map(({ name, digest: of }) => [name, of])),
    at: new Date().toISOString(),
  };
  writeDecision(`${JSON.stringify(trusted, null, 2)}\n`, 'trust', nameFor(project));
}

const nameFor = (project: string): string => `${textDigest(project).slice(0, 32)}.json`;

function trustedOf(path: string): Trusted | null {
  const project = realpathSync(dirname(path));
  const text = readDecision('trust', nameFor(project));
  if (text === null) return null;
  try {
    const trusted = Trusted.parse(JSON.parse(text));
    return trusted.project === project ? trusted : null;
  } catch {
    // Half written by a full disk: then it is asked again.
    return null;
  }
}
