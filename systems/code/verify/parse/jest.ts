/** The JSON that Jest and Vitest report in: files with their tests, each with its messages. */
import { isJsonObject, type Json, type JsonObject } from '../../../../language/json.ts';
import { defined } from '../../../../language/defined.ts';
import {
  type Finding,
  frameIn,
  type Parsed,
  plainText,
  type Printed,
  projectPath,
  spotOf,
  type TestCase,
} from './finding.ts';

export function parseJest(printed: Printed): Parsed {
  const report = reportIn(printed.stdout);
  if (report === null) return { findings: [] };
  const files = listIn(report['testResults']);
  const findings = files.flatMap((file) => findingsIn(file, printed));
  const [failed, all] = [Number(report['numFailedTests']), Number(report['numTotalTests'])];
  const said = `${failed} of ${all} tests failed, in ${files.length} files`;
  const cases = files.flatMap((file) => casesIn(file, printed));
  return {
    findings,
    cases,
    shown: [said, ...findings.map(shownFinding), plainText(printed.stderr).trim()].join('\n').trim(),
  };
}

/** Each is read to the end. */
const startsMax = 10;

/** A test may print to the same stream. */
function reportIn(text: string): JsonObject | null {
  const starts = [...text.matchAll(/^\{/gm)].map((match) => match.index);
  for (const start of new Set([...starts.slice(0, startsMax), ...starts.slice(-startsMax)])) {
    const report = parsed(text.slice(start, text.lastIndexOf('}') + 1));
    if (isJsonObject(report) && Array.isArray(report['testResults'])) return report;
  }
  return null;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

const listIn = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function findingsIn(result: JsonObject, printed: Printed): Finding[] {
  const file = projectPath(textIn(result['name']), printed);
  const failed = listIn(result['assertionResults']).filter(({ status }) => status === 'failed');
  const said = plainText(textIn(result['message'])).trim();
  // A file that could not be loaded has no tests, only what it said.
  if (failed.length === 0 && result['status'] === 'failed')
    return [{ ...(frameIn(said, printed) ?? spotOf(file)), message: said === '' ? 'the file failed' : said }];
  return failed.map((test): Finding => {
    const messages = Array.isArray(test['failureMessages']) ? test['failureMessages'].map(textIn) : [];
    const message = plainText(messages.join('\n')).trim();
    const { location } = test;
    const written = isJsonObject(location) ? location : {};
    const [line, column] = [Number(written['line'] ?? Number.NaN), Number(written['column'] ?? Number.NaN)];
    return {
      ...(frameIn(message, printed) ?? spotOf(file, line, column)),
      message: message === '' ? 'the test failed' : message,
      test: nameOf(test),
    };
  });
}

const STATUSES: { readonly [status: string]: TestCase['status'] } = { passed: 'passed', failed: 'failed' };

function casesIn(result: JsonObject, printed: Printed): TestCase[] {
  const file = projectPath(textIn(result['name']), printed);
  const place = defined({ file });
  const tests = listIn(result['assertionResults']);
  // A file that could not be loaded ran none of its tests.
  if (result['status'] === 'failed' && !tests.some(({ status }) => status === 'failed'))
    return [{ test: file ?? textIn(result['name']), status: 'failed', ...place }];
  return tests.map((test) => ({
    test: nameOf(test),
    status: STATUSES[textIn(test['status'])] ?? 'skipped',
    ...place,
  }));
}

function nameOf({ ancestorTitles, title }: JsonObject): string {
  const outer = Array.isArray(ancestorTitles) ? ancestorTitles.map(textIn) : [];
  return [...outer, textIn(title)].filter((name) => name !== '').join(' > ');
}

const shownFinding = ({ file, line, test, message }: Finding): string =>
  `${[file, line].filter((part) => part !== undefined).join(':')} ${test ?? ''}\n${message}`.trim();
