/**
 * Text as a person may be shown it: what cannot be seen, or makes a terminal do something, stands as the
 * escape that JSON has for it (`\u001b`), so that JSON stays the same JSON. Newlines and tabs stay.
 */

/** Controls (C0, C1, DEL), separators of lines, halves of pairs, and what Unicode says to show nothing for: marks of direction, joiners, tags. */
const UNSEEN = /[^\P{Cc}\n\t]|[\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\uFFF9-\uFFFB]/gu;
/** Between pictures a joiner makes one of them, and behind one a selector says how it is drawn. */
const IN_PICTURES =
  /(?<=\p{Extended_Pictographic})\uFE0F|(?<=\p{Extended_Pictographic}\uFE0F?)\u200D(?=\p{Extended_Pictographic})/gu;

export function visible(text: string): string {
  if (text.search(UNSEEN) === -1) return text;
  const kept = new Set(Array.from(text.matchAll(IN_PICTURES), ({ index }) => index));
  return text.replaceAll(UNSEEN, (mark, at: number) => (kept.has(at) ? mark : escaped(mark)));
}

/** What follows a newline begins with a bar: it is no line of its own. A carriage return before one does nothing. */
export function barred(text: string): string {
  return text.replaceAll(/\r(?=\n|$)/g, '').replaceAll('\n', '\n  │ ');
}

function escaped(mark: string): string {
  return Array.from({ length: mark.length }, (_, nth) => mark.charCodeAt(nth))
    .map((unit) => String.raw`\u${unit.toString(16).padStart(4, '0')}`)
    .join('');
}
