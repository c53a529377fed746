/**
 * Values of environment variables that a definition lists in `env`, and how they are kept out of what
 * people read. A name that looks like a secret's stands in the run as a token (`sealed_NAME_…`): its
 * value is put in where a step is performed, and is taken out of what comes back. Other listed names
 * stand there with their value. In events and logs neither a value nor a token is shown.
 */
import type { Json } from './json.ts';
import type { Hidden } from './masking/masker.ts';

const maskedLengthMin = 6;
const sealedLengthMin = 4;

const WORDS =
  /(?:^|_)(?:TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASS|PASSPHRASE|PWD|KEYS?|APIKEYS?|CREDENTIALS?|CREDS|AUTH|BEARER|JWT|DSN|PAT|PIN|OTP|COOKIES?|SESSION|PRIVATE|SIGNING|SALT|WEBHOOK)(?:_|\d|$)/i;
const COMPOUND = /(?:TOKEN|SECRET|PASSWORD|APIKEY|CREDENTIAL)/i;
const ADDRESSES =
  /(?:DATABASE|DB|REDIS|MONGO|AMQP|RABBIT|KAFKA|NATS|POSTGRES|PG|MYSQL|MARIA|MSSQL|SQLSERVER|CLICKHOUSE|ELASTIC|COUCH|CASSANDRA|NEO4J|SUPABASE|CONNECTION)\w*_?(?:URL|URI|STRING)$/i;

export function looksSecret(name: string): boolean {
  return name !== 'PWD' && name !== 'OLDPWD' && (WORDS.test(name) || COMPOUND.test(name) || ADDRESSES.test(name));
}

const BEGIN = 'sealed_';
/** Long enough for a token. */
const WORD = /\w{41,}/g;

export const isToken = (value: string): boolean => value !== '' && withTokens(value, () => '') === '';

/** Of the variable that a token stands for. */
export const nameOfToken = (token: string): string => token.slice(BEGIN.length, -33);

/** What people read in the place of tokens. */
export const withoutTokens = (text: string): string => withTokens(text, (token) => `[env ${nameOfToken(token)}]`);

/** In one pass: a token ends at the first end behind its beginning, and where there is no end none begins. */
function withTokens(text: string, shown: (token: string) => string): string {
  if (!text.includes(BEGIN)) return text;
  return text.replaceAll(WORD, (word) => {
    const ends = /_[0-9a-f]{32}/g;
    let [out, from] = ['', 0];
    for (;;) {
      const start = word.indexOf(BEGIN, from);
      ends.lastIndex = start + BEGIN.length + 1;
      const end = start < 0 ? null : ends.exec(word);
      if (end === null) return out + word.slice(from);
      out += word.slice(from, start) + shown(word.slice(start, ends.lastIndex));
      from = ends.lastIndex;
    }
  });
}

/** The same for every text in a value. */
export const maskTokens = <Value extends Json | object>(value: Value): Value => changed(value, withoutTokens) as Value;

/** What is looked for of listed variables (masking/masker.ts). Shorter values occur by chance. */
export const hiddenOf = (env: { readonly [name: string]: string }): Hidden[] =>
  Object.entries(env).flatMap(([name, text]): Hidden[] => {
    const isSecret = looksSecret(name) && !isToken(text);
    const min = looksSecret(name) ? sealedLengthMin : maskedLengthMin;
    return text.length < min ? [] : [{ text, shown: `[env ${name}]`, isSecret }];
  });

/** Every text in a value, keys included. */
export function changed(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => changed(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [change(key), changed(item, change)]));
}
