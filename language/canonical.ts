/**
 * One text for one value: object keys sorted, members without a value left out, no white space, so
 * that two values are equal exactly when their texts are. Callers hash the text; hashing is not done
 * here because workflow code has no crypto module.
 */

/** Iterative, because a value may be nested deeper than the call stack is. */
export function canonicalText(value: unknown): string {
  const out: string[] = [];
  const pending: Array<{ text: string } | { value: unknown }> = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) out.push(next.text);
    else if (Array.isArray(next.value)) pushArray(pending, next.value);
    else if (typeof next.value === 'object' && next.value !== null) pushObject(pending, next.value);
    else out.push(JSON.stringify(next.value) ?? 'null');
  }
  return out.join('');
}

type Pending = Array<{ text: string } | { value: unknown }>;

function pushArray(pending: Pending, items: readonly unknown[]): void {
  pending.push({ text: ']' });
  for (let index = items.length - 1; index >= 0; index -= 1) {
    pending.push({ value: items[index] ?? null });
    if (index > 0) pending.push({ text: ',' });
  }
  pending.push({ text: '[' });
}

function pushObject(pending: Pending, value: object): void {
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  pending.push({ text: '}' });
  for (let index = members.length - 1; index >= 0; index -= 1) {
    const [key, member] = members[index] ?? ['', null];
    pending.push({ value: member }, { text: `${JSON.stringify(key)}:` });
    if (index > 0) pending.push({ text: ',' });
  }
  pending.push({ text: '{' });
}
