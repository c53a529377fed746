/**
 * A definition on its way to the canonical form. Rewrites copy and rename; each new object keeps
 * where it and its keys came from, so that every problem is reported at the place the author wrote.
 */
import type { Problem } from '../../problems.ts';
import { Mounts } from './mounts.ts';

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
  /** Places a rewrite has already reported: the schema says nothing more about them. */
  readonly refused = new Set<string>();
  /** Who the author says owns the run. */
  persona: string | undefined;
  /** Other files that are read in place of their paths. */
  readonly mounts: Mounts;

  constructor(mounts = new Mounts(undefined)) {
    this.mounts = mounts;
  }

  set(value: object, path: string, keys: ReadonlyMap<string, string> = new Map()): void {
    this.#of.set(value, { path, keys: new Map(keys) });
  }

  has(value: object): boolean {
    return this.#of.has(value);
  }

  /** The copy is found where the original is, by default at `path`. */
  copy(from: object, to: object, path: string): void {
    this.#of.set(to, this.#of.get(from) ?? { path, keys: new Map() });
  }

  /** What stands under `to` was written under `from`. */
  move(value: object, from: string, to: string): void {
    const origin = this.#of.get(value);
    if (origin !== undefined) origin.keys.set(to, this.child(value, origin.path, from));
  }

  /** A copy of `raw` to rewrite; what is known of where `raw` came from goes with it. */
  begin(raw: Plain, path: string, problems: Problem[]): Draft {
    const origin = this.#of.get(raw);
    return { value: { ...raw }, path: origin?.path ?? path, moved: new Map(origin?.keys), origins: this, problems };
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
  problems: Problem[];
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

/** The last key of a path, as the author spelled it; `key` may hold dots itself. */
export function lastKey(path: string, key: string): string {
  return path === key || path.endsWith(`.${key}`) ? key : path.slice(path.lastIndexOf('.') + 1);
}

/** The author's own word for a key of the draft. */
export function spelled(draft: Draft, key: string): string {
  const path = draft.moved.get(key);
  return path === undefined ? key : lastKey(path, key);
}

/** Sets a key the author chose: as an own property, whatever its name means to the language. */
export function setOwn(value: Plain, key: string, item: unknown): void {
  Object.defineProperty(value, key, { value: item, writable: true, enumerable: true, configurable: true });
}

/** Gives a key its canonical name. Where both names are present the canonical one is kept. */
export function rename(draft: Draft, from: string, to: string): void {
  if (from === to || !Object.hasOwn(draft.value, from)) return;
  const path = pathOf(draft, from);
  if (Object.hasOwn(draft.value, to)) conflict(draft, from, to);
  else {
    draft.value[to] = draft.value[from];
    draft.moved.set(to, path);
  }
  delete draft.value[from];
}

export function conflict(draft: Draft, key: string, other: string): void {
  const own = spelled(draft, key);
  const message = `"${own}" and "${spelled(draft, other)}" say the same thing; keep one of them`;
  draft.problems.push({
    code: 'CONFLICTING_KEYS',
    severity: 'error',
    path: pathOf(draft, key),
    message,
    fix: `remove "${own}"`,
  });
}

/** The finished object, with where its keys came from. */
export function finish(draft: Draft): Plain {
  draft.origins.set(draft.value, draft.path, draft.moved);
  return draft.value;
}

/** Rewrites the object under `key`, keeping its own place. */
export function within(draft: Draft, key: string, rewrite: (inner: Draft) => void): void {
  const raw = draft.value[key];
  if (!isPlain(raw)) return;
  const inner = draft.origins.begin(raw, pathOf(draft, key), draft.problems);
  rewrite(inner);
  draft.value[key] = finish(inner);
}

/** Puts an object or a list of ours where the author wrote something lighter: its keys are found at that place. */
export function standIn(draft: Draft, key: string, value: object): void {
  const path = pathOf(draft, key);
  draft.origins.set(value, path, new Map(Object.keys(value).map((inner) => [inner, path])));
  draft.value[key] = value;
}

export function infer(draft: Draft, sentence: string): void {
  draft.origins.inferred.push(`${draft.path === '' ? 'it' : draft.path} ${sentence}`);
}

/** A key that is read and does nothing. */
export function withoutEffect(draft: Draft, key: string, why: string): void {
  if (!Object.hasOwn(draft.value, key)) return;
  const own = spelled(draft, key);
  draft.problems.push({
    code: 'KEY_WITHOUT_EFFECT',
    severity: 'warning',
    path: pathOf(draft, key),
    message: `"${own}" has no effect: ${why}`,
    fix: `remove "${own}"`,
  });
  delete draft.value[key];
}
