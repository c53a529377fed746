/**
 * Keys that stand twice in one object of a JSON text. The platform's parser keeps the last of them in
 * silence, so the text itself is looked at; it has been parsed, so it is known to be JSON.
 */
import type { Problem } from '../../problems.ts';
import { join } from '../draft/draft.ts';

interface Open {
  path: string;
  /** Undefined for a list. */
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

const PART = /[{}[\],:]|"(?:[^"\\]|\\.)*"/g;

/** More than these say nothing new. */
const duplicatesMax = 100;

export function duplicateKeys(text: string): Problem[] {
  const open: Open[] = [];
  const problems: Problem[] = [];
  let last = '';
  PART.lastIndex = 0;
  for (
    let part = PART.exec(text)?.[0];
    part !== undefined && problems.length < duplicatesMax;
    part = PART.exec(text)?.[0]
  ) {
    const at = open.at(-1);
    if (part === '{' || part === '[')
      open.push({
        path: at === undefined ? '' : placeIn(at),
        keys: part === '{' ? new Set() : undefined,
        key: '',
        index: 0,
      });
    else if (part === '}' || part === ']') open.pop();
    else if (part === ',' && at !== undefined) at.index += 1;
    else if (part === ':' && at?.keys !== undefined) problems.push(...enter(at, at.keys, last));
    else last = part;
  }
  return problems;
}

function placeIn(open: Open): string {
  return join(open.path, open.keys === undefined ? open.index : open.key);
}

function enter(at: Open, keys: Set<string>, written: string): Problem[] {
  at.key = JSON.parse(written) as string;
  if (!keys.has(at.key)) {
    keys.add(at.key);
    return [];
  }
  const message = `"${at.key}" stands twice in this object, and only the last would count; keep one of them`;
  return [{ code: 'DUPLICATE_KEY', severity: 'error', path: placeIn(at), message, fix: `remove one "${at.key}"` }];
}
