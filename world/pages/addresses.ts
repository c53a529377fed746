/** What an IP address is, whichever way it is written: an address of IPv4 within one of IPv6 counts as what it leads to. */
import { isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** `here`: of this host itself. `elsewhere`: of a network. Else why no page is looked at there. */
export type Place = 'here' | 'elsewhere' | Refused;
export type Refused =
  | 'it belongs to this link alone, where clouds give machines their credentials'
  | 'a cloud gives machines their credentials there'
  | 'it is no address of one host';

const LINK = 'it belongs to this link alone, where clouds give machines their credentials' satisfies Refused;
const METADATA = 'a cloud gives machines their credentials there' satisfies Refused;
const NO_HOST = 'it is no address of one host' satisfies Refused;

/** Of clouds that have others than 169.254.169.254: Azure, Alibaba, Oracle; and of Amazon and Google in IPv6. */
const CREDENTIALS = new Set(['168.63.129.16', '100.100.100.200', '192.0.0.192'].map((text) => keyOf(bytesOf(text))));
const CREDENTIALS_V6 = new Set(['fd00:ec2::254', 'fd20:ce::254'].map((text) => keyOf(bytesOf(text))));

/** `address`: as a resolver or a socket says it. */
export function placeOf(address: string): Place {
  const bytes = bytesOf(address.replace(/%.*$/, '').replace(/^\[(.*)\]$/, '$1'));
  if (bytes === null) return NO_HOST;
  return bytes.length === 4 ? placeOfFour(bytes) : placeOfSixteen(bytes);
}

function placeOfFour(bytes: readonly number[]): Place {
  const [first = 0, second = 0] = bytes;
  if (first === 169 && second === 254) return LINK;
  if (CREDENTIALS.has(keyOf(bytes))) return METADATA;
  if (first >= 224) return NO_HOST;
  return first === 0 || first === 127 || isOwn(bytes) ? 'here' : 'elsewhere';
}

function placeOfSixteen(bytes: readonly number[]): Place {
  const inner = fourIn(bytes);
  if (inner !== null) return placeOfFour(inner);
  const [first = 0, second = 0] = bytes;
  if (first === 0xfe && (second & 0xc0) === 0x80) return LINK;
  if (CREDENTIALS_V6.has(keyOf(bytes))) return METADATA;
  if (first === 0xff) return NO_HOST;
  // Teredo: it leads through a server that only its sender knows.
  if (startsWith(bytes, [0x20, 0x01, 0, 0])) return NO_HOST;
  return bytes.every((byte, index) => byte === (index === 15 ? bytes[15] : 0)) || isOwn(bytes) ? 'here' : 'elsewhere';
}

const ZEROS = Array.from({ length: 12 }, () => 0);

/** Mapped, compatible, translated (NAT64, SIIT), 6to4, and ISATAP. */
function fourIn(bytes: readonly number[]): readonly number[] | null {
  const last = bytes.slice(12);
  const isCompatible = startsWith(bytes, ZEROS) && last.some((byte, index) => byte !== 0 && index < 3);
  const leads = [
    [...ZEROS.slice(0, 10), 0xff, 0xff],
    [...ZEROS.slice(0, 8), 0xff, 0xff, 0, 0],
    [0, 0x64, 0xff, 0x9b, ...ZEROS.slice(0, 8)],
    [0, 0x64, 0xff, 0x9b, 0, 1],
  ];
  if (isCompatible || leads.some((lead) => startsWith(bytes, lead))) return last;
  if (startsWith(bytes, [0x20, 0x02])) return bytes.slice(2, 6);
  return bytes[10] === 0x5e && bytes[11] === 0xfe && (bytes[8] ?? 0) % 2 === 0 && bytes[9] === 0 ? last : null;
}

const startsWith = (bytes: readonly number[], lead: readonly number[]): boolean =>
  lead.every((byte, index) => bytes[index] === byte);

function isOwn(bytes: readonly number[]): boolean {
  const key = keyOf(bytes);
  return Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => keyOf(bytesOf(address)) === key),
  );
}

function keyOf(bytes: readonly number[] | null): string {
  return bytes === null ? '' : bytes.join('.');
}

function bytesOf(text: string): number[] | null {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text)) return null;
  const four = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text);
  const words = four === null ? text : `${four[1]}${wordsOf((four[2] ?? '').split('.').map(Number))}`;
  const [head = '', tail] = words.split('::');
  const [front, back] = [head, tail ?? ''].map((half) => half.split(':').filter((word) => word !== ''));
  const gap =
    tail === undefined ? [] : Array.from({ length: 8 - (front ?? []).length - (back ?? []).length }, () => '0');
  return [...(front ?? []), ...gap, ...(back ?? [])].flatMap((word) => {
    const value = Number.parseInt(word, 16);
    return [value >> 8, value & 0xff];
  });
}

const wordsOf = ([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string =>
  `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
