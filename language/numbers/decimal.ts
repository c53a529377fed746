/** Numbers as they are written, held against what the platform makes of them: 53 bits, and a bounded size. */

/** `0.digits × 10^point`, without zeros at either end; no digits for zero. */
interface Decimal {
  isNegative: boolean;
  digits: string;
  point: number;
}

const PARTS = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;
const ZERO = 48;
/** The platform writes a number with no more. */
const digitsMax = 100;

/** Null for what is no number. */
function decimalOf(written: string): Decimal | null {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = PARTS.exec(written) ?? [];
  const all = whole + fraction;
  if (all === '') return null;
  let from = 0;
  while (all.charCodeAt(from) === ZERO) from += 1;
  let to = all.length;
  while (to > from && all.charCodeAt(to - 1) === ZERO) to -= 1;
  const digits = all.slice(from, to);
  return { isNegative: sign === '-', digits, point: digits === '' ? 0 : whole.length - from + Number(exponent) };
}

const isWhole = ({ digits, point }: Decimal): boolean => point >= digits.length;

const isSame = (a: Decimal, b: Decimal | null): boolean => a.digits === b?.digits && a.point === b.point;

/**
 * What becomes of a number: it is kept, its last digits go (`rounded`), or it becomes another one (`lost`): a whole number
 * beyond what is held digit by digit, and one whose size is not held. A fraction is kept where as many digits can be had
 * back as were written; programs write more of them than they mean. Null for what is no number.
 */
export function fateOf(written: string): 'kept' | 'rounded' | 'lost' | null {
  const decimal = decimalOf(written);
  if (decimal === null) return null;
  const { digits } = decimal;
  const value = Number(written);
  if (digits === '') return 'kept';
  if (!Number.isFinite(value) || value === 0) return 'lost';
  if (isSame(decimal, decimalOf(String(value)))) return 'kept';
  if (isWhole(decimal)) return 'lost';
  const back = digits.length > digitsMax ? null : decimalOf(value.toPrecision(digits.length));
  return isSame(decimal, back) ? 'kept' : 'rounded';
}

/** Whether a text may hold a number that is not kept: all others have fewer digits, and a small exponent. */
export const mayChange = (text: string): boolean => /\d[\d.]{15}|[eE][+-]?\d{3}/.test(text);

/** Of a text that is a number, and nothing else; null for any other, and for one that is kept. */
export function changeOf(text: string): 'rounded' | 'lost' | null {
  if (!mayChange(text)) return null;
  const fate = fateOf(text.trim());
  return fate === 'kept' ? null : fate;
}

/** By size, digit by digit: below zero where `a` is less. Null where one of them is no number. */
export function compareDecimals(a: string, b: string): number | null {
  const [left, right] = [decimalOf(a.trim()), decimalOf(b.trim())];
  if (left === null || right === null) return null;
  return signed(left) === signed(right) ? signed(left) * compareSizes(left, right) : signed(left) - signed(right);
}

const signed = ({ isNegative, digits }: Decimal): number => (digits === '' ? 0 : isNegative ? -1 : 1);

function compareSizes(a: Decimal, b: Decimal): number {
  if (a.point !== b.point) return a.point < b.point ? -1 : 1;
  return a.digits < b.digits ? -1 : Number(a.digits > b.digits);
}
