/**
 * The keys of this process itself (of model providers, databases, servers), which no run lists and none may show: a
 * provider may quote its key in an error, a server its password. Whoever opens them says so here, before it uses them.
 */
import { LRUCache } from 'lru-cache';
import { looksSecret } from '../../language/secrets.ts';
import { Masker, type Hidden } from '../../language/masking/masker.ts';
import { spellingsOf, type Spelling } from '../../language/masking/spellings.ts';

/** A shorter one is no key, and may be a word of any text. */
const keyLengthMin = 8;

/** Variables of this process that hold keys of its own. */
const OWN = /^(?:SENTINEL_\w*(?:KEY|SECRET|TOKEN|PASSWORD)|\w+_API_KEY|ANTHROPIC_AUTH_TOKEN|DATABASE_URL|PGPASSWORD)$/;

/** Variables that hold the address of a proxy, and so its password. */
const PROXY = /^(?:https?|all)_proxy$/i;

const kept = new Map<string, string>();
let own: Masker | undefined;

/** By name and value. What might be a word (a database's password `sentinel`) or a path is not looked for. */
export function keepOwnKeys(keys: Iterable<readonly [name: string, value: string | null | undefined]>): void {
  for (const [name, value] of keys)
    for (const text of partsOf(value ?? '')) if (isKey(text) && !kept.has(text)) kept.set(text, `[${name}]`);
  own = undefined;
}

/** An address is as secret as what is in it, and the rest of it is none. */
function partsOf(value: string): string[] {
  if (!/^[a-z][a-z+]*:\/\//.test(value) || !URL.canParse(value))
    return value.split(',').flatMap((part) => [part.trim(), part.trim().replace(/^\w+ +/, '')]);
  const { password, searchParams } = new URL(value);
  return [decoded(password), ...[...searchParams].flatMap(([name, text]) => (looksSecret(name) ? [text] : []))];
}

/** The password, and it with the user: together they are long enough to be looked for, and stand in the variable that steps get. */
function proxyKeys(name: string, value = ''): [string, string][] {
  const address = value.includes('://') ? value : `http://${value}`;
  const written = /:\/\/([^/@]*:[^/@]+)@/.exec(address)?.[1];
  return [[name, address], ...(written === undefined ? [] : [[name, written] as [string, string]])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Neither a word nor a path. */
export const isKey = (value: string): boolean =>
  value.length >= keyLengthMin && !/^(?:[a-z]+|[A-Z]+|\d{1,9}|[/~.].*|[A-Z]:\\.*)$/s.test(value);

export function ownMasker(): Masker {
  if (own !== undefined) return own;
  keepOwnKeys(Object.entries(process.env).filter(([name]) => OWN.test(name)));
  keepOwnKeys(Object.entries(process.env).flatMap(([name, value]) => (PROXY.test(name) ? proxyKeys(name, value) : [])));
  own = built([...kept].map(([text, shown]) => ({ text, shown, isSecret: true })));
  return own;
}

const causesMax = 5;

/** The same error without keys in what it says. */
export function maskedError(error: unknown): unknown {
  const masker = ownMasker();
  if (masker.isEmpty) return error;
  for (let [at, count] = [error, 0]; at instanceof Error && count < causesMax; at = at.cause, count += 1) {
    const { message, stack } = at;
    const masked = masker.text(message);
    if (masked !== message) at.message = masked;
    if (stack !== undefined) at.stack = masker.text(stack);
  }
  return error;
}

const MASKERS_MAX = 200;
const SPELLINGS_MAX = 1_000;
const maskers = new LRUCache<string, Masker>({ max: MASKERS_MAX });
const spellings = new LRUCache<string, readonly Spelling[]>({ max: SPELLINGS_MAX });

/** Of a run's secrets, and of the keys of this process. The first of the same value counts. */
export function maskerOf(hidden: readonly Hidden[]): Masker {
  const mine = ownMasker().hidden;
  if (hidden.length === 0) return ownMasker();
  const texts = new Set(hidden.map(({ text }) => text));
  const all = [...hidden, ...mine.filter(({ text }) => !texts.has(text))];
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
