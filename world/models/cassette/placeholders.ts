/**
 * What differs from run to run in what a model is told, and says nothing: where the project and its workspaces are,
 * which run it is, ids, times. In a recorded request placeholders stand for it, so that the same request in another folder
 * is the same request. In a recorded answer they stand for what the request held, so that an answer which
 * names a path names one of the project in which it is replayed.
 *
 * Paths, handles and ids come back; times and durations do not, since which of them are equal is chance.
 */
import type { Json } from '../../../language/json.ts';
import { placeOf } from '../../git/worktrees/workspace-place.ts';
import { realOf } from '../../own-programs/helper-programs.ts';

/** Whose request it is. */
export interface RunNames {
  project: string;
  /** Of the run that was started. */
  root: string;
}

/** Shorter handles are words that a text may hold for other reasons. */
const handleLengthMin = 16;
/** What a handle ends in that was drawn (runs/handles.ts): no word ends so by chance. */
const DRAWN = /-[2-9a-hjkmnp-z]{8}$/;
/** The root of a file system is in every path. */
const projectLengthMin = 3;

const IDS =
  /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\brun-[0-9a-f]{16}\b|\b[0-9a-f]{40}\b|\bsealed_\w+?_[0-9a-f]{32}/g;
const TIMES = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g;
/** Fields of JSON, also of JSON in a text of JSON. */
const NUMBERS = /("\w*(?:Ms|At|_ms|_at)\\*"\s*:\s*)-?\d+(?:\.\d+)?/g;
const DURATIONS = /\b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds)\b/g;

const PROJECT = '⟦project⟧';
const WORKSPACES = '⟦workspaces⟧';
const RUN = '⟦run⟧';

export class Placeholders {
  readonly #known: [value: string, placeholder: string][];
  readonly #ids = new Map<string, string>();

  constructor({ project, root }: RunNames) {
    this.#known = [
      [placeOf(realOf(project)), WORKSPACES],
      ...(project.length >= projectLengthMin ? [[project, PROJECT] as [string, string]] : []),
      ...(root.length >= handleLengthMin || DRAWN.test(root) ? [[root, RUN] as [string, string]] : []),
    ];
  }

  /** A request: what it holds is known from then on. */
  request<Value>(value: Value): Value {
    return changed(value as Json, (text, isResult) => {
      const named = this.#withKnown(text).replaceAll(IDS, (id) => this.#placeholderOf(id));
      const timeless = named.replaceAll(TIMES, '⟦time⟧').replaceAll(NUMBERS, '$1⟦number⟧');
      return isResult ? timeless.replaceAll(DURATIONS, '⟦duration⟧') : timeless;
    }) as Value;
  }

  /** The answer to it. */
  answer<Value>(value: Value): Value {
    return changed(value as Json, (text) =>
      this.#withKnown(text).replaceAll(IDS, (id) => this.#ids.get(id) ?? id),
    ) as Value;
  }

  /** A recorded answer with what this request holds. */
  filled<Value>(value: Value): Value {
    const values: [value: string, placeholder: string][] = [...this.#known, ...this.#ids];
    return changed(value as Json, (text) =>
      text.includes('⟦')
        ? values.reduce((rest, [real, placeholder]) => rest.replaceAll(placeholder, () => real), text)
        : text,
    ) as Value;
  }

  #withKnown(text: string): string {
    return this.#known.reduce((rest, [real, placeholder]) => rest.replaceAll(real, placeholder), text);
  }

  #placeholderOf(id: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const [, name] = /^sealed_(\w+)_/.exec(id) ?? [];
    const placeholder = name === undefined ? `⟦id ${this.#ids.size + 1}⟧` : `⟦secret ${name}⟧`;
    this.#ids.set(id, placeholder);
    return placeholder;
  }
}

/** Every text in a value, names of fields left as they are; `isResult`: in what a tool gave. */
function changed(value: Json, change: (text: string, isResult: boolean) => string, isResult = false): Json {
  if (typeof value === 'string') return change(value, isResult);
  if (Array.isArray(value)) return value.map((item) => changed(item, change, isResult));
  if (typeof value !== 'object' || value === null) return value;
  const isIn = isResult || value['type'] === 'tool-result';
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, changed(item, change, isIn)]));
}
