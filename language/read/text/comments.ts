/** What JSON has not, and its readers for people take, becomes spaces, so that every place in it stays what it was. */
import { endOfText } from '../../numbers/exact-json.ts';

const QUOTE = 34;
const SLASH = 47;
const STAR = 42;

export function withoutComments(source: string): string {
  const parts: string[] = [];
  let kept = 0;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === QUOTE) at = endOfText(source, at);
    else if (code === SLASH) {
      const end = endOfComment(source, at);
      if (end === undefined) continue;
      parts.push(source.slice(kept, at), source.slice(at, end).replaceAll(/[^\n\r]/g, ' '));
      kept = end;
      at = end - 1;
    }
  }
  return kept === 0 ? source : parts.join('') + source.slice(kept);
}

const COMMA = 44;
const [ARRAY_END, OBJECT_END] = [93, 125];

/** Of a text without comments: the commas that stand before a closing bracket. */
export function withoutLastCommas(source: string): string {
  const parts: string[] = [];
  let kept = 0;
  let comma = -1;
  for (let at = 0; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === COMMA) comma = at;
    else if ((code === ARRAY_END || code === OBJECT_END) && comma !== -1) {
      parts.push(source.slice(kept, comma), ' ');
      kept = comma + 1;
      comma = -1;
    } else if (!SPACE.test(source.charAt(at))) comma = -1;
    if (code === QUOTE) at = endOfText(source, at);
  }
  return kept === 0 ? source : parts.join('') + source.slice(kept);
}

const SPACE = /\s/;

/** Undefined where none begins, and where one has no end. */
function endOfComment(source: string, at: number): number | undefined {
  const next = source.charCodeAt(at + 1);
  if (next === SLASH) {
    const end = source.indexOf('\n', at);
    return end === -1 ? source.length : end;
  }
  if (next !== STAR) return undefined;
  const end = source.indexOf('*/', at + 2);
  return end === -1 ? undefined : end + 2;
}
