/**
 * What a worker hands on in place of a value that came without a seal of this installation, or with one
 * that it cannot open (services/seal/payload-seal.ts). Whoever takes values from Temporal refuses it.
 */
/** The code of what is refused because nobody with a key of the installation gave it. */
export const NOT_SEALED = 'NOT_SEALED';

export type UnsealedFinding = 'not-sealed' | 'unknown-key';

/** No value of a run has this name in it: `:` is in no name of a variable, a parameter or a result of ours. */
const MARK = 'sentinel:unsealed';

export interface Unsealed {
  [MARK]: UnsealedFinding;
}

export const unsealed = (finding: UnsealedFinding): Unsealed => ({ [MARK]: finding });

/** Null where the value was sealed. */
export function unsealedFinding(value: unknown): UnsealedFinding | null {
  if (typeof value !== 'object' || value === null || !(MARK in value)) return null;
  return value[MARK] === 'unknown-key' ? 'unknown-key' : 'not-sealed';
}
