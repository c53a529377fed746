/** The gate's judgement, over outcomes that are made here. */
import { describe, expect, test } from 'vitest';
import { GATE, verdictOf, type Answered } from '../../../systems/genome/verdict.ts';

/** `won` and `lost` questions change, `kept` are right in both arms; each fact has `perFact` questions. */
function outcomes(n: number, { won = 0, lost = 0, kept = 0, perFact = 1 }): Answered[] {
  return Array.from({ length: n }, (_, at) => ({
    group: `fact ${Math.floor(at / perFact)}`,
    before: at >= won && at < won + lost + kept,
    after: at < won || (at >= won + lost && at < won + lost + kept),
  }));
}

const steady = outcomes(212, { kept: 110 });

describe('an adapter', () => {
  test.each([
    ['that learns and forgets nothing passes', outcomes(60, { won: 24 }), steady, true, /^$/],
    ['that gains 20 points passes', outcomes(100, { won: 22, lost: 2 }), steady, true, /^$/],
    ['that gains 5 does not', outcomes(100, { won: 5 }), steady, false, /from 0 to 5 of 100/],
    [
      'whose gain is of two facts alone does not',
      outcomes(60, { won: 20, perFact: 10 }),
      steady,
      false,
      /may be chance/,
    ],
    ['that changes nothing does not', outcomes(60, {}), steady, false, /from 0 to 0/],
    ['that is asked too little is refused', outcomes(29, { won: 29 }), steady, false, /29 questions/],
    ['that is asked about few facts is refused', outcomes(60, { won: 60, perFact: 10 }), steady, false, /6 facts/],
    [
      'that forgets 8 points does not',
      outcomes(60, { won: 40 }),
      outcomes(212, { kept: 93, lost: 17 }),
      false,
      /it forgets/,
    ],
    [
      'that was asked too little of the rest does not',
      outcomes(60, { won: 40 }),
      outcomes(60, { kept: 60 }),
      false,
      /60 unrelated/,
    ],
  ] as const)('%s', (_what, heldOut, unrelated, passed, reason) => {
    const verdict = verdictOf(heldOut, unrelated, 'seed');
    expect(verdict.reasons.join('; ')).toMatch(reason);
    expect(verdict.passed).toBe(passed);
  });

  test('is judged the same again', () => {
    const heldOut = outcomes(60, { won: 24, lost: 3, perFact: 2 });
    expect(verdictOf(heldOut, steady, 'a')).toEqual(verdictOf(heldOut, steady, 'a'));
  });
});

test('a gain of 20 points over 24 facts has the interval that the facts give, and not the questions', () => {
  const byFact = verdictOf(outcomes(96, { won: 20, perFact: 4 }), steady, 'a').heldOut;
  const byQuestion = verdictOf(outcomes(96, { won: 20, perFact: 1 }), steady, 'a').heldOut;
  const width = ({ interval: [low, high] }: typeof byFact): number => high - low;
  expect(width(byFact)).toBeGreaterThan(1.5 * width(byQuestion));
});

/** Of the 100 adapters that are worth nothing at most 5 may pass; answers differ by chance in a tenth of the questions. */
test('an adapter that is worth nothing passes in fewer than 5 of 100 cases', () => {
  let state = 7;
  const draw = (): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
  const arm = (facts: number, perFact: number, share: number): Answered[] =>
    Array.from({ length: facts }, (_, fact) => {
      const [was, is] = [draw() < share, draw() < share];
      return Array.from({ length: perFact }, () => ({
        group: String(fact),
        before: draw() < 0.9 ? was : !was,
        after: draw() < 0.9 ? is : !is,
      }));
    }).flat();
  const cases = 200;
  let passed = 0;
  for (let at = 0; at < cases; at += 1) if (verdictOf(arm(15, 2, 0.3), steady, String(at)).passed) passed += 1;
  expect(passed / cases).toBeLessThan(0.05);
});

test('the bounds are those that the documentation states', () => {
  expect(GATE).toMatchObject({ gainMin: 15, forgottenMax: 5, questionsMin: 30, groupsMin: 10, unrelatedMin: 200 });
});
