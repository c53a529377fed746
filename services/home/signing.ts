/**
 * The key with which this installation signs what it hands to others (Ed25519), one a home, and the keys of others that
 * its user has said to know. The secret half never leaves the home.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { makeFolders } from './home-files.ts';
import { readDecision, writeDecision } from './state-folder.ts';

/** `key`: the public half; both in base64url. */
export interface Signature {
  key: string;
  value: string;
}

const KNOWN_KEYS = 'known-keys.json';
const KnownKey = z.strictObject({ key: z.string(), name: z.string(), addedAt: z.string() });
export type KnownKey = z.infer<typeof KnownKey>;

/** Of an Ed25519 public key. */
const KEY_BYTES = 32;

/** Written as it always is: the same bytes have one text. */
const bytesIn = (text: string): Buffer | null => {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
};

export const isPublicKey = (text: string): boolean => bytesIn(text)?.length === KEY_BYTES;

/** By which people tell keys apart. */
export const fingerprintOf = (key: string): string =>
  (createHash('sha256').update(Buffer.from(key, 'base64url')).digest('hex').slice(0, 32).match(/.{4}/g) ?? []).join(
    '-',
  );

export function signatureOf(text: string, home: string): Signature {
  const secret = secretKey(home);
  return { key: publicHalf(secret), value: sign(null, Buffer.from(text, 'utf8'), secret).toString('base64url') };
}

export function isSignatureOf(text: string, { key, value }: Signature): boolean {
  const signature = bytesIn(value);
  if (!isPublicKey(key) || signature === null) return false;
  const known = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' });
  return verify(null, Buffer.from(text, 'utf8'), known, signature);
}

/** The public half of this installation's own. */
export const ownKey = (home: string): string => publicHalf(secretKey(home));

const publicHalf = (secret: KeyObject): string => createPublicKey(secret).export({ format: 'jwk' }).x ?? '';

/** Made on first use; of several processes that make it at once, the first one's is kept. */
function secretKey(home: string): KeyObject {
  const file = join(home, 'signing-key.pem');
  const found = textOf(file);
  if (found !== null) return createPrivateKey(found);
  makeFolders(home);
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  const made = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
  writeFileSync(draft, made, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (textOf(file) === null) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  return createPrivateKey(readFileSync(file, 'utf8'));
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** The keys of others; those in a list that somebody else could have written are none. */
export function knownKeys(): KnownKey[] {
  const text = readDecision(KNOWN_KEYS);
  if (text === null) return [];
  try {
    return z.array(KnownKey).parse(JSON.parse(text));
  } catch {
    // Half written by a full disk: then nobody is known.
    return [];
  }
}

/** From then on what it signs is taken. Throws `ConfigError` where no decision can be kept. */
export function addKnownKey(key: string, name: string): void {
  const others = knownKeys().filter((one) => one.key !== key);
  writeKeys([...others, { key, name, addedAt: new Date().toISOString() }]);
}

/** By its key, its fingerprint or its name; how many there were. */
export function forgetKey(which: string): number {
  const all = knownKeys();
  const left = all.filter(({ key, name }) => ![key, name, fingerprintOf(key)].includes(which));
  if (left.length < all.length) writeKeys(left);
  return all.length - left.length;
}

const writeKeys = (keys: readonly KnownKey[]): void => writeDecision(`${JSON.stringify(keys, null, 2)}\n`, KNOWN_KEYS);
