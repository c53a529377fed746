/** Where a project's configuration is. Reads no code. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from '../home/config-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const CONFIG_FILES = ['sentinel.config.ts', 'sentinel.config.js', 'sentinel.config.mjs'] as const;

export interface ConfigFile {
  path: string;
  /** Of its text, and of that of the files it imports by a relative path, and they in turn; not of packages. */
  digest: string;
}

/** The file of a project, unread; null where it has none. */
export function configFileOf(project: string): ConfigFile | null {
  const found = CONFIG_FILES.map((name) => join(project, name)).filter((path) => existsSync(path));
  const [path, other] = found;
  if (path === undefined) return null;
  if (other !== undefined) throw new ConfigError(`${path} and ${other} are both there; keep one of them.`);
  const hash = createHash('sha256');
  for (const text of textsFrom(path)) hash.update(`${text.length} `).update(text);
  return { path, digest: hash.digest('hex').slice(0, 16) };
}

/** More than that are read no more. */
const importedMax = 200;
const IMPORT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*['"](\.{1,2}\/[^'"\n]+)['"]/g;
const ENDINGS = ['', '.ts', '.mts', '.js', '.mjs', '.cjs', '.json', '/index.ts', '/index.js'];

function textsFrom(path: string): string[] {
  const texts = new Map<string, string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined && texts.size <= importedMax; next = waiting.pop()) {
    if (texts.has(next)) continue;
    const text = readFileSync(next, 'utf8');
    texts.set(next, text);
    for (const [, written = ''] of text.matchAll(IMPORT)) waiting.push(...importedFile(next, written));
  }
  return [...texts.values()];
}

function importedFile(from: string, written: string): string[] {
  const path = join(dirname(from), written);
  // A TypeScript file may be imported by the name that it is compiled to.
  const places = [...ENDINGS.map((ending) => `${path}${ending}`), path.replace(/\.([cm]?)js$/, '.$1ts')];
  const found = places.find((place) => existsSync(place) && statSync(place).isFile());
  return found === undefined ? [] : [found];
}

/**
 * The environment as services get it that are started for a project. Beside a Temporal elsewhere the worker here has the
 * configuration of that project; beside one of ours each project has a worker of its own.
 */
export function withProject(env: Environment, project: string): Environment {
  const isElsewhere = (env['TEMPORAL_ADDRESS'] ?? '').trim() !== '';
  const isNamed = (env['SENTINEL_PROJECT'] ?? '') !== '';
  if (!isElsewhere || isNamed || configFileOf(project) === null) return env;
  return { ...env, SENTINEL_PROJECT: project };
}
