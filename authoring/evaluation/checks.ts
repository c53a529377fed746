/** Whether a run came to what its input asks for. */
import { isTruthy, tryEvaluate } from '../../language/expression/evaluate.ts';
import { scopeOf } from '../../language/expression/scope.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import type { EvaluationInput } from './evaluation-file.ts';

export interface Ended {
  outcome: string | null;
  outputs: { [name: string]: Json };
  iterations: number;
  durationMs: number;
  failure: JsonObject | null;
  tokens: number;
  usd: number;
}

export interface CheckResult {
  name: string;
  passed: boolean;
  /** Why it could not be looked at. */
  fault?: string;
}

export const OUTCOME_CHECK = 'outcome';

/** Names of the run's variables, and beside them what stands in the table of docs/evaluation.md. */
export function checkRun({ checks, outcome, input }: EvaluationInput, ended: Ended): CheckResult[] {
  const scope = scopeOf({ ...ended.outputs, ...ended, input, result: ended.outputs });
  const first: CheckResult = {
    name: OUTCOME_CHECK,
    passed: ended.outcome === outcome,
    ...(ended.outcome === outcome ? {} : { fault: endWords(ended, outcome) }),
  };
  return [
    first,
    ...checks.map(({ name, check }): CheckResult => {
      const found = tryEvaluate(check, scope);
      return found.ok ? { name, passed: isTruthy(found.value) } : { name, passed: false, fault: found.message };
    }),
  ];
}

function endWords({ outcome, failure }: Ended, wanted: string): string {
  const how = outcome === null ? 'it had not ended' : `it ended ${outcome}`;
  const message = failure?.['message'];
  return typeof message === 'string' ? `${how}, not ${wanted}: ${message}` : `${how}, not ${wanted}`;
}
