/**
 * A tree of git in memory: what each folder holds, and what its files looked like when their contents were read.
 *
 * - K1 A file whose metadata is as it was has the content that it had. Who changes one within a moment of the look
 *      may leave the same times, so then nothing is said of it, and it is read again.
 * - K2 A folder without a name has none above it: what changed below is written anew, and nothing else.
 */
import { objectName, type ObjectWriter } from './objects.ts';

export interface Stamp {
  ino: number;
  size: number;
  mtimeMs: number;
  ctimeMs: number;
}

/** The clock of a file system may stand still for so long. */
const tickMs = 100;

/** Null where a change in the same moment could look like this. `at`: before the look. */
export const stampOf = ({ ino, size, mtimeMs, ctimeMs }: Stamp, at: number): Stamp | null =>
  Math.max(mtimeMs, ctimeMs) + tickMs < at ? { ino, size, mtimeMs, ctimeMs } : null;

/** The index of git keeps 32 bits of a number. */
export const isAsBefore = (stamp: Stamp | null, found: Stamp): boolean =>
  stamp !== null &&
  stamp.mtimeMs === found.mtimeMs &&
  stamp.ctimeMs === found.ctimeMs &&
  stamp.size === found.size &&
  stamp.ino >>> 0 === found.ino >>> 0;

export type Kind = 'file' | 'folder' | 'link';

export interface KnownFile {
  mode: string;
  /** Null: too large to keep. */
  blob: string | null;
  stamp: Stamp | null;
}

export class KnownFolder {
  /** From the root; empty for the root itself, else with a slash at its end. */
  readonly path: string;
  readonly above: KnownFolder | null;
  readonly files = new Map<string, KnownFile>();
  readonly folders = new Map<string, KnownFolder>();
  /** What stands there and is in no state. */
  readonly left = new Map<string, Kind>();
  /** Of the list of names; null: it is read again. */
  stamp: Stamp | null = null;
  /** Of rules that are themselves left out. */
  rules: Stamp | null = null;
  /** Nothing on the disk: it is not looked for there. */
  isApart = false;
  #tree: string | null = null;

  constructor(path = '', above: KnownFolder | null = null) {
    this.path = path;
    this.above = above;
  }

  /** The folder of that name, made where it is missing. */
  folder(name: string): KnownFolder {
    const known = this.folders.get(name);
    if (known !== undefined) return known;
    const made = new KnownFolder(`${this.path}${name}/`, this);
    this.folders.set(name, made);
    made.touch();
    return made;
  }

  touch(): void {
    this.#tree = null;
    let { above } = this;
    while (above !== null && above.#tree !== null) {
      above.#tree = null;
      ({ above } = above);
    }
  }

  /** Null where nothing is in it. Without a `writer` the name alone is told. */
  tree(writer: ObjectWriter | null): string | null {
    const isEmpty = this.files.size === 0 && this.folders.size === 0;
    if (isEmpty && this.above !== null) return null;
    if (this.#tree !== null) return this.#tree === NONE ? null : this.#tree;
    const entries = this.#entries(writer);
    if (entries.length === 0 && this.above !== null) {
      this.#tree = NONE;
      return null;
    }
    const content = Buffer.concat(entries.flatMap(({ head, id }) => [head, id]));
    this.#tree = writer === null ? objectName('tree', content) : writer.add('tree', content);
    return this.#tree;
  }

  /** In the order of git: by bytes, a folder as if a slash stood behind its name. */
  #entries(writer: ObjectWriter | null): { sort: Buffer; head: Buffer; id: Buffer }[] {
    const entries = [...this.files].flatMap(([name, { mode, blob }]) =>
      blob === null ? [] : [entryOf(name, mode, blob)],
    );
    for (const [name, folder] of this.folders) {
      const tree = folder.tree(writer);
      if (tree !== null) entries.push(entryOf(name, TREE, tree));
    }
    return entries.toSorted((a, b) => Buffer.compare(a.sort, b.sort));
  }
}

const TREE = '40000';
const NONE = 'none';

const entryOf = (name: string, mode: string, id: string): { sort: Buffer; head: Buffer; id: Buffer } => ({
  sort: Buffer.from(mode === TREE ? `${name}/` : name),
  head: Buffer.from(`${mode} ${name}\0`),
  id: Buffer.from(id, 'hex'),
});
