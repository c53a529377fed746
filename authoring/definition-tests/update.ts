/** Rewrites what a test file expects to what its cases gave. Only what a case names is written, unless it names nothing. */
import { readFileSync, writeFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Outcome } from '../../interpreter/simulation/run-scenario.ts';
import { jsonText } from './json-text.ts';
import type { FileReport } from './run-suite.ts';

/** The number of cases whose expectation changed. What a case leaves open is its author's to say. */
export function updateFile({ file, cases }: FileReport): number {
  const document = JSON.parse(readFileSync(file, 'utf8')) as JsonObject;
  const changed = cases.filter(
    (report) =>
      report.outcome !== null && report.test.expect.either === undefined && (!report.ok || isEmpty(report.test.expect)),
  );
  for (const { test, outcome, differences } of changed) {
    const { at } = test;
    const list = document['cases'];
    const holder = at === null ? document : Array.isArray(list) ? list[at] : undefined;
    if (!isJsonObject(holder) || outcome === null) continue;
    const named = isEmpty(test.expect)
      ? everything(outcome)
      : Object.fromEntries(differences.map(({ part, actual }) => [part, actual]));
    const expect: JsonObject = { ...(isJsonObject(holder['expect']) ? holder['expect'] : {}), ...named };
    dropStale(expect, outcome);
    holder['expect'] = expect;
  }
  if (changed.length > 0) writeFileSync(file, jsonText(document));
  return changed.length;
}

const isEmpty = (expect: object): boolean => Object.keys(expect).length === 0;

/** What a new case says of how it ended; which outputs matter is for its author to say. */
function everything({ result, trace }: Outcome): JsonObject {
  const { outcome, limit, failure } = result;
  return {
    outcome,
    ...defined({ limit }),
    ...(failure === undefined ? {} : { failure: { code: failure.code } }),
    trace,
  };
}

/** A run that no longer fails, or meets no limit, is not expected to. */
function dropStale(expect: JsonObject, { result }: Outcome): void {
  if (result.failure === undefined) delete expect['failure'];
  else if (expect['outcome'] === 'failed' && expect['failure'] === undefined)
    expect['failure'] = { code: result.failure.code };
  if (result.limit === undefined) delete expect['limit'];
  else if (expect['outcome'] === 'stopped') expect['limit'] = result.limit;
}
