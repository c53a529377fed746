/** Values and texts in few characters, for events, progress and messages. */
import type { Json } from '../json.ts';

const previewMax = 200;
const itemsMax = 20;

/** In at most `previewMax` characters. */
export function previewOf(value: Json): string {
  const text = typeof value === 'string' ? value : outline(value, 3);
  return shortened(text, previewMax);
}

/** At most `max` characters, the last of them a mark where some were left out. */
export const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1)}…`;

/** JSON of the value's upper levels, without walking the whole of a large one. */
function outline(value: Json, depth: number): string {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value.length > previewMax ? value.slice(0, previewMax) : value);
  if (depth === 0) return Array.isArray(value) ? '[…]' : '{…}';
  if (Array.isArray(value)) {
    const items = value.slice(0, itemsMax).map((item) => outline(item, depth - 1));
    return `[${items.join(',')}${value.length > itemsMax ? ',…' : ''}]`;
  }
  const keys = Object.keys(value);
  const fields = keys
    .slice(0, itemsMax)
    .map((key) => `${JSON.stringify(key)}:${outline(value[key] ?? null, depth - 1)}`);
  return `{${fields.join(',')}${keys.length > itemsMax ? ',…' : ''}}`;
}
