/** `--items`: which items of a list, counted from 0. */
import type { ItemsAsked } from '../../client/history/ended-lists.ts';
import { usage } from '../request/usage.ts';

/** No list has more. */
const itemMax = 999_999;

/** `failed`, or numbers and ranges: `3,7-9`. */
export function itemNumbers(text: string): ItemsAsked {
  if (text === 'failed') return 'failed';
  const wrong = usage(`--items is "${text}"; write "failed", or numbers and ranges that count from 0: --items 3,7-9.`);
  const items = new Set<number>();
  for (const part of text.split(',')) {
    const [, from = '', to = from] = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === '' || first > last || last > itemMax) throw wrong;
    for (let item = first; item <= last; item += 1) items.add(item);
  }
  return [...items].toSorted((a, b) => a - b);
}
