/**
 * Patterns of event names: a name is parts with `:` between them, `*` stands for any text within one
 * part, `**` for any text at all; everything else is itself. The one place that says what a pattern
 * matches: triggers, loops over events and watches all ask here.
 */
import { matchesTokens, type Token } from '../glob.ts';

type EventToken = Extract<Token, { type: 'char' | 'part' | 'any' }>;

export function isEventGlob(pattern: string): boolean {
  return pattern.includes('*');
}

export function matchesEvent(pattern: string, name: string): boolean {
  return isEventGlob(pattern) ? eventMatcher(pattern)(name) : pattern === name;
}

/** The same for many names: the pattern is read once. */
export function eventMatcher(pattern: string): (name: string) => boolean {
  if (!isEventGlob(pattern)) return (name) => name === pattern;
  const tokens = tokensOf(pattern);
  return (name) => matchesTokens(tokens, ':', name);
}

/** The text that every name the pattern matches begins with: what an index can look up. */
export function eventPrefix(pattern: string): string {
  const star = pattern.indexOf('*');
  return star === -1 ? pattern : pattern.slice(0, star);
}

/** The same pattern for a database, as a regular expression over the whole name. */
export function eventRegex(pattern: string): string {
  const source = tokensOf(pattern).map((token) =>
    token.type === 'any' ? '.*' : token.type === 'part' ? '[^:]*' : escaped(token.char),
  );
  return `^${source.join('')}$`;
}

const escaped = (char: string): string => (/[\\^$.|?*+()[\]{}]/.test(char) ? `\\${char}` : char);

function tokensOf(pattern: string): EventToken[] {
  return Array.from(pattern.matchAll(/\*+|[^*]/gu), ([text]): EventToken => {
    if (!text.startsWith('*')) return { type: 'char', char: text };
    return text.length === 1 ? { type: 'part' } : { type: 'any' };
  });
}
