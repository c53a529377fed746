/**
 * The one machine that patterns with stars are matched by: event names (events/event-glob.ts) and what policies say of
 * commands, paths and hosts (policy/glob.ts). It takes at most (pattern × text) steps, whatever the pattern is.
 */
export type Token =
  | { type: 'char'; char: string }
  /** Any one character but the separator. */
  | { type: 'one' }
  /** Any text without the separator, and none. */
  | { type: 'part' }
  /** Any text, and none. */
  | { type: 'any' }
  /** The two tokens behind it may be left out. */
  | { type: 'optional' };

/** `reached[i]`: the first i tokens can match what has been read of the text. `separator`: what parts end at. */
export function matchesTokens(tokens: readonly Token[], separator: string, text: string): boolean {
  let reached: boolean[] = [true];
  skip(tokens, reached);
  for (const char of text) {
    const next: boolean[] = [];
    let isAlive = false;
    for (const [index, token] of tokens.entries()) {
      if (reached[index] !== true) continue;
      const after = accepts(token, separator, char);
      if (after === 'no') continue;
      next[after === 'stay' ? index : index + 1] = true;
      isAlive = true;
    }
    if (!isAlive) return false;
    skip(tokens, next);
    reached = next;
  }
  return reached[tokens.length] === true;
}

function accepts(token: Token, separator: string, char: string): 'stay' | 'next' | 'no' {
  switch (token.type) {
    case 'any':
      return 'stay';
    case 'part':
      return char === separator ? 'no' : 'stay';
    case 'one':
      return char === separator ? 'no' : 'next';
    case 'char':
      return token.char === char ? 'next' : 'no';
    case 'optional':
      return 'no';
    default:
      return token satisfies never;
  }
}

/** What may stand for nothing. */
function skip(tokens: readonly Token[], reached: boolean[]): void {
  for (const [index, { type }] of tokens.entries()) {
    if (reached[index] !== true) continue;
    if (type === 'any' || type === 'part' || type === 'optional') reached[index + 1] = true;
    if (type === 'optional') reached[index + 3] = true;
  }
}
