/** A line in parts of a length at most, broken between words where there are any and never inside a character. */
export function wrapped(line: string, length: number): string[] {
  const parts: string[] = [];
  let rest = line;
  while (rest.length > length) {
    const space = rest.lastIndexOf(' ', length);
    const cut = space >= length / 2 ? space + 1 : whole(rest, length);
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return [...parts, rest];
}

/** A place at or just before `at` that is in the middle of no character. */
function whole(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff && at > 1 ? at - 1 : at;
}
