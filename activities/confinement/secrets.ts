/**
 * The secrets of a run, where its steps are performed: tokens become values on the way in, values
 * are masked on the way out. Nothing that leaves an activity (result, failure, log) holds a value.
 */
import { LRUCache } from 'lru-cache';
import type { Json, JsonObject } from '../../language/json.ts';
import { changed, isToken, looksSecret, maskJson, masksOf, type Mask } from '../../language/secrets.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../failures/failures.ts';
import type { ShellRequest } from '../../interpreter/contract.ts';

export interface Secrets {
  /** The variables as the run holds them, from which another worker can make the same of these. */
  env: { readonly [name: string]: string };
  /** Values that no result may hold, each with what stands for it there. */
  results: readonly Mask[];
  /** Values that no log may show: every listed one. */
  logs: readonly Mask[];
  unseal<Value extends Json | object>(value: Value): Value;
  unsealShell(request: ShellRequest): ShellRequest;
}

export const noSecrets: Secrets = {
  env: {},
  results: [],
  logs: [],
  unseal: (value) => value,
  unsealShell: (request) => request,
};

/** `env` as the run holds it: a token or a value by name. */
export async function secretsOf(
  store: Pick<Store, 'secrets'>,
  env: { readonly [name: string]: string } | undefined,
): Promise<Secrets> {
  const entries = Object.entries(env ?? {});
  if (entries.length === 0) return noSecrets;
  const tokens = entries.filter(([, value]) => isToken(value));
  const found = await store.secrets.find(tokens.map(([, token]) => token));
  const lost = tokens.find(([, token]) => !found.has(token));
  if (lost !== undefined) {
    throw new Failure(
      'SECRET_GONE',
      `the value of the environment variable "${lost[0]}" is no longer kept; start the run anew where it is set`,
    );
  }
  const values = Object.fromEntries(entries.map(([name, value]) => [name, found.get(value) ?? value]));
  const secret = Object.fromEntries(Object.entries(values).filter(([name]) => looksSecret(name)));
  const valueOf = new Map(found);
  const put = (text: string, spell: (value: string) => string = (value) => value): string =>
    [...valueOf].reduce(
      (rest, [token, value]) => (rest.includes(token) ? rest.replaceAll(token, () => spell(value)) : rest),
      text,
    );
  const tokenOf = new Map([...found].map(([token, value]) => [value, token]));
  return {
    env: Object.fromEntries(entries),
    // As its token a value may go through the run and into a later step.
    results: withSpellings(masksOf(secret), secret).map((mask) => ({
      ...mask,
      shown: tokenOf.get(mask.text) ?? mask.shown,
    })),
    logs: [...masksOf(Object.fromEntries(tokens)), ...withSpellings(masksOf(values), secret)],
    unseal: <Value extends Json | object>(value: Value) => changed(value, (text) => put(text)) as Value,
    unsealShell: ({ command, ...rest }) => ({
      ...(changed(rest, (text) => put(text)) as Omit<ShellRequest, 'command'>),
      // In a line of shell a value stands where it is data: inside single quotes (shell-line.ts).
      command: rest.args !== undefined || valueOf.has(command) ? put(command) : put(command, inSingleQuotes),
    }),
  };
}

const inSingleQuotes = (value: string): string => value.replaceAll("'", String.raw`'\''`);

/** In base64, and as it stands in a line of shell, which messages quote and `set -x` prints. */
function withSpellings(masks: readonly Mask[], secret: { [name: string]: string }): Mask[] {
  const quoted = Object.entries(secret).flatMap(([name, value]): Mask[] =>
    value.includes("'") ? [{ text: inSingleQuotes(value), shown: `[env ${name}]` }] : [],
  );
  const long = Object.entries(secret).filter(([, value]) => value.length >= encodedLengthMin);
  const asEncoded = long.flatMap(([name, value]) =>
    encodings(value).map((encoding): Mask => ({ ...encoding, shown: `[env ${name}]` })),
  );
  return [...masks, ...quoted, ...asEncoded].toSorted((a, b) => b.text.length - a.text.length);
}

const encodedLengthMin = 8;

type Encoding = Omit<Mask, 'shown'>;

const ENCODED_MAX = 1_000;
const encoded = new LRUCache<string, readonly Encoding[]>({ max: ENCODED_MAX });

/** Every step of a run looks for the same values, and their patterns take longer to make than most steps. */
function encodings(value: string): readonly Encoding[] {
  const known = encoded.get(value) ?? [...inBase64(value), ...inHex(value), ...linesOf(value)].map(wrapping);
  encoded.set(value, known);
  return known;
}

const inHex = (value: string): string[] => {
  const hex = Buffer.from(value).toString('hex');
  return hex === hex.toUpperCase() ? [hex] : [hex, hex.toUpperCase()];
};

/** A key of several lines is shown line by line by what searches or numbers them. */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/).map((line) => line.trim());
  return lines.length === 1
    ? []
    : lines.filter((line) => line.length >= 2 * encodedLengthMin && !line.startsWith('-----'));
}

/** Programs that encode break their lines; in JSON a line end is two characters. */
function wrapping(text: string): Encoding {
  const characters = Array.from(text, (character) => character.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
  return { text, wrapped: new RegExp(characters.join(String.raw`(?:\r?\n|(?:\\r)?\\n)?`), 'g') };
}

/**
 * Base64 spells three bytes as four characters, so a value looks in three ways, by how many bytes stand before
 * it; each without the characters at its ends that other bytes share in. In both alphabets.
 */
function inBase64(value: string): string[] {
  const spellings = [0, 1, 2].flatMap((before) => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(value)]);
    const own = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)] as const;
    return (['base64', 'base64url'] as const).map((alphabet) => bytes.toString(alphabet).slice(...own));
  });
  return [...new Set(spellings)];
}

/**
 * What a model calls. A secret is put in only where the definition names it in the model's prompt: nobody else
 * could have told the model its token, and what comes back does not either.
 */
export function secretsOfCall(secrets: Secrets, named: readonly string[] = []): Secrets {
  const kept = Object.fromEntries(Object.entries(secrets.env).filter(([name]) => named.includes(name)));
  const hidden = new Map(Object.entries(secrets.env).flatMap(([name, token]) => (name in kept ? [] : [[token, name]])));
  const isHidden = (text: string): boolean => [...hidden.keys()].some((token) => text.includes(token));
  const unsealOnly = <Value extends Json | object>(value: Value): Value =>
    changed(value, (text) => (isHidden(text) ? text : secrets.unseal(text))) as Value;
  return {
    ...secrets,
    results: [
      ...secrets.results.map((mask) => {
        const name = hidden.get(mask.shown);
        return name === undefined ? mask : { ...mask, shown: `[env ${name}]` };
      }),
      ...[...hidden]
        .filter(([token]) => isToken(token))
        .map(([token, name]) => ({ text: token, shown: `[env ${name}]` })),
    ],
    unseal: unsealOnly,
  };
}

/** What no request to a model may hold: values of secrets in any of their spellings, and tokens that no prompt names. */
export function masksOfTurn({ env, results }: Secrets, named: readonly string[] = []): Mask[] {
  const tokens = Object.entries(env).filter(([name, value]) => isToken(value) && !named.includes(name));
  const nameOf = new Map(Object.entries(env).map(([name, token]) => [token, name]));
  const values = results.map((mask) => {
    const name = nameOf.get(mask.shown);
    return name === undefined ? mask : { ...mask, shown: `[env ${name}]` };
  });
  return [...values, ...tokens.map(([name, token]) => ({ text: token, shown: `[env ${name}]` }))];
}

/** A failure may quote what it failed on. */
export async function withMaskedFailures<Result>({ results }: Secrets, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failure) || results.length === 0) throw error;
    const { message, details } = maskJson({ message: error.message, details: error.details ?? null }, results);
    // Its cause would quote the same, and nothing masks it.
    throw new Failure(error.code, message, { retryable: error.retryable, ...(details === null ? {} : { details }) });
  }
}

/** Commands that put what they are given into our own store, or ask a model with it. */
const KEPT = /^(?:data|ai|rag|collaboration)\/|^sentinel\/create$/;

/** What goes into our own store keeps its tokens: the values need not be there twice. A background process is kept there, and unsealed where it starts. */
export function unsealedFor(command: string, params: JsonObject, secrets: Secrets): JsonObject {
  const isKept = KEPT.test(command) || (command === 'code/shell/execute' && params['wait'] === false);
  return isKept ? params : secrets.unseal(params);
}
