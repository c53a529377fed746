/** What commands sign for others, and whose signature it is that others hand in: with the key of this worker's home. */
import {
  fingerprintOf,
  isSignatureOf,
  knownKeys,
  ownKey,
  signatureOf,
  type Signature,
} from '../services/home/signing.ts';

export type { Signature } from '../services/home/signing.ts';

/** A worker has one: its start says which. */
function home(): string {
  const { SENTINEL_HOME: named = '' } = process.env;
  if (named === '') throw new Error('bug: something is signed in a process without a home');
  return named;
}

export const signed = (text: string): Signature => signatureOf(text, home());

export interface Signer {
  fingerprint: string;
  /** As this installation's user calls it; null where nobody has said to know the key. */
  name: string | null;
}

const OWN = 'this installation';

/** Null where it is no signature of the text. */
export function signerOf(text: string, signature: Signature): Signer | null {
  if (!isSignatureOf(text, signature)) return null;
  const { key } = signature;
  const known = key === ownKey(home()) ? OWN : knownKeys().find((one) => one.key === key)?.name;
  return { fingerprint: fingerprintOf(key), name: known ?? null };
}
