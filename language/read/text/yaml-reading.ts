/** The nodes of a YAML document, read to values; what is not what it says is told. */
import { isAlias, isMap, isPair, isScalar, isSeq, type Alias, type Node, type Scalar } from 'yaml';
import { valueDepthMax, valuesMax } from '../../limits.ts';
import type { Problem } from '../../problems.ts';
import { pathTo } from './place.ts';
import { changesMax, HANDED_ON, keyTwice, numberProblem } from './silent-changes.ts';

export const IN_QUOTES = 'put the whole value in quotes';
export const TAGS = `tags (!) are not read; remove this one, and ${IN_QUOTES} where it is a text`;
export const BRACES = 'to YAML {{ begins a map: put the whole value in quotes, as "{{name}}"';

interface Fault {
  code: 'NOT_YAML' | 'TOO_LARGE' | 'TOO_DEEP';
  at: number;
  message: string;
}

interface Change {
  problem: Problem;
  at: number;
}

/** Whoever writes YAML by hand leaves out quotes. */
const ANY = /^/;
/** Yes and no in YAML 1.1, which many know; in YAML 1.2 they are texts. */
const YES_OR_NO = /^(?:yes|no|on|off)$/i;
const YES = /^(?:yes|on)$/i;
const MERGE = '<<';

export class YamlReading {
  fault: Fault | undefined;
  readonly changes: Change[] = [];
  readonly #anchors = new Map<string, Node>();
  /** Anchors whose values are being copied. */
  readonly #copied = new Set<string>();
  #values = 0;
  #depth = 0;

  value(node: Node | null, path: string): unknown {
    if (node === null || this.fault !== undefined) return null;
    const at = node.range?.[0] ?? 0;
    this.#values += 1;
    if (this.#values > valuesMax)
      return this.#refuse(at, 'the definition holds too many values with what its aliases name', 'TOO_LARGE');
    if (isAlias(node)) return this.#alias(node, at, (found) => this.value(found, path));
    if ('anchor' in node && typeof node.anchor === 'string') this.#anchors.set(node.anchor, node);
    if (node.tag !== undefined) return this.#refuse(at, TAGS);
    if (isScalar(node)) return this.#scalar(node, path, at);
    if (this.#depth >= valueDepthMax)
      return this.#refuse(
        at,
        `there are more than ${valueDepthMax} levels here with what its aliases name`,
        'TOO_DEEP',
      );
    this.#depth += 1;
    const value = isSeq(node)
      ? node.items.map((item, index) => this.value(item as Node | null, pathTo(path, index)))
      : isMap(node)
        ? this.#map(node.items, path, at)
        : null;
    this.#depth -= 1;
    return value;
  }

  /** A copy, so that no part of a definition stands in it twice. */
  #alias<Result>({ source }: Alias, at: number, read: (node: Node) => Result): Result | null {
    const node = this.#anchors.get(source);
    if (node === undefined) return this.#refuse(at, `nothing before this has the anchor "&${source}"`);
    if (this.#copied.has(source)) return this.#refuse(at, `the value of "&${source}" holds itself`);
    this.#copied.add(source);
    const value = read(node);
    this.#copied.delete(source);
    return value;
  }

  #map(items: readonly unknown[], path: string, at: number): unknown {
    const entries = new Map<string, unknown>();
    const merged: [string, unknown][] = [];
    for (const pair of items) {
      if (!isPair(pair)) continue;
      const { key, value } = pair as { key: Node | null; value: Node | null };
      if (!isScalar(key)) return this.#refuse(at, keyWords(key));
      if (key.value === MERGE && key.type === 'PLAIN') {
        merged.push(...this.#merged(value, path));
        continue;
      }
      const name = String(key.source ?? key.value);
      if (entries.has(name)) this.#told(keyTwice(name, pathTo(path, name)), key.range?.[0] ?? at);
      entries.set(name, this.value(value, pathTo(path, name)));
    }
    // What stands in the map itself counts before what is merged into it, and of that the first.
    for (const [name, value] of merged) if (!entries.has(name)) entries.set(name, value);
    return Object.fromEntries(entries);
  }

  #merged(node: Node | null, path: string): [string, unknown][] {
    const at = node?.range?.[0] ?? 0;
    const source = isAlias(node) ? this.#anchors.get(node.source) : node;
    if (isSeq(source)) return source.items.flatMap((item) => this.#merged(item as Node | null, path));
    const value = this.value(node, path);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return Object.entries(value);
    this.#refuse(at, '"<<" takes a map, or a list of maps, such as "<<: *defaults"');
    return [];
  }

  #scalar({ value, source = '', type }: Scalar, path: string, at: number): unknown {
    if (typeof value === 'number')
      this.#told(
        numberProblem(source, () => path, ANY),
        at,
      );
    else if (type === 'PLAIN' && YES_OR_NO.test(source)) this.#told(wordProblem(source, path), at);
    return value;
  }

  #told(problem: Problem | null, at: number): void {
    if (problem !== null && this.changes.length < changesMax) this.changes.push({ problem, at });
  }

  #refuse(at: number, message: string, code: Fault['code'] = 'NOT_YAML'): null {
    this.fault ??= { code, at, message };
    return null;
  }
}

/** Keys of the format that take a yes read it from these words, too. */
function wordProblem(word: string, path: string): Problem | null {
  if (!path.split('.').some((key) => HANDED_ON.has(key))) return null;
  const meant = YES.test(word) ? 'true' : 'false';
  return {
    code: 'YAML_WORD',
    severity: 'warning',
    path,
    message: `"${word}" is a text in YAML 1.2; write ${meant} where that is meant, or put the text in quotes`,
    fix: meant,
  };
}

function keyWords(key: Node | null): string {
  return isMap(key) ? BRACES : 'a key is a text, and here stands something else';
}
