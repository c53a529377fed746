/** The ways in which programs write a text that they are given. */
export type Writing = (text: string) => string;

const chars = (text: string): string[] => Array.from(text);
const bytes = (text: string): number[] => [...Buffer.from(text)];
const two = (byte: number): string => byte.toString(16).padStart(2, '0');
const units = (text: string): string[] =>
  text.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));

/** One after another they may be nested. */
export const writings: { readonly [name: string]: Writing } = {
  'as it is': (text) => text,
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  'JSON with \\/': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'JSON of PHP and Go': (text) =>
    JSON.stringify(text)
      .slice(1, -1)
      .replaceAll(/[^\x20-\x7e]|[<>&]/g, (char) => `\\u${(char.charCodeAt(0) || 0).toString(16).padStart(4, '0')}`),
  'JSON, every character escaped': (text) =>
    units(text)
      .map((unit) => `\\u${unit}`)
      .join(''),
  'an address': (text) => encodeURIComponent(text),
  'an address in small letters': (text) => encodeURIComponent(text).replaceAll(/%../g, (byte) => byte.toLowerCase()),
  'an address, every byte escaped': (text) =>
    bytes(text)
      .map((byte) => `%${two(byte).toUpperCase()}`)
      .join(''),
  'a form': (text) => encodeURIComponent(text).replaceAll('%20', '+'),
  base64: (text) => Buffer.from(text).toString('base64'),
  base64url: (text) => Buffer.from(text).toString('base64url'),
  'base64 within more': (text) => Buffer.from(`user:${text}@host`).toString('base64'),
  'base64 of UTF-16': (text) => Buffer.from(text, 'utf16le').toString('base64'),
  'base64 in lines': (text) =>
    Buffer.from(text.padEnd(200, '.'))
      .toString('base64')
      .replaceAll(/(.{76})/g, '$1\n'),
  hex: (text) => Buffer.from(text).toString('hex'),
  HEX: (text) => Buffer.from(text).toString('hex').toUpperCase(),
  '\\x': (text) =>
    bytes(text)
      .map((byte) => `\\x${two(byte)}`)
      .join(''),
  octal: (text) =>
    bytes(text)
      .map((byte) => `\\${byte.toString(8).padStart(3, '0')}`)
      .join(''),
  HTML: (text) => text.replaceAll(/[&<>"'/]/g, (char) => `&#${char.charCodeAt(0)};`),
  'HTML by names': (text) =>
    text
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('"', '&quot;')
      .replaceAll("'", '&apos;')
      .replaceAll('/', '&sol;'),
  'HTML, every character escaped': (text) =>
    chars(text)
      .map((char) => `&#x${(char.codePointAt(0) ?? 0).toString(16)};`)
      .join(''),
  'a word of a shell': (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
  'a word of a shell by bash': (text) => text.replaceAll(/[^\w@%+=:,./\u0080-\u{10ffff}-]/gu, (char) => `\\${char}`),
  'colours between': (text) => chars(text).join('\u001b[31m\u001b[0m'),
  'a link of a terminal between': (text) => `${text.slice(0, 4)}\u001b]8;;http://a\u0007${text.slice(4)}`,
  'soft lines': (text) => text.replaceAll(/(.{10})/gu, '$1\r\n'),
  'a line that goes on': (text) => `${text.slice(0, 7)}\\\n${text.slice(7)}`,
  'no width between': (text) => chars(text).join('\u200b'),
  NFC: (text) => text.normalize('NFC'),
  NFD: (text) => text.normalize('NFD'),
};

/** What stands between the letters does not stand within what an encoder is given, and cuts no escape of another writing. */
export const parting = [
  'base64 in lines',
  'colours between',
  'a link of a terminal between',
  'soft lines',
  'a line that goes on',
  'no width between',
];

/** These print bytes, and others may not follow them. */
export const printings: { readonly [name: string]: (text: string) => Buffer } = {
  'UTF-16': (text) => Buffer.from(text, 'utf16le'),
  'UTF-16 the other way': (text) => Buffer.from(text, 'utf16le').swap16(),
  'xxd -p': (text) =>
    Buffer.from(
      Buffer.from(text)
        .toString('hex')
        .replaceAll(/(.{60})/g, '$1\n'),
    ),
  'bytes apart': (text) => Buffer.from(bytes(text).map(two).join(' ')),
  'bytes of C': (text) =>
    Buffer.from(
      bytes(text)
        .map((byte) => `0x${two(byte)}`)
        .join(', '),
    ),
  'bytes with colons': (text) => Buffer.from(bytes(text).map(two).join(':')),
  'a mail': (text) => {
    const signs = bytes(text).map((byte) =>
      byte === 61 || byte > 126 || byte < 32 ? `=${two(byte).toUpperCase()}` : String.fromCharCode(byte),
    );
    return Buffer.from(signs.map((sign, at) => (at % 9 === 8 ? `${sign}=\r\n` : sign)).join(''));
  },
};
