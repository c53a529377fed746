const QUOTE = 34;
const BACKSLASH = 92;

/** Where the closing quote of a text in JSON stands, or behind the last character. */
export function endOfText(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source.charCodeAt(at) !== QUOTE) at += source.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
