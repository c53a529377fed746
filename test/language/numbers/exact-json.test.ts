/** JSON is read so that no number becomes another one, by every reader. */
import { assert, boolean, property, stringMatching, tuple } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readInput, readArguments } from '../../../world/models/answer/json-arguments.ts';
import { parsedWhole, readJson } from '../../../language/expression/json-text.ts';
import { Budget } from '../../../language/expression/budget.ts';
import { ofShellResult } from '../../../language/expression/shell-result.ts';
import { replyValue } from '../../../language/models/reply-value.ts';
import { changeOf, compareDecimals, fateOf } from '../../../language/numbers/decimal.ts';
import { exactJson } from '../../../language/numbers/exact-json.ts';
import { randomRuns } from '../../random-runs.ts';

const BIG = '12345678901234567890';

test.each([
  [BIG, 'lost'],
  ['-9007199254740993', 'lost'],
  ['9007199254740992', 'kept'],
  ['100000000000000000000', 'kept'],
  // The platform holds it, and writes 12345678901234567000.
  ['12345678901234567168', 'lost'],
  ['1.2345678901234567168e19', 'lost'],
  ['1e22', 'kept'],
  ['1e400', 'lost'],
  ['1e-400', 'lost'],
  ['0e400', 'kept'],
  ['-0.0', 'kept'],
  ['5e-324', 'kept'],
  ['0.30000000000000004', 'kept'],
  // What a program wrote that writes more digits than it means.
  ['0.10000000000000000555', 'kept'],
  ['0.10000000000000001', 'kept'],
  ['3.3333333333333333', 'rounded'],
  ['1234567890123456.78', 'rounded'],
  ['a', null],
  ['', null],
  ['.', null],
])('%s is %s', (written, fate) => {
  expect(fateOf(written)).toBe(fate);
  expect(changeOf(` ${written}\n`)).toBe(fate === 'kept' ? null : fate);
});

test('a number that would change is a text; a text that looks like one stays what it is, and so do places of mistakes', () => {
  const text = `{"id": ${BIG}, "text": "\\"${BIG}, 1e400", "list": [1e400, -${BIG}, 2.50], "${BIG}": 0.1}`;
  const value = { id: BIG, text: `"${BIG}, 1e400`, list: ['1e400', `-${BIG}`, 2.5], [BIG]: 0.1 };
  expect(exactJson(text)).toEqual(value);
  expect(exactJson(BIG)).toBe(BIG);
  expect(exactJson('[3.3333333333333333]', 'nearest')).toEqual([10 / 3]);
  expect(() => exactJson(`[${BIG}, }`)).toThrow(/position 23|'}'/);
});

test('every reader of text: what a program prints, what a model writes, its arguments, a value in a text', () => {
  expect(readJson(`{"id": ${BIG}}`)).toEqual({ id: BIG });
  expect(parsedWhole(`${BIG}\n`, new Budget())).toBe(BIG);
  expect(ofShellResult({ exitCode: 0, stdout: `\uFEFF{"id": ${BIG}}\n` }, 'data', new Budget())).toEqual({ id: BIG });
  expect(replyValue(`\`\`\`json\n{"id": ${BIG}, "share": 3.3333333333333333}\n\`\`\``)).toEqual({
    id: BIG,
    share: 10 / 3,
  });
  expect(readArguments(`{"id": ${BIG}, "share": 3.3333333333333333}`)).toEqual({
    state: 'read',
    input: { id: BIG, share: 10 / 3 },
  });
  expect(readInput({ id: 1 })).toEqual({ state: 'read', input: { id: 1 } });
});

describe('random numbers', () => {
  const digits = stringMatching(/^[1-9]\d{0,24}$/);
  const fraction = stringMatching(/^(?:\.\d{1,20})?$/);

  test('what is kept can be had back, and what is not is had as it was written', () => {
    assert(
      property(digits, fraction, (whole, rest) => {
        const written = `${whole}${rest}`;
        const [read] = exactJson(`[${written}]`) as [number | string];
        if (typeof read === 'string') {
          expect(read).toBe(written);
          return;
        }
        const places = written.replace('.', '').length;
        const ways = [String(read), ...Array.from({ length: places }, (_, index) => read.toPrecision(index + 1))];
        expect(ways.filter((way) => compareDecimals(way, written) === 0)).not.toEqual([]);
      }),
      randomRuns(500),
    );
  });

  test('whole numbers are compared as they are', () => {
    const signed = tuple(boolean(), digits).map(([isNegative, text]) => `${isNegative ? '-' : ''}${text}`);
    assert(
      property(signed, signed, (a, b) => {
        const order = BigInt(a) < BigInt(b) ? -1 : Number(BigInt(a) > BigInt(b));
        expect(Math.sign(compareDecimals(a, b) ?? Number.NaN)).toBe(order);
      }),
      randomRuns(500),
    );
  });
});
