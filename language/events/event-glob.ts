/**
 * Patterns of event names: a name is parts with `:` between them, `*` stands for any text within one
 * part, `**` for any text at all; everything else is itself. The one place that says what a pattern
 * matches: triggers, loops over events and watches all ask here.
 *
 * Matching takes at most (length of the pattern × length of the name) steps, whatever the pattern is.
 */
type Token = { type: 'text'; char: string } | { type: 'part' } | { type: 'any' };

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
  return (name) => walk(tokens, name);
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

function tokensOf(pattern: string): Token[] {
  return Array.from(pattern.matchAll(/\*+|[^*]/gu), ([text]): Token => {
    if (!text.startsWith('*')) return { type: 'text', char: text };
    return text.length === 1 ? { type: 'part' } : { type: 'any' };
  });
}

/** `reached[i]`: the first i tokens can match what has been read of the name. */
function walk(tokens: readonly Token[], name: string): boolean {
  let reached: boolean[] = [true];
  skipStars(tokens, reached);
  for (const char of name) {
    const next: boolean[] = [];
    let isAlive = false;
    for (const [index, token] of tokens.entries()) {
      if (reached[index] !== true) continue;
      const after = accepts(token, char);
      if (after === 'no') continue;
      next[after === 'stay' ? index : index + 1] = true;
      isAlive = true;
    }
    if (!isAlive) return false;
    skipStars(tokens, next);
    reached = next;
  }
  return reached[tokens.length] === true;
}

function accepts(token: Token, char: string): 'stay' | 'next' | 'no' {
  if (token.type === 'any') return 'stay';
  if (token.type === 'part') return char === ':' ? 'no' : 'stay';
  return token.char === char ? 'next' : 'no';
}

/** A star may stand for nothing. */
function skipStars(tokens: readonly Token[], reached: boolean[]): void {
  for (const [index, token] of tokens.entries()) {
    if (reached[index] === true && token.type !== 'text') reached[index + 1] = true;
  }
}
