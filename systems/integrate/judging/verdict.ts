/** PASS, FAIL or ERROR, from what was measured alone: what a model says of itself is not looked at. */
import type { Violation } from './manifest.ts';

export type Status = 'passed' | 'failed' | 'skipped';

export interface Tested {
  /** Whether the tests could be run. */
  ran: boolean;
  why: string;
  cases: readonly { test: string; status: Status }[];
  /** Failed twice, those that the runner alone failed of among them. */
  failing: readonly string[];
  flaky: readonly string[];
}

export interface Compared {
  fixed: string[];
  stillFailing: string[];
  lost: string[];
  flaky: string[];
}

/** What stands for a runner that failed and named no test that did. */
export const THE_RUN = '(the run of the tests)';

export function compareTests(before: Tested, after: Tested): Compared {
  const flaky = new Set([...before.flaky, ...after.flaky]);
  const ended = new Map(numbered(after.cases));
  const failingAfter = new Set(after.failing.filter((test) => !flaky.has(test)));
  const failedBefore = before.failing.filter((test) => !flaky.has(test));
  const isFixed = (test: string): boolean =>
    test === THE_RUN ? !failingAfter.has(test) : ended.get(test) === 'passed' && !failingAfter.has(test);
  const lost = numbered(before.cases)
    .filter(([test, status]) => status === 'passed' && !flaky.has(test) && ended.get(test) !== 'passed')
    .map(([test]) => test);
  return {
    fixed: failedBefore.filter(isFixed),
    stillFailing: [...new Set([...failingAfter, ...failedBefore.filter((test) => !isFixed(test))])],
    lost,
    flaky: [...flaky],
  };
}

/** Tests of one name are told apart by their order. */
export function numbered(cases: Tested['cases']): [test: string, status: Status][] {
  const seen = new Map<string, number>();
  return cases.map(({ test, status }) => {
    const nth = (seen.get(test) ?? 0) + 1;
    seen.set(test, nth);
    return [nth === 1 ? test : `${test} #${nth}`, status];
  });
}

export interface Measured {
  mode: 'auto' | 'human-gated';
  /** Null: no framework was found. */
  tests: { before: Tested; after: Tested } | null;
  hasChanges: boolean;
  testViolations: readonly Violation[];
  placeholders: readonly Violation[];
  failsOnPlaceholders: boolean;
  isOverRadius: boolean;
  breaking: readonly string[];
  allowsBreaking: boolean;
  /** What a person said to what goes too far; null: nobody was asked. */
  permitted: boolean | null;
}

export interface Verdict {
  result: 'PASS' | 'FAIL' | 'ERROR';
  reasons: string[];
  error: string | null;
  compared: Compared;
  isExceeded: boolean;
  /** A person has to say whether the changes stay. */
  asks: boolean;
  takesBack: boolean;
}

const NOTHING: Compared = { fixed: [], stillFailing: [], lost: [], flaky: [] };

export function judge(measured: Measured): Verdict {
  const { mode, tests, permitted, breaking, testViolations } = measured;
  const unrun = tests !== null && !tests.before.ran ? tests.before.why : null;
  if (unrun !== null)
    return {
      result: 'ERROR',
      reasons: [],
      error: unrun,
      compared: NOTHING,
      isExceeded: false,
      asks: false,
      takesBack: measured.hasChanges,
    };
  const compared = tests === null ? NOTHING : compareTests(tests.before, tests.after);
  const isBreaking = breaking.length > 0 && !measured.allowsBreaking;
  const isExceeded = measured.isOverRadius || isBreaking;
  const tampered = testViolations.filter(({ pattern }) => pattern !== 'SPECIAL_CASED');
  const special = testViolations.length > tampered.length;
  const isDoubtful = isExceeded || special;
  const asks = isDoubtful && tampered.length === 0 && mode === 'human-gated' && permitted === null;
  const isRefused = isDoubtful && permitted !== true;
  const reasons = [
    ...(tests !== null && !tests.after.ran ? [`the tests could not be run afterwards: ${tests.after.why}`] : []),
    ...count(compared.stillFailing, 'test still fails', 'tests still fail'),
    ...count(
      compared.lost,
      'test that passed is failing, skipped or gone',
      'tests that passed are failing, skipped or gone',
    ),
    ...tampered.map(({ file, pattern }) => `${pattern}: ${file}`),
    ...(measured.failsOnPlaceholders
      ? count(
          measured.placeholders.map(({ file }) => file),
          'placeholder is left',
          'placeholders are left',
        )
      : []),
    ...(isRefused && special ? ['SPECIAL_CASED: the change compares with literals of the failing tests'] : []),
    ...(isRefused && measured.isOverRadius ? ['the change is larger than the change radius'] : []),
    ...(isRefused && isBreaking ? [`the change breaks callers: ${breaking.slice(0, 5).join('; ')}`] : []),
  ];
  return {
    result: reasons.length === 0 ? 'PASS' : 'FAIL',
    reasons,
    error: null,
    compared,
    isExceeded,
    asks,
    takesBack: measured.hasChanges && (tampered.length > 0 || isRefused),
  };
}

function count(names: readonly string[], one: string, more: string): string[] {
  if (names.length === 0) return [];
  const shown = [...new Set(names)].slice(0, 5).join(', ');
  return [`${names.length} ${names.length === 1 ? one : more}: ${shown}`];
}
