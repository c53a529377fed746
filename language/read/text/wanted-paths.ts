/** The paths that a text is looked through for, and where they were found: each at its own place, or at that of what holds it. */
export class WantedPaths {
  readonly #wanted: ReadonlySet<string>;
  /** Everything that a path leads through. */
  readonly #around = new Set<string>();
  readonly #found = new Map<string, number>();
  readonly #longest: number;

  constructor(paths: readonly string[]) {
    this.#wanted = new Set(paths);
    for (const path of this.#wanted) for (const part of through(path)) this.#around.add(part);
    this.#longest = Math.max(0, ...Array.from(this.#wanted, (path) => path.length));
  }

  get left(): number {
    return this.#around.size - this.#found.size;
  }

  /** The path of what stands under the key; undefined where nothing there is looked for. */
  child(path: string, key: string): string | undefined {
    if (path.length + key.length > this.#longest) return undefined;
    const inner = path === '' ? key : `${path}.${key}`;
    return this.#around.has(inner) ? inner : undefined;
  }

  found(path: string | undefined, at: number): void {
    if (path !== undefined && this.#around.has(path) && !this.#found.has(path)) this.#found.set(path, at);
  }

  places(): Map<string, number> {
    const places = new Map<string, number>();
    for (const path of this.#wanted) {
      const at = through(path)
        .toReversed()
        .map((part) => this.#found.get(part))
        .find((place) => place !== undefined);
      if (at !== undefined) places.set(path, at);
    }
    return places;
  }
}

/** A path and all that hold it, the outermost first. */
function through(path: string): string[] {
  const parts = [''];
  for (let at = path.indexOf('.'); at !== -1; at = path.indexOf('.', at + 1)) parts.push(path.slice(0, at));
  return path === '' ? parts : [...parts, path];
}
