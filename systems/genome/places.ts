/** Where things of the genome lie in the folder of the installation: each under the hash of what it is. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalText } from '../../language/canonical.ts';
import { copied } from './copied.ts';

const ownerOnly = 0o700;
const hashChars = 32;

export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(typeof value === 'string' ? value : canonicalText(value))
    .digest('hex');

export class Places {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
  }

  #in(...parts: string[]): string {
    const path = join(this.#root, ...parts);
    mkdirSync(path, { recursive: true, mode: ownerOnly });
    return path;
  }

  /** Of a training, by what it is asked to do. */
  training(plan: unknown): string {
    return this.#in('trainings', hashOf(plan).slice(0, hashChars));
  }

  /** Of an adapter's files, whether or not they are there. */
  adapter(id: string): string {
    return join(this.#in('adapters'), id);
  }

  adapterFile(id: string): string {
    return join(this.adapter(id), 'adapter.gguf');
  }

  gate(id: string): string {
    return join(this.#in('gates'), `${id}.json`);
  }

  rows(sha256: string): string {
    return join(this.#in('rows'), `${sha256}.jsonl`);
  }

  /** A copy that nobody changes any more, and its hash. */
  async keepRows(file: string, signal: AbortSignal): Promise<string> {
    const draft = join(
      this.#in('rows'),
      `${process.pid}-${hashOf(`${file} ${performance.now()}`).slice(0, hashChars)}.new`,
    );
    try {
      const { sha256 } = await copied(file, draft, { signal });
      renameSync(draft, this.rows(sha256));
      return sha256;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** The files of an adapter, under its id. */
  keepAdapter(from: string, id: string): Promise<void> {
    return this.placeAdapters([id], (_id, draft) => cp(from, draft, { recursive: true }));
  }

  /**
   * Each under its id, as a whole or not at all, and none before all are filled; what is there already stays. `fill`: writes
   * the files of one into the folder that it is given.
   */
  async placeAdapters(ids: readonly string[], fill: (id: string, draft: string) => Promise<void>): Promise<void> {
    const drafts: { draft: string; to: string }[] = [];
    try {
      for (const id of ids) {
        const to = this.adapter(id);
        if (existsSync(to)) continue;
        const draft = mkdtempSync(`${to}.`);
        drafts.push({ draft, to });
        await fill(id, draft);
      }
      for (const one of drafts) renamed(one);
    } finally {
      for (const { draft } of drafts) rmSync(draft, { recursive: true, force: true });
    }
  }
}

function renamed({ draft, to }: { draft: string; to: string }): void {
  try {
    renameSync(draft, to);
  } catch (error) {
    // Another step has put the same there meanwhile.
    if (!existsSync(to)) throw error;
  }
}
