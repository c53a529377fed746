/**
 * The keys with which whatever goes to Temporal is sealed. The first one seals and all of them open, so
 * that a key can be replaced while runs are under way that were sealed with the one before.
 */
import { createHash, hkdfSync, randomBytes } from 'node:crypto';

const KEY_BYTES = 32;
const ID_BYTES = 4;

export interface SealKey {
  /** Names the key in what it has sealed, and tells nothing of it. */
  id: string;
  /** Of AES-256-GCM. */
  cipher: Buffer;
  /** Of the nonces of what is sealed to the same bytes each time. */
  nonces: Buffer;
  /** Of the tags that name for which run something is sealed. */
  owners: Buffer;
}

export type SealKeys = readonly [SealKey, ...SealKey[]];

/** A new one, as it is written down. */
export const newKeyText = (): string => randomBytes(KEY_BYTES).toString('hex');

/** What is wrong with a list of keys, for whoever wrote it; null: nothing. */
export function keysFault(text: string): string | null {
  const words = wordsOf(text);
  return words.length > 0 && words.every((word) => secretIn(word) !== null)
    ? null
    : 'must be a key of 32 bytes in hexadecimal (64 digits) or base64, or several with commas between; make one with: openssl rand -hex 32';
}

/** Of a list that has no fault. */
export function keysIn(text: string): SealKeys {
  const [first, ...rest] = wordsOf(text).flatMap((word) => {
    const secret = secretIn(word);
    return secret === null ? [] : [keyOf(secret)];
  });
  if (first === undefined) throw new Error('bug: a list of keys without a key');
  return [first, ...rest];
}

const wordsOf = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function secretIn(word: string): Buffer | null {
  if (/^[\da-f]{64}$/i.test(word)) return Buffer.from(word, 'hex');
  if (!/^[\w+/-]{43}=?$/.test(word)) return null;
  const bytes = Buffer.from(word, 'base64');
  return bytes.length === KEY_BYTES ? bytes : null;
}

function keyOf(secret: Buffer): SealKey {
  const derive = (use: string): Buffer => Buffer.from(hkdfSync('sha256', secret, '', `sentinel ${use}`, KEY_BYTES));
  return {
    id: createHash('sha256')
      .update(derive('id'))
      .digest('hex')
      .slice(0, 2 * ID_BYTES),
    cipher: derive('cipher'),
    nonces: derive('nonces'),
    owners: derive('owners'),
  };
}
