/**
 * The keys of this process itself (of model providers, databases, servers), which no run lists and none may show: a
 * provider may quote its key in an error, a server its password. Whoever opens them says so here, before it uses them.
 */
import { LRUCache } from 'lru-cache';
import { Masker, type Hidden } from '../../language/masking/masker.ts';
import { spellingsOf, type Spelling } from '../../language/masking/spellings.ts';

/** A shorter one is no key, and may be a word of any text. */
const keyLengthMin = 8;

const kept = new Map<string, string>();
let own = new Masker([]);

/** By name and value. What might be a word (a database's password `sentinel`) is not looked for. */
export function keepOwnKeys(keys: Iterable<readonly [name: string, value: string | null | undefined]>): void {
  for (const [name, value] of keys) if (typeof value === 'string' && isKey(value)) kept.set(value, `[${name}]`);
  own = built([...kept].map(([text, shown]) => ({ text, shown, isSecret: true })));
}

const isKey = (value: string): boolean => value.length >= keyLengthMin && !/^(?:[a-z]+|[A-Z]+|\d{1,9})$/.test(value);

export const ownMasker = (): Masker => own;

const MASKERS_MAX = 200;
const SPELLINGS_MAX = 1_000;
const maskers = new LRUCache<string, Masker>({ max: MASKERS_MAX });
const spellings = new LRUCache<string, readonly Spelling[]>({ max: SPELLINGS_MAX });

/** Of a run's secrets, and of the keys of this process. The first of the same value counts. */
export function maskerOf(hidden: readonly Hidden[]): Masker {
  if (hidden.length === 0) return own;
  const texts = new Set(hidden.map(({ text }) => text));
  const all = [...hidden, ...own.hidden.filter(({ text }) => !texts.has(text))];
  // Every step of a run looks for the same values, and to make what is looked for takes longer than most steps.
  const key = JSON.stringify(
    all.map(({ text, shown, shownEncoded, isSecret }) => [text, shown, shownEncoded, isSecret]),
  );
  const known = maskers.get(key) ?? built(all);
  maskers.set(key, known);
  return known;
}

const built = (hidden: readonly Hidden[]): Masker => new Masker(hidden, spellingsKept);

function spellingsKept({ text, isSecret }: Hidden): readonly Spelling[] {
  const key = `${isSecret ? 's' : 'p'}${text}`;
  const known = spellings.get(key) ?? spellingsOf(text, isSecret);
  spellings.set(key, known);
  return known;
}
