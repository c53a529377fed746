/**
 * The transcendental functions, built from operations whose result IEEE 754 fixes to the last bit
 * (+ − × ÷ √). The engine's own may differ in the last digit from one version to the next, and a run
 * that is replayed by a later one has to decide as it did before. Exact to about 15 digits.
 */
const LN2_HIGH = 0.69314718036912381649;
const LN2_LOW = 1.90821492927058770002e-10;
const HALF_PI_PARTS = [1.57079632673412561417, 6.0771005063039659766e-11, 2.02226624879595063154e-21] as const;
const HALF_PI = Math.PI / 2;
const SMALL = 0.35;
/** Beyond it x² + 1 is x² to the last digit. */
const HUGE = 1e9;

/** The sum of a series whose n-th term is the one before it times `ratio(n)`. */
function series(first: number, ratio: (n: number) => number): number {
  let sum = 0;
  let term = first;
  for (let n = 1; n < 40 && sum + term !== sum; n += 1) {
    sum += term;
    term *= ratio(n);
  }
  return sum;
}

function scale(x: number, power: number): number {
  const half = Math.trunc(power / 2);
  return x * powerOfTwo(half) * powerOfTwo(power - half);
}

function powerOfTwo(power: number): number {
  const step = power < 0 ? 0.5 : 2;
  let result = 1;
  for (let left = Math.abs(power); left > 0; left -= 1) result *= step;
  return result;
}

export function exp(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x > 710) return Infinity;
  if (x < -746) return 0;
  const power = Math.round(x / Math.LN2);
  const rest = x - power * LN2_HIGH - power * LN2_LOW;
  return scale(1 + series(rest, (n) => rest / (n + 1)), power);
}

export function expm1(x: number): number {
  return Math.abs(x) < SMALL ? series(x, (n) => x / (n + 1)) : exp(x) - 1;
}

/** atanh(s) for small s: s + s³/3 + s⁵/5 … */
function oddSeries(s: number, sign: 1 | -1): number {
  const square = s * s * sign;
  let sum = 0;
  let power = s;
  for (let n = 1; n < 80 && sum + power / n !== sum; n += 2) {
    sum += power / n;
    power *= square;
  }
  return sum;
}

/** x as m·2^power with m between √½ and √2. */
function split(x: number): [number, number] {
  const view = new DataView(new ArrayBuffer(8));
  const isTiny = x < 2.3e-308;
  view.setFloat64(0, isTiny ? x * 2 ** 54 : x);
  let power = ((view.getUint16(0) >>> 4) & 0x7ff) - 1023 - (isTiny ? 54 : 0);
  view.setUint16(0, (view.getUint16(0) & 0x000f) | 0x3ff0);
  let m = view.getFloat64(0);
  if (m > Math.SQRT2) {
    m /= 2;
    power += 1;
  }
  return [m, power];
}

export function log(x: number): number {
  if (Number.isNaN(x) || x < 0) return Number.NaN;
  if (x === 0) return -Infinity;
  if (x === Infinity) return x;
  const [m, power] = split(x);
  return power * LN2_HIGH + (2 * oddSeries((m - 1) / (m + 1), 1) + power * LN2_LOW);
}

export function log1p(x: number): number {
  return Math.abs(x) < SMALL ? 2 * oddSeries(x / (2 + x), 1) : log(1 + x);
}

export function log2(x: number): number {
  if (!(x > 0) || x === Infinity) return log(x);
  const [m, power] = split(x);
  return m === 1 ? power : power + log(m) / Math.LN2;
}

export function log10(x: number): number {
  const result = log(x) / Math.LN10;
  const whole = Math.round(result);
  return Math.abs(result - whole) < 1e-9 && pow(10, whole) === x ? whole : result;
}

export function pow(x: number, y: number): number {
  if (y === 0) return 1;
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  const isWhole = Number.isInteger(y);
  if (isWhole && Math.abs(y) <= 4096) return y < 0 ? 1 / wholePower(x, -y) : wholePower(x, y);
  if (y === 0.5) return Math.sqrt(x);
  if (x < 0 && !isWhole && Number.isFinite(y)) return Number.NaN;
  if (Math.abs(x) === 1 && !Number.isFinite(y)) return Number.NaN;
  const size = exp(y * log(Math.abs(x)));
  return x < 0 && isWhole && Math.abs(y % 2) === 1 ? -size : size;
}

function wholePower(x: number, y: number): number {
  let result = 1;
  for (let left = y, square = x; left > 0; left = Math.floor(left / 2), square *= square)
    if (left % 2 === 1) result *= square;
  return result;
}

export function cbrt(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return x;
  const size = Math.abs(x);
  let root = exp(log(size) / 3);
  for (let turn = 0; turn < 2; turn += 1) root -= (root - size / root / root) / 3;
  const whole = Math.round(root);
  const best = whole * whole * whole === size ? whole : root;
  return x < 0 ? -best : best;
}

export function hypot(...sides: number[]): number {
  const longest = sides.reduce((most, side) => (Math.abs(side) > most ? Math.abs(side) : most), 0);
  if (sides.some((side) => Math.abs(side) === Infinity)) return Infinity;
  if (sides.some((side) => Number.isNaN(side))) return Number.NaN;
  return longest === 0
    ? 0
    : longest * Math.sqrt(sides.reduce((sum, side) => sum + (side / longest) * (side / longest), 0));
}

/** Sine of the angle, turned by so many quarters. */
function wave(x: number, quarters: number): number {
  if (!Number.isFinite(x)) return Number.NaN;
  const turns = Math.round(x / HALF_PI);
  const rest = HALF_PI_PARTS.reduce((left, part) => left - turns * part, x);
  const square = rest * rest;
  const quarter = (((turns + quarters) % 4) + 4) % 4;
  const value =
    quarter % 2 === 0
      ? series(rest, (n) => -square / (2 * n * (2 * n + 1)))
      : series(1, (n) => -square / ((2 * n - 1) * 2 * n));
  return quarter < 2 ? value : -value;
}

export const sin = (x: number): number => wave(x, 0);
export const cos = (x: number): number => wave(x, 1);
export const tan = (x: number): number => sin(x) / cos(x);

export function atan(x: number): number {
  if (Number.isNaN(x)) return x;
  if (x < 0) return -atan(-x);
  if (x > 1) return HALF_PI - atan(1 / x);
  const root = Math.sqrt(3);
  return x > 2 - root ? Math.PI / 6 + oddSeries((x * root - 1) / (root + x), -1) : oddSeries(x, -1);
}

export function atan2(y: number, x: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if (x === 0) return Math.sign(y) * HALF_PI;
  if (x > 0) return atan(y / x);
  return atan(y / x) + (y < 0 ? -Math.PI : Math.PI);
}

export const asin = (x: number): number => (Math.abs(x) === 1 ? x * HALF_PI : atan(x / Math.sqrt(1 - x * x)));
export const acos = (x: number): number => 2 * atan2(Math.sqrt(1 - x), Math.sqrt(1 + x));
export const sinh = (x: number): number =>
  Math.abs(x) < SMALL ? series(x, (n) => (x * x) / (2 * n * (2 * n + 1))) : (exp(x) - exp(-x)) / 2;
export const cosh = (x: number): number => (exp(x) + exp(-x)) / 2;
export const tanh = (x: number): number => (Math.abs(x) > 20 ? Math.sign(x) : sinh(x) / cosh(x));
export const asinh = (x: number): number =>
  Math.sign(x) *
  (Math.abs(x) > HUGE ? log(Math.abs(x)) + Math.LN2 : log1p(Math.abs(x) + (x * x) / (1 + Math.sqrt(1 + x * x))));
export const acosh = (x: number): number =>
  x > HUGE ? log(x) + Math.LN2 : log(x < 1 ? Number.NaN : x + Math.sqrt(x * x - 1));
export const atanh = (x: number): number => (Math.abs(x) < SMALL ? oddSeries(x, 1) : log((1 + x) / (1 - x)) / 2);
