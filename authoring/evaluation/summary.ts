/** What an evaluation came to: by model, by check, beside the last one, and of one model beside another. */
import type { CheckResult } from './checks.ts';
import { percentile, wilson, type Interval } from './statistics.ts';

export interface CaseResult {
  /** Null: as the definition says. */
  model: string | null;
  name: string;
  /** From 1. */
  repeat: number;
  handle: string;
  outcome: string | null;
  passed: boolean;
  checks: CheckResult[];
  tokens: number;
  usd: number;
  /** Of these tokens, those whose price nobody knows. */
  unpricedTokens: number;
  durationMs: number;
}

export interface ModelSummary extends Interval {
  model: string | null;
  cases: number;
  passed: number;
  rate: number;
  tokens: number;
  usd: number;
  unpricedTokens: number;
  p50Ms: number;
  p95Ms: number;
  checks: { name: string; cases: number; passed: number }[];
}

export interface CaseName {
  model: string | null;
  name: string;
  repeat: number;
}

export interface Comparison {
  /** Of the last evaluation. */
  id: string;
  finishedAt: string;
  nowPassed: CaseName[];
  nowFailed: CaseName[];
  /** Cases that both have. */
  cases: number;
}

export interface Between {
  one: string | null;
  other: string | null;
  /** Cases that the one passes and the other does not. */
  onlyOne: string[];
  onlyOther: string[];
}

export interface EvaluationResult {
  cases: CaseResult[];
  models: ModelSummary[];
  between: Between[];
}

export function summarize(cases: CaseResult[]): EvaluationResult {
  const names = [...new Set(cases.map(({ model }) => model))];
  return {
    cases,
    models: names.map((model) =>
      summaryOf(
        model,
        cases.filter((one) => one.model === model),
      ),
    ),
    between: names.flatMap((one, index) => names.slice(index + 1).map((other) => betweenModels(cases, one, other))),
  };
}

function summaryOf(model: string | null, cases: readonly CaseResult[]): ModelSummary {
  const passed = cases.filter((one) => one.passed).length;
  const sum = (of: (one: CaseResult) => number): number => cases.reduce((total, one) => total + of(one), 0);
  const times = cases.map(({ durationMs }) => durationMs);
  const checks = new Map<string, { name: string; cases: number; passed: number }>();
  for (const { name, passed: isPassed } of cases.flatMap((one) => one.checks)) {
    const counted = checks.get(name) ?? { name, cases: 0, passed: 0 };
    checks.set(name, { name, cases: counted.cases + 1, passed: counted.passed + (isPassed ? 1 : 0) });
  }
  return {
    model,
    cases: cases.length,
    passed,
    rate: cases.length === 0 ? 0 : passed / cases.length,
    ...wilson(passed, cases.length),
    tokens: sum(({ tokens }) => tokens),
    usd: sum(({ usd }) => usd),
    unpricedTokens: sum(({ unpricedTokens }) => unpricedTokens),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    checks: [...checks.values()],
  };
}

const idOf = ({ name, repeat }: Pick<CaseResult, 'name' | 'repeat'>): string =>
  repeat === 1 ? name : `${name} (${repeat})`;

function betweenModels(cases: readonly CaseResult[], one: string | null, other: string | null): Between {
  const passedBy = (model: string | null): Set<string> =>
    new Set(cases.filter((each) => each.model === model && each.passed).map(idOf));
  const [ones, others] = [passedBy(one), passedBy(other)];
  return {
    one,
    other,
    onlyOne: [...ones].filter((id) => !others.has(id)),
    onlyOther: [...others].filter((id) => !ones.has(id)),
  };
}

const keyOf = ({ model, name, repeat }: CaseName): string => JSON.stringify([model, name, repeat]);

/** Cases are the same where model, name and repetition are. */
export function compare(
  now: readonly CaseResult[],
  before: { id: string; finishedAt: number; cases: readonly CaseResult[] },
): Comparison {
  const was = new Map(before.cases.map((one) => [keyOf(one), one.passed]));
  const both = now.filter((one) => was.has(keyOf(one)));
  const changedTo = (passed: boolean): CaseName[] =>
    both
      .filter((one) => one.passed === passed && was.get(keyOf(one)) !== passed)
      .map(({ model, name, repeat }) => ({ model, name, repeat }));
  return {
    id: before.id,
    finishedAt: new Date(before.finishedAt).toISOString(),
    nowPassed: changedTo(true),
    nowFailed: changedTo(false),
    cases: both.length,
  };
}
