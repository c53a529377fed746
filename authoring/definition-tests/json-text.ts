/** JSON as a person would write it: what fits on a line stands on one. */
import type { Json } from '../../language/json.ts';

const columnsMax = 120;

export function jsonText(value: Json): string {
  return `${written(value, 0, 0)}\n`;
}

/** `taken`: columns used up on the line before the value. */
function written(value: Json, depth: number, taken: number): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const line = onOneLine(value);
  // The document itself is opened out, as an editor would.
  if (depth > 0 && taken + line.length <= columnsMax) return line;
  const indent = '  '.repeat(depth + 1);
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, depth + 1, indent.length + 1))
    : Object.entries(value).map(
        ([name, item]) => `${JSON.stringify(name)}: ${written(item, depth + 1, indent.length + name.length + 5)}`,
      );
  if (parts.length === 0) return line;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.map((part) => indent + part).join(',\n')}\n${'  '.repeat(depth)}${close}`;
}

function onOneLine(value: Json): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => onOneLine(item)).join(', ')}]`;
  const fields = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${onOneLine(item)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
