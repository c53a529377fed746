/**
 * The files of a home that say what services there are and what was accepted. They are read only from a home that
 * was made here (own-home.ts). In a home with a record they also carry a seal of its key, which is kept elsewhere:
 * a checkout of a branch overwrites ignored files without a word, and could put one in place.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../world/files/whole-file.ts';
import { homeKey, homeStanding, needsNoRecord } from './own-home.ts';

/** Null where there is none, or where it is not this home's. Throws `SyntaxError` for what is no JSON. */
export function readHomeState(home: string, name: string): unknown {
  if (homeStanding(home) !== 'own') return null;
  let text: string;
  try {
    text = readFileSync(join(home, name), 'utf8');
  } catch {
    return null;
  }
  const read: unknown = JSON.parse(text);
  if (typeof read !== 'object' || read === null) return read;
  const { seal, ...state } = read as Record<string, unknown>;
  if (needsNoRecord(home)) return state;
  const key = homeKey(home);
  return key !== null && typeof seal === 'string' && isEqual(seal, sealOf(key, name, state)) ? state : null;
}

export function writeHomeState(home: string, name: string, state: object): void {
  const key = homeKey(home);
  const sealed = key === null ? state : { ...state, seal: sealOf(key, name, JSON.parse(JSON.stringify(state))) };
  writeAtomically(join(home, name), `${JSON.stringify(sealed, null, 2)}\n`);
}

const sealOf = (key: string, name: string, state: unknown): string =>
  createHmac('sha256', key)
    .update(`${name}\n${JSON.stringify(state)}`)
    .digest('hex');

const isEqual = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
