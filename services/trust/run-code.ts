/**
 * Runs the code of a `sentinel.config`, and no other bytes than those that were read for its digest: what is written
 * in its place between reading and running is refused. jiti loads it; each text comes by here before it is run.
 *
 * Code of packages is run by Node itself, which reads it again: it is held against the digest just before.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, isAbsolute, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { JitiOptions, TransformOptions, TransformResult } from 'jiti';
import { ConfigError } from '../home/config-error.ts';
import { ownRoot } from '../home/package-root.ts';
import { CODE, textDigest, type ProjectCode } from './project-code.ts';

type Require = ReturnType<typeof createRequire>;
type CreateJiti = (
  path: string,
  options: JitiOptions,
  ways: {
    onError(error: unknown): never;
    nativeImport(id: string | URL): Promise<unknown>;
    createRequire(path: string | URL): Require;
  },
) => { import(id: string, options: { default: true }): Promise<unknown> };

/** `asKept`: the project's own files as they were read, whatever is in their place by now. */
export async function runCode(
  code: ProjectCode,
  virtualModules: Record<string, object>,
  { asKept = false }: { asKept?: boolean } = {},
): Promise<unknown> {
  const require = createRequire(import.meta.url);
  const folder = join(dirname(require.resolve('jiti/package.json')), 'dist');
  const createJiti = require(join(folder, 'jiti.cjs')) as CreateJiti;
  const compile = require(join(folder, 'babel.cjs')) as (options: TransformOptions) => TransformResult;
  const bytes = new Bytes(code, asKept);
  const jiti = createJiti(
    code.path,
    {
      moduleCache: false,
      fsCache: false,
      virtualModules,
      transform(options) {
        return compile({ ...options, source: bytes.textOf(options.filename ?? '', options.source) });
      },
    },
    {
      onError(error) {
        throw error;
      },
      async nativeImport(id) {
        bytes.refuseForNode(String(id));
        return import(/* @vite-ignore */ String(id)) as Promise<unknown>;
      },
      createRequire: (path) => bytes.requireFrom(createRequire(path)),
    },
  );
  return jiti.import(code.path, { default: true });
}

class Bytes {
  readonly #code: ProjectCode;
  readonly #asKept: boolean;

  constructor(code: ProjectCode, asKept: boolean) {
    this.#code = code;
    this.#asKept = asKept;
  }

  textOf(path: string, found: string | Buffer): string {
    const kept = this.#asKept ? this.#code.files.get(realpathSync(path))?.text : undefined;
    if (kept !== undefined) return kept;
    this.refuseOther(path, found);
    return found.toString();
  }

  refuseOther(path: string, content: string | Buffer): void {
    const known = this.#code.files.get(realpathSync(path));
    if (known === undefined)
      throw new ConfigError(
        `${this.#code.path} loads ${path}, which is not among the files that its digest is of: import it by its written name.`,
      );
    if (known.digest !== textDigest(content))
      throw new ConfigError(`${path} was changed while it was loaded; nothing of it was run. Try again.`);
  }

  /** Code of the project goes through `transform`, where its very bytes are seen: here it is refused. */
  refuseForNode(id: string): void {
    if (isBuiltin(id)) return;
    const path = id.startsWith('file:') ? fileURLToPath(id) : id;
    if (!isAbsolute(path)) throw new ConfigError(`${this.#code.path} imports "${id}", which is not installed.`);
    const real = realpathSync(path);
    if (real.startsWith(join(ownRoot, 'dist', sep))) return;
    if (CODE.test(real) && !real.split(sep).includes('node_modules'))
      throw new Error(`${path} is compiled, and not loaded by Node`);
    this.refuseOther(path, readFileSync(path));
  }

  requireFrom(require: Require): Require {
    const guarded = (id: string): unknown => {
      if (!isBuiltin(id) && id.endsWith('.json')) {
        return JSON.parse(this.textOf(id, readFileSync(id)));
      }
      this.refuseForNode(id);
      return require(id);
    };
    return Object.assign(guarded, {
      resolve: require.resolve,
      cache: require.cache,
      extensions: require.extensions,
      main: require.main,
    });
  }
}
