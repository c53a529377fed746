/**
 * A definition on its way to the canonical form. Rewrites copy and rename; each new object keeps
 * where it and its keys came from, so that every problem is reported at the place the author wrote.
 */
export type Plain = { [key: string]: unknown };

interface Origin {
  path: string;
  /** Canonical key → author's path, where the two differ. */
  keys: Map<string, string>;
}

export class Origins {
  readonly #of = new WeakMap<object, Origin>();
  /** What the reader filled in, one readable line each. */
  readonly inferred: string[] = [];

  set(value: object, path: string, keys: ReadonlyMap<string, string> = new Map()): void {
    this.#of.set(value, { path, keys: new Map(keys) });
  }

  /** The copy is found where the original is, by default at `path`. */
  copy(from: object, to: object, path: string): void {
    this.#of.set(to, this.#of.get(from) ?? { path, keys: new Map() });
  }

  /** The author's path of `value[key]`. */
  child(value: object, parentPath: string, key: string | number): string {
    const origin = this.#of.get(value);
    return origin?.keys.get(String(key)) ?? join(origin?.path ?? parentPath, key);
  }

  /** Author's path for a canonical path below `root`, as far as the objects reach. */
  locate(root: unknown, rootPath: string, path: ReadonlyArray<PropertyKey>): string {
    let value = root;
    let at = isObject(value) ? (this.#of.get(value)?.path ?? rootPath) : rootPath;
    for (const key of path) {
      const name = typeof key === 'number' ? key : String(key);
      at = isObject(value) ? this.child(value, at, name) : join(at, name);
      value = isObject(value) ? (value as Plain)[String(key)] : undefined;
      if (isObject(value)) at = this.#of.get(value)?.path ?? at;
    }
    return at;
  }
}

/** One object being rewritten: a shallow copy with the author's path of every renamed key. */
export interface Draft {
  value: Plain;
  path: string;
  moved: Map<string, string>;
  origins: Origins;
  /** Pairs of keys that say the same thing. */
  conflicts: Array<{ path: string; key: string; other: string }>;
}

export function join(path: string, key: string | number): string {
  return path === '' ? String(key) : `${path}.${key}`;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function isPlain(value: unknown): value is Plain {
  return isObject(value) && !Array.isArray(value);
}

/** The author's path of a key of the draft. */
export function pathOf(draft: Draft, key: string): string {
  return draft.moved.get(key) ?? join(draft.path, key);
}

/** Gives a key its canonical name. Where both names are present the canonical one is kept. */
export function rename(draft: Draft, from: string, to: string): void {
  if (!Object.hasOwn(draft.value, from)) return;
  const path = pathOf(draft, from);
  if (Object.hasOwn(draft.value, to)) draft.conflicts.push({ path, key: from, other: to });
  else {
    draft.value[to] = draft.value[from];
    draft.moved.set(to, path);
  }
  delete draft.value[from];
}
