/**
 * The secrets of a run, where its steps are performed: tokens become values on the way in, values
 * are masked on the way out. Nothing that leaves an activity (result, failure, log) holds a value.
 */
import type { Json, JsonObject } from '../../language/json.ts';
import type { Hidden, Masker } from '../../language/masking/masker.ts';
import { changed, hiddenOf, isToken, looksSecret } from '../../language/secrets.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { ShellRequest } from '../../interpreter/contract.ts';
import { maskerOf, ownMasker } from '../../world/own-keys/own-keys.ts';

export interface Secrets {
  /** The variables as the run holds them, from which another worker can make the same of these. */
  env: { readonly [name: string]: string };
  /** Values that no result may hold, each with what stands for it there. */
  results: Masker;
  /** Values that no log may show: every listed one. */
  logs: Masker;
  unseal<Value extends Json | object>(value: Value): Value;
  unsealShell(request: ShellRequest): ShellRequest;
}

/** Of a run that lists none; the keys of the worker itself are looked for all the same. */
export const noSecrets = (): Secrets => ({
  env: {},
  results: ownMasker(),
  logs: ownMasker(),
  unseal: (value) => value,
  unsealShell: (request) => request,
});

/** `env` as the run holds it: a token or a value by name. */
export async function secretsOf(
  store: { secrets: Pick<Store['secrets'], 'find'> },
  env: { readonly [name: string]: string } | undefined,
): Promise<Secrets> {
  const entries = Object.entries(env ?? {});
  if (entries.length === 0) return noSecrets();
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
    results: maskerOf(
      hiddenOf(secret).map((one) => ({ ...one, shown: tokenOf.get(one.text) ?? one.shown, shownEncoded: one.shown })),
    ),
    logs: maskerOf([...hiddenOf(Object.fromEntries(tokens)), ...hiddenOf(values)]),
    unseal: <Value extends Json | object>(value: Value) => changed(value, (text) => put(text)) as Value,
    unsealShell: ({ command, ...rest }) => ({
      ...(changed(rest, (text) => put(text)) as Omit<ShellRequest, 'command'>),
      // In a line of shell a value stands where it is data: inside single quotes (shell-line.ts).
      command: rest.args !== undefined || valueOf.has(command) ? put(command) : put(command, inSingleQuotes),
    }),
  };
}

const inSingleQuotes = (value: string): string => value.replaceAll("'", String.raw`'\''`);

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
    results: maskerOf([
      ...secrets.results.hidden.map((one) => {
        const name = hidden.get(one.shown);
        return name === undefined ? one : { ...one, shown: `[env ${name}]` };
      }),
      ...[...hidden].filter(([token]) => isToken(token)).map(hiddenToken),
    ]),
    unseal: unsealOnly,
  };
}

const hiddenToken = ([token, name]: readonly [string, string]): Hidden => ({
  text: token,
  shown: `[env ${name}]`,
  isSecret: false,
});

/** What no request to a model may hold: values of secrets, and tokens that no prompt names. */
export function maskerOfTurn({ env, results }: Secrets, named: readonly string[] = []): Masker {
  const tokens = Object.entries(env).filter(([name, value]) => isToken(value) && !named.includes(name));
  const nameOf = new Map(Object.entries(env).map(([name, token]) => [token, name]));
  const values = results.hidden.map((one) => {
    const name = nameOf.get(one.shown);
    return name === undefined ? one : { ...one, shown: `[env ${name}]` };
  });
  return maskerOf([...values, ...tokens.map(([name, token]) => hiddenToken([token, name]))]);
}

/** A failure may quote what it failed on. */
export const withMaskedFailures = <Result>({ results }: Secrets, run: () => Promise<Result>): Promise<Result> =>
  results.isEmpty ? run() : masked(results, run);

async function masked<Result>(results: Masker, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { message, details } = results.json({ message: error.message, details: error.details ?? null });
    // Its cause would quote the same, and nothing masks it.
    throw new Failure(error.code, message, { retryable: error.retryable, ...(details === null ? {} : { details }) });
  }
}

/** What a command is given where its parameters hold a token: the token itself, or the value. */
export type SecretsGiven = 'sealed' | 'values';

export interface TakesSecrets {
  /** `values`: of one that acts on the world. Unless it says so, what it may put into our own store is no value. */
  secrets?: SecretsGiven | ((params: JsonObject) => SecretsGiven);
}

export const secretsGiven = ({ secrets = 'sealed' }: TakesSecrets, params: JsonObject): SecretsGiven =>
  typeof secrets === 'function' ? secrets(params) : secrets;

export function unsealedFor(
  command: TakesSecrets | undefined,
  params: JsonObject,
  secrets: Secrets | undefined,
): JsonObject {
  return secretsGiven(command ?? {}, params) === 'sealed' ? params : (secrets?.unseal(params) ?? params);
}
