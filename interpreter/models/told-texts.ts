/** The texts that a model is given, with the names in scope: which of these they refer to, and the pictures among them. */
import { textOf, type ScopeReader } from '../../language/expression/scope.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { picturesMax } from '../../language/limits.ts';
import { picturesOf, pictureWords, withoutPictures, type FoundPicture } from '../../language/models/pictures.ts';
import { Reader } from '../names.ts';

export class ToldTexts extends Reader {
  /** Names that the texts refer to. */
  readonly read: ReadonlySet<string>;
  readonly #pictures = new Map<string, FoundPicture>();

  constructor(scope: ScopeReader) {
    const read = new Set<string>();
    super({
      ...scope,
      get: (name) => {
        read.add(name);
        return scope.get(name);
      },
      shownAs: (value) => this.#shown(value),
    });
    this.read = read;
  }

  /** In the order in which they were first referred to; the first `picturesMax`. */
  get pictures(): FoundPicture[] {
    return [...this.#pictures.values()].slice(0, picturesMax);
  }

  keep(found: FoundPicture): void {
    const key = typeof found === 'string' ? found : 'mention' in found ? found.mention : found.data;
    // A path that somebody means as a picture has to be one.
    if (typeof found === 'string' || !this.#pictures.has(key)) this.#pictures.set(key, found);
  }

  #shown(value: Json): string | undefined {
    const found = picturesOf(value);
    for (const picture of found) this.keep(picture);
    if (found.length > 0) return found.map((picture) => wordsFor(picture, value)).join(', ');
    if (typeof value !== 'object' || value === null) return undefined;
    let hasBytes = false;
    const told = withoutPictures(value, (picture) => {
      hasBytes = true;
      this.keep(picture);
    });
    return hasBytes ? textOf(told) : undefined;
  }
}

/** A path that stands in a sentence stays in it. */
function wordsFor(found: FoundPicture, value: Json): string {
  if (typeof found === 'string') return pictureWords(found);
  if ('mention' in found) return found.mention;
  const path = isJsonObject(value) ? value['path'] : undefined;
  return pictureWords(typeof path === 'string' ? path : null);
}
