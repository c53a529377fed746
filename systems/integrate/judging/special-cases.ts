/**
 * SPECIAL_CASED: an added line compares with, or looks up, a literal that the tests hold and the code did not. Whether
 * that is a fix or a special case for a test is undecidable in general; the rule is what it says, and no more.
 */
import type { Violation } from './manifest.ts';
import type { AddedLine } from './added-lines.ts';

const LITERAL = String.raw`-?\b\d+(?:\.\d+)?\b|"(?:[^"\\]|\\.){1,200}"|'(?:[^'\\]|\\.){1,200}'`;
const LITERALS = new RegExp(LITERAL, 'g');
/** A comparison, a case, or a key of a table. Arithmetic with a literal is none. */
const COMPARED = new RegExp(
  String.raw`(?:[=!]==?|\bis|\bin|\bcase|\bwhen|[\[({,]\s*)\s*\(?(${LITERAL})|(?<![%*/+\-]\s{0,3})(${LITERAL})\s*(?:[=!]==?|=>|:)`,
  'g',
);
/** So common that they say nothing. */
const COMMON = new Set(['0', '1', '-1', '2', '10', '100']);
const IS_CHOICE = /[=!]==?|\bin\b|\bis\b|\bcase\b|\bmatch\b|\bwhen\b|=>|\.get\(|\.has\(/;
const LINE_MAX = 2_000;

/** Without their quotes, so that both kinds mean the same. */
const plain = (literal: string): string => literal.replace(/^(['"])(.*)\1$/s, '$2');

export const literalsOf = (text: string): Set<string> =>
  new Set(Array.from(text.matchAll(LITERALS), ([literal]) => plain(literal)).filter((literal) => !COMMON.has(literal)));

/** `tests`: what the failing tests stand in. `before`: the code as it was, without its tests. */
export function specialCases(
  added: readonly AddedLine[],
  { tests, before }: { tests: ReadonlySet<string>; before: ReadonlySet<string> },
): Violation[] {
  return added.flatMap(({ file, line, text }): Violation[] => {
    if (text.length > LINE_MAX || !IS_CHOICE.test(text)) return [];
    const compared = Array.from(text.matchAll(COMPARED), ([, right, left]) => plain(right ?? left ?? ''));
    const isOfTests = compared.some((one) => one.length > 0 && tests.has(one) && !before.has(one));
    return isOfTests ? [{ file, line, pattern: 'SPECIAL_CASED', text: text.trim().slice(0, 200) }] : [];
  });
}
