/** Where a project's configuration is, and whether a worker has the same. Reads no code. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from './config-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const FILES = ['sentinel.config.ts', 'sentinel.config.js', 'sentinel.config.mjs'] as const;

export interface ConfigFile {
  path: string;
  /** Of its text; what it imports does not take part. */
  digest: string;
}

/** The file of a project, unread; null where it has none. */
export function configFileOf(project: string): ConfigFile | null {
  const found = FILES.map((name) => join(project, name)).filter((path) => existsSync(path));
  const [path, other] = found;
  if (path === undefined) return null;
  if (other !== undefined) throw new ConfigError(`${path} and ${other} are both there; keep one of them.`);
  return { path, digest: createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16) };
}

/** The environment as services get it that are started for a project: its configuration is the worker's. */
export function withProject(env: Environment, project: string): Environment {
  if ((env['SENTINEL_PROJECT'] ?? '') !== '' || configFileOf(project) === null) return env;
  return { ...env, SENTINEL_PROJECT: project };
}

/**
 * Why a run of a project cannot be had by a worker; null where it can. A project without a configuration
 * of its own contradicts none.
 */
export function configConflict(project: string, workerProject: string | null): string | null {
  const wanted = configFileOf(project);
  if (wanted === null) return null;
  const loaded = workerProject === null ? null : configFileOf(workerProject);
  if (loaded?.digest === wanted.digest) return null;
  const other = loaded === null ? 'without a configuration' : `with ${loaded.path}`;
  return `${wanted.path} is not what the worker has, which was started ${other}; run "sentinel up" in ${project}, or give the project services of its own with SENTINEL_HOME`;
}
