/**
 * One text for one value: object keys sorted, no white space, so that two values are equal exactly
 * when their texts are. Callers hash the text; hashing is not done here because workflow code has
 * no crypto module.
 */
import type { Json } from './json.ts';

/** Iterative, because a value may be nested deeper than the call stack is. */
export function canonicalText(value: Json): string {
  const out: string[] = [];
  const pending: Array<{ text: string } | { value: Json }> = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) out.push(next.text);
    else if (Array.isArray(next.value)) pushArray(pending, next.value);
    else if (typeof next.value === 'object' && next.value !== null) pushObject(pending, next.value);
    else out.push(JSON.stringify(next.value));
  }
  return out.join('');
}

type Pending = Array<{ text: string } | { value: Json }>;

function pushArray(pending: Pending, items: Json[]): void {
  pending.push({ text: ']' });
  for (let index = items.length - 1; index >= 0; index -= 1) {
    pending.push({ value: items[index] ?? null });
    if (index > 0) pending.push({ text: ',' });
  }
  pending.push({ text: '[' });
}

function pushObject(pending: Pending, value: { [key: string]: Json }): void {
  const keys = Object.keys(value).toSorted();
  pending.push({ text: '}' });
  for (let index = keys.length - 1; index >= 0; index -= 1) {
    const key = keys[index] ?? '';
    pending.push({ value: value[key] ?? null }, { text: `${JSON.stringify(key)}:` });
    if (index > 0) pending.push({ text: ',' });
  }
  pending.push({ text: '{' });
}
