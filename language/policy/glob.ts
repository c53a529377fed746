/**
 * Patterns over names with `/` in them: `*` stands for any text within one part, `**` for any text at all, `?` for one
 * character; `**` with a `/` behind it stands for any number of whole parts, and `folder/**` means the folder, too.
 * Matching takes at most (pattern × text) steps, whatever the pattern is.
 */
type Token =
  | { type: 'char'; char: string }
  | { type: 'one' }
  | { type: 'part' }
  | { type: 'any' }
  /** The two tokens behind it may be left out. */
  | { type: 'optional' };

const cache = new Map<string, readonly Token[]>();
const cachedMax = 2_000;

export function matchesGlob(pattern: string, text: string): boolean {
  if (pattern.endsWith('/**') && matches(tokensOf(pattern.slice(0, -3)), text)) return true;
  return matches(tokensOf(pattern), text);
}

function tokensOf(pattern: string): readonly Token[] {
  const known = cache.get(pattern);
  if (known !== undefined) return known;
  const tokens = Array.from(pattern.matchAll(/\*{2,}\/?|[\s\S]/gu), ([word]) => tokensIn(word)).flat();
  if (cache.size >= cachedMax) cache.clear();
  cache.set(pattern, tokens);
  return tokens;
}

function tokensIn(word: string): Token[] {
  if (word.startsWith('**'))
    return word.endsWith('/')
      ? [{ type: 'optional' }, { type: 'any' }, { type: 'char', char: '/' }]
      : [{ type: 'any' }];
  if (word === '*') return [{ type: 'part' }];
  return [word === '?' ? { type: 'one' } : { type: 'char', char: word }];
}

function matches(tokens: readonly Token[], text: string): boolean {
  let reached = withoutText(tokens, new Set([0]));
  for (const char of text) {
    const next = new Set<number>();
    for (const at of reached) {
      const after = accepted(tokens[at], char);
      if (after !== null) next.add(at + after);
    }
    if (next.size === 0) return false;
    reached = withoutText(tokens, next);
  }
  return reached.has(tokens.length);
}

/** How many tokens further it is with the character; null where it is not. */
function accepted(token: Token | undefined, char: string): 0 | 1 | null {
  switch (token?.type) {
    case 'any':
      return 0;
    case 'part':
      return char === '/' ? null : 0;
    case 'one':
      return char === '/' ? null : 1;
    case 'char':
      return token.char === char ? 1 : null;
    case 'optional':
    case undefined:
      return null;
    default:
      return token satisfies never;
  }
}

/** What a star, or what may be left out, lets through. A set that grows meanwhile is walked to its end. */
function withoutText(tokens: readonly Token[], reached: Set<number>): Set<number> {
  for (const at of reached) {
    const type = tokens[at]?.type;
    if (type === 'any' || type === 'part' || type === 'optional') reached.add(at + 1);
    if (type === 'optional') reached.add(at + 3);
  }
  return reached;
}
