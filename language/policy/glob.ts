/**
 * Patterns over names with `/` in them: `*` stands for any text within one part, `**` for any text at all, `?` for one
 * character; `**` with a `/` behind it stands for any number of whole parts, and `folder/**` means the folder, too.
 */
import { matchesTokens, type Token } from '../glob.ts';

const cache = new Map<string, readonly Token[]>();
const cachedMax = 2_000;

export function matchesGlob(pattern: string, text: string): boolean {
  if (pattern.endsWith('/**') && matchesTokens(tokensOf(pattern.slice(0, -3)), '/', text)) return true;
  return matchesTokens(tokensOf(pattern), '/', text);
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
