/** The GGUF files that have names: one JSON file, written by `sentinel models add`. */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';

const Entry = z.object({ path: z.string(), addedAt: z.string() });
const Registry = z.record(z.string(), Entry);

export interface LocalModel {
  name: string;
  path: string;
  /** Null where the file has gone. */
  sizeBytes: number | null;
}

export class LocalModels {
  readonly file: string;

  /** `file` need not be there yet. */
  constructor(file: string) {
    this.file = file;
  }

  list(): LocalModel[] {
    return Object.entries(this.#read()).map(([name, { path }]) => ({
      name,
      path,
      sizeBytes: statSync(path, { throwIfNoEntry: false })?.size ?? null,
    }));
  }

  /** The file of a name, or of a path to a `.gguf`; null where there is none such. */
  find(id: string, project: string): string | null {
    const named = this.#read()[id];
    if (named !== undefined) return named.path;
    return isPath(id) ? resolve(project, id) : null;
  }

  /** A name that stood for another file stands for this one from now on. */
  add(name: string, path: string): void {
    if (!isAbsolute(path)) throw new Error(`bug: the path of a model is absolute, and not "${path}"`);
    const entries = { ...this.#read(), [name]: { path, addedAt: new Date().toISOString() } };
    const draft = `${this.file}.${process.pid}.new`;
    writeFileSync(draft, `${JSON.stringify(entries, null, 2)}\n`);
    renameSync(draft, this.file);
  }

  #read(): z.infer<typeof Registry> {
    if (!existsSync(this.file)) return {};
    return Registry.parse(JSON.parse(readFileSync(this.file, 'utf8')));
  }
}

export const isPath = (id: string): boolean => /\.gguf$/i.test(id) || id.startsWith('.//') || isAbsolute(id);
