/**
 * JSON texts that Postgres can hold as jsonb. jsonb refuses two things that JSON allows in strings:
 * the NUL character and half of a surrogate pair. Both are written as U+FDD0 (a code point Unicode
 * reserves for uses like this) followed by four hexadecimal digits, and U+FDD0 itself twice.
 *
 * Invariant: fromJsonbText(toJsonbText(text)) says the same as `text`. Both work on the text, so no
 * key (`__proto__`) ever becomes a property on the way.
 */
const MARK = '\uFDD0';
const ESCAPES = new RegExp(String.raw`\\(?:u(0000|d[89a-f][0-9a-f]{2})|[^])|${MARK}`, 'g');
const MARKS = new RegExp(`${MARK}(?:${MARK}|(0000|d[89a-f][0-9a-f]{2}))`, 'g');
const NEEDS_ESCAPE = new RegExp(String.raw`\\u(?:0000|d[89a-f])|${MARK}`);
/** The same of a string that is not written as JSON; whole pairs need none. */
const MAY_NEED_ESCAPE = new RegExp(String.raw`[\0\ud800-\udfff${MARK}]`);

/** Expects the output of JSON.stringify: halves of pairs are escaped there, in lower case. */
export function toJsonbText(text: string): string {
  if (!NEEDS_ESCAPE.test(text)) return text;
  return text.replace(ESCAPES, (found, hex: string | undefined) => {
    if (found === MARK) return MARK + MARK;
    return hex === undefined ? found : MARK + hex;
  });
}

export function fromJsonbText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(MARKS, (_found, hex: string | undefined) => (hex === undefined ? MARK : `\\u${hex}`));
}

/** A bare string (a field's name, a text to look for) as it stands inside a stored jsonb. */
export function toJsonbString(value: string): string {
  if (!MAY_NEED_ESCAPE.test(value)) return value;
  return JSON.parse(toJsonbText(JSON.stringify(value))) as string;
}

/** The reverse of toJsonbString. */
export function fromJsonbString(value: string): string {
  return value.includes(MARK) ? (JSON.parse(fromJsonbText(JSON.stringify(value))) as string) : value;
}

/** For text columns, which cannot hold NUL and are only read by people. */
export function withoutNul(value: string): string {
  return value.includes('\0') ? value.replaceAll('\0', '\u2400') : value;
}
