/**
 * Keys that stand twice in one object of a JSON text. The platform's parser keeps the last of them in
 * silence, so the text itself is looked at; it has been parsed, so it is known to be JSON.
 */
import type { Problem } from '../../problems.ts';
import { pathTo, placesIn } from './place.ts';
import { placedAt } from './placed-problems.ts';

interface Open {
  path: string;
  /** Undefined for a list. */
  keys: Set<string> | undefined;
  key: string;
  index: number;
}

const PART = /[{}[\],:]|"(?:[^"\\]|\\.)*"/g;

/** More than these say nothing new. */
export const duplicatesMax = 100;

export function duplicateKeys(text: string): Problem[] {
  const open: Open[] = [];
  const problems: Problem[] = [];
  const place = placesIn(text);
  let last = { at: 0, text: '' };
  PART.lastIndex = 0;
  for (let found = PART.exec(text); found !== null && problems.length < duplicatesMax; found = PART.exec(text)) {
    const [part] = found;
    const at = open.at(-1);
    if (part === '{' || part === '[')
      open.push({
        path: at === undefined ? '' : pathIn(at),
        keys: part === '{' ? new Set() : undefined,
        key: '',
        index: 0,
      });
    else if (part === '}' || part === ']') open.pop();
    else if (part === ',' && at !== undefined) at.index += 1;
    else if (part === ':' && at?.keys !== undefined) {
      at.key = JSON.parse(last.text) as string;
      if (at.keys.has(at.key)) problems.push(placedAt(twice(at, place(last.at)), text, last.at));
      at.keys.add(at.key);
    } else last = { at: found.index, text: part };
  }
  return problems;
}

function pathIn(open: Open): string {
  return pathTo(open.path, open.keys === undefined ? open.index : open.key);
}

function twice(at: Open, place: string): Problem {
  const message = `${place}: "${at.key}" stands twice in this object, and only the last would count; keep one of them`;
  return { code: 'DUPLICATE_KEY', severity: 'error', path: pathIn(at), message, fix: `remove one "${at.key}"` };
}
