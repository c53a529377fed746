/**
 * All the code that a `sentinel.config` loads, read once: its bytes have the digest that a person trusts, and what
 * is run is held against them (run-code.ts). That is the file, what it imports, in the project and outside of it, and
 * the packages with their dependencies; and what of each `package.json` decides which files those are.
 *
 * An import is found by how it is written. What is imported under a computed name is not found, and refused when it
 * is to run.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConfigError } from '../home/config-error.ts';
import { ownRoot, PACKAGE } from '../home/package-root.ts';

export interface ProjectCode {
  /** The `sentinel.config`. */
  path: string;
  digest: string;
  /** By real path. */
  files: ReadonlyMap<string, CodeFile>;
}

export interface CodeFile {
  /** As people are shown it: from the project's folder. */
  name: string;
  digest: string;
  bytes: number;
  /** Of the project's own files: a process that is started later runs the same. */
  text?: string;
}

const filesMax = 20_000;
const bytesMax = 512 * 1024 * 1024;
const IMPORT = /(?:\bfrom|\bimport|\brequire|\bresolve)\s*\(?\s*(['"`])((?:(?!\1)[^\n\\$])+)\1/g;
const OTHER_LOADERS = /\bcreateRequire\b|\bgetBuiltinModule\b|(['"`])(?:node:)?module\1/;
const ENDINGS = [
  '',
  '.ts',
  '.mts',
  '.cts',
  '.tsx',
  '.js',
  '.mjs',
  '.cjs',
  '.jsx',
  '.json',
  '/index.ts',
  '/index.mts',
  '/index.js',
  '/index.mjs',
  '/index.cjs',
];
/** Files that are compiled before they run. */
export const CODE = /\.(?:[cm]?[jt]sx?)$/;
/** What of a package.json says which file an import means, and how it is read. */
const RESOLUTION = ['name', 'type', 'main', 'module', 'exports', 'imports', 'jiti'] as const;

export const textDigest = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

export function readProjectCode(path: string): ProjectCode {
  const reading = new Reading(dirname(path));
  reading.file(path);
  const files = reading.files;
  const lines = [...files.values()].map(({ name, digest }) => `${name}\0${digest}`).toSorted();
  return { path, digest: textDigest(lines.join('\n')).slice(0, 32), files };
}

class Reading {
  readonly files = new Map<string, CodeFile>();
  readonly #root: string;
  readonly #packages = new Set<string>();
  #bytes = 0;

  constructor(project: string) {
    this.#root = realpathSync(project);
  }

  /** A file of the project, and all that it imports. */
  file(path: string): void {
    const waiting = [path];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const real = realpathSync(next);
      if (this.files.has(real)) continue;
      const content = readFileSync(real);
      const text = content.toString('utf8');
      this.#add(real, content, text);
      this.#resolution(dirname(real));
      if (!CODE.test(real)) continue;
      this.#refuseOtherLoaders(real, text);
      waiting.push(...this.#imported(real, text));
    }
  }

  /** What they load, nobody sees before it runs. */
  #refuseOtherLoaders(path: string, text: string): void {
    const used = OTHER_LOADERS.exec(text)?.[0];
    if (used === undefined) return;
    throw new ConfigError(
      `${this.#nameOf(path)} uses ${used.replaceAll(/['"`]/g, '')}, and what that loads would not be part of what you trust: import files, packages and JSON by their written names.`,
    );
  }

  #imported(from: string, text: string): string[] {
    return Array.from(text.matchAll(IMPORT), ([, , written = '']) => written).flatMap((written) => {
      if (written.startsWith('#')) return this.#inner(dirname(from));
      if (isBuiltin(written) || written === PACKAGE || written.startsWith(`${PACKAGE}/`)) return [];
      if (/^(?:\.{1,2}(?:\/|$)|\/|file:)/.test(written)) return fileAt(from, written);
      this.#package(dirname(from), written);
      return [];
    });
  }

  /** The files that "imports" of the nearest package.json names, whichever of them is meant. */
  #inner(folder: string): string[] {
    const own = nearestPackage(folder);
    const named = own === null ? [] : textsIn(readPackage(own)['imports']);
    return named.flatMap((written) => (written.startsWith('./') ? fileAt(own ?? '', written) : []));
  }

  #package(from: string, written: string): void {
    const waiting = [{ from, name: written }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const folder = packageFolder(next.from, next.name);
      // Sentinel's own code runs already.
      if (folder === null || folder === ownRoot || this.#packages.has(folder)) continue;
      this.#packages.add(folder);
      for (const path of packageFiles(folder)) this.#add(path, readFileSync(path));
      const { dependencies, optionalDependencies, peerDependencies } = readPackage(join(folder, 'package.json'));
      for (const named of [dependencies, optionalDependencies, peerDependencies])
        waiting.push(...Object.keys(named ?? {}).map((name) => ({ from: folder, name })));
    }
  }

  #resolution(folder: string): void {
    const path = nearestPackage(folder);
    const key = path === null ? null : `${path}#resolution`;
    if (path === null || key === null || this.files.has(key)) return;
    const all = readPackage(path);
    const content = JSON.stringify(Object.fromEntries(RESOLUTION.map((name) => [name, all[name]])));
    this.files.set(key, {
      name: `${this.#nameOf(path)} (${RESOLUTION.join(', ')})`,
      digest: textDigest(content),
      bytes: content.length,
    });
  }

  #add(real: string, content: Buffer, text?: string): void {
    if (this.files.has(real)) return;
    const kept = text === undefined ? {} : { text };
    this.files.set(real, { name: this.#nameOf(real), digest: textDigest(content), bytes: content.length, ...kept });
    this.#bytes += content.length;
    if (this.files.size <= filesMax && this.#bytes <= bytesMax) return;
    throw new ConfigError(
      `What sentinel.config in ${this.#root} imports is more than ${filesMax} files or ${bytesMax / 2 ** 20} MiB, too much to be asked about: import less.`,
    );
  }

  #nameOf = (real: string): string => relative(this.#root, real).split(sep).join('/');
}

function fileAt(from: string, written: string): string[] {
  const path = written.startsWith('file:') ? fileURLToPath(written) : resolve(dirname(from), written);
  // A TypeScript file may be imported by the name that it is compiled to.
  const places = [...ENDINGS.map((ending) => `${path}${ending}`), path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2')];
  // Each that is there: which one is loaded depends on who asks, and one more changes the digest.
  return places.filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function nearestPackage(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'package.json');
    if (existsSync(path)) return path;
    if (dirname(at) === at) return null;
  }
}

interface PackageJson {
  [field: string]: unknown;
  dependencies?: Record<string, unknown>;
  optionalDependencies?: Record<string, unknown>;
  peerDependencies?: Record<string, unknown>;
}

function readPackage(path: string): PackageJson {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as PackageJson;
  } catch {
    // Nothing is imported by a package.json that cannot be read.
    return {};
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const LEFT_OUT = new Set(['node_modules', '.git', '.sentinel']);

/** The real folder of the package; null where it is not installed. */
function packageFolder(from: string, written: string): string | null {
  const parts = written.split('/');
  const name = written.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '');
  if (!/^(?:@[\w.~-]+\/)?[\w.~-]+$/.test(name)) return null;
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(folder)) return realpathSync(folder);
    if (dirname(at) === at) return null;
  }
}

/** Real paths; what it has of its own in node_modules are packages for themselves. */
function packageFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (LEFT_OUT.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return packageFiles(path);
    return entry.isFile() ? [path] : [];
  });
}
