/** Blocks of code in a model's text: lines between ``` and ```, found in one pass, however many begin and do not end. */

export interface Fence {
  /** With the fences. */
  whole: string;
  /** The word behind the opening fence. */
  word: string;
  body: string;
}

const MARK = '```';

/** `isOpening`: whether a fence with that word begins a block. */
export function fencesIn(text: string, isOpening: (word: string) => boolean = () => true): Fence[] {
  const fences: Fence[] = [];
  let open: { start: number; bodyStart: number; word: string } | null = null;
  for (let at = 0; at < text.length;) {
    const newline = text.indexOf('\n', at);
    const end = newline < 0 ? text.length : newline;
    const line = text.slice(at, end).trim();
    if (open !== null && line.endsWith(MARK)) {
      const close = text.lastIndexOf(MARK, end);
      const body = withoutLastBreak(text.slice(open.bodyStart, close));
      fences.push({ whole: text.slice(open.start, end), word: open.word, body });
      open = null;
    } else if (open === null && line.startsWith(MARK)) {
      const word = line.slice(MARK.length).trim();
      if (isWord(word) && isOpening(word)) open = { start: at, bodyStart: end + 1, word };
    }
    at = end + 1;
  }
  return fences;
}

const isWord = (text: string): boolean => /^[A-Za-z0-9_-]*$/.test(text);

function withoutLastBreak(body: string): string {
  let end = body.length;
  while (body[end - 1] === ' ' || body[end - 1] === '\t') end -= 1;
  if (body[end - 1] === '\n') end -= 1;
  if (body[end - 1] === '\r') end -= 1;
  return body.slice(0, end);
}
