/**
 * A regular expression that somebody else wrote, held against a text in a time that is known before. RE2 takes
 * time linear in the text. It has no look-ahead and no back references; a pattern with these is read by the
 * engine of the platform, where its shape bounds what it can cost.
 */
import { RE2JS } from 're2js';

/** The pattern, or the text for it, is more than is held against each other; the message says which. */
export class PatternCost extends Error {}

export interface LinearPattern {
  /** Whether it is found. Throws a `PatternCost` where the text is too long for it. */
  test(text: string): boolean;
  toString(): string;
}

const patternLengthMax = 4_000;
/** States of the pattern times units of the text. */
const productMax = 10_000_000;
/** Of the platform's engine. */
const backtracksMax = 10_000_000;

/** Throws a `SyntaxError` where it is none, and a `PatternCost` where it may take for ever. */
export function linearPattern(source: string): LinearPattern {
  if (source.length > patternLengthMax)
    throw new PatternCost(`the pattern has ${source.length} characters; at most ${patternLengthMax} are read`);
  const read = readLinear(source);
  const engine = read ?? readTame(source);
  return {
    test(text) {
      if (text.length > engine.lengthMax)
        throw new PatternCost(
          `a text of ${text.length} characters is too long for the pattern ${JSON.stringify(source)}; at most ${engine.lengthMax} are held against it`,
        );
      return engine.test(text);
    },
    toString: () => source,
  };
}

interface Engine {
  test(text: string): boolean;
  lengthMax: number;
}

/** Null where RE2 does not have what the pattern uses. */
function readLinear(source: string): Engine | null {
  try {
    const expression = RE2JS.compile(RE2JS.translateRegExp(source));
    return {
      test: (text) => expression.matcher(text).find(),
      lengthMax: Math.floor(productMax / Math.max(1, expression.programSize())),
    };
  } catch {
    return null;
  }
}

/**
 * With `n` quantifiers, none of which stands within another, an engine that goes back tries at most about
 * `length ** (n + 1) / n!` ways.
 */
function readTame(source: string): Engine {
  const expression = new RegExp(source, 'u');
  const quantifiers = quantifiersIn(source);
  if (quantifiers === null)
    throw new PatternCost(
      `the pattern ${JSON.stringify(source.slice(0, 200))} has look-around or back references, and repeats what repeats, which may take for ever; write it without one of them`,
    );
  let ways = backtracksMax;
  for (let n = 2; n <= quantifiers; n += 1) ways *= n;
  return { test: (text) => expression.test(text), lengthMax: Math.floor(ways ** (1 / (quantifiers + 1))) };
}

/** How many there are, back references among them; null where one stands within another. */
function quantifiersIn(source: string): number | null {
  let count = 0;
  const groups: boolean[] = [];
  let inner = false;
  for (let at = 0; at < source.length; at += 1) {
    const sign = source[at] ?? '';
    if (sign === '\\') {
      at += 1;
      if (/[1-9k]/.test(source[at] ?? '')) count += 1;
    } else if (sign === '[') at = endOfClass(source, at);
    else if (sign === '(') {
      groups.push(inner);
      inner = false;
      // The sign that says what kind of group it is.
      if (source[at + 1] === '?') at += 1;
    } else if (sign === ')') {
      const quantified = QUANTIFIER.test(source.slice(at + 1, at + 2));
      if (quantified && inner) return null;
      inner = (groups.pop() ?? false) || inner || quantified;
    } else if (QUANTIFIER.test(sign)) {
      count += 1;
      inner = true;
    }
  }
  return count;
}

const QUANTIFIER = /[*+?{]/;

function endOfClass(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1;
    else if (source[at] === ']') return at;
  }
  return source.length;
}
