/** What a tool says: JSON for whoever takes it, the same as text for whoever reads. */
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { visible } from '../../language/events/visible.ts';

/** Longer texts keep their end. */
const textMax = 200_000;

export const said = (value: object, text = JSON.stringify(value, null, 2)): CallToolResult => ({
  content: [{ type: 'text', text: shown(text) }],
  structuredContent: JSON.parse(JSON.stringify(value)) as Record<string, unknown>,
});

export const shown = (text: string): string => {
  const safe = text
    .split('\n')
    .map((line) => visible(line))
    .join('\n');
  return safe.length <= textMax ? safe : `…${safe.slice(-textMax)}`;
};
