/** JUnit's XML, as pytest and Node's test runner write it. */
import { XMLParser } from 'fast-xml-parser';
import {
  type Finding,
  frameIn,
  type Parsed,
  type Printed,
  projectPath,
  type Spot,
  spotOf,
  type TestCase,
} from './finding.ts';
import { defined } from '../../../../language/defined.ts';

interface Case {
  name: string;
  classname: string;
  file?: string;
  line?: string;
  /** What failed, with its text. */
  faults: { message: string; text: string }[];
  isSkipped: boolean;
}

type Node = { [tag: string]: Node[] } & { ':@'?: Record<string, string>; '#text'?: string };

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  trimValues: false,
  parseTagValue: false,
  htmlEntities: true,
});

/** Null where it is none; what is nested too deep is none, too. */
function readXml(text: string): Node[] | null {
  try {
    return parser.parse(text) as Node[];
  } catch {
    return null;
  }
}

function casesIn(text: string): { cases: Case[]; around: string } | null {
  const [start, end] = [text.indexOf('<?xml'), text.lastIndexOf('</testsuites>')];
  if (start === -1 || end === -1) return null;
  const cases: Case[] = [];
  const visit = (nodes: readonly Node[], suites: readonly string[]): void => {
    for (const node of nodes) {
      const given = node[':@'] ?? {};
      for (const [tag, children] of Object.entries(node)) {
        if (!Array.isArray(children)) continue;
        if (tag === 'testcase') cases.push(caseOf(given, children, suites));
        else visit(children, tag === 'testsuite' ? [...suites, given['name'] ?? ''] : suites);
      }
    }
  };
  const report = readXml(text.slice(start, end + '</testsuites>'.length));
  if (report === null) return null;
  visit(report, []);
  return { cases, around: text.slice(0, start) + text.slice(end + '</testsuites>'.length) };
}

function caseOf(given: Record<string, string>, children: readonly Node[], suites: readonly string[]): Case {
  const faults = children.flatMap((node) =>
    ['failure', 'error'].flatMap((tag) => {
      const inner = node[tag];
      if (inner === undefined) return [];
      const text = inner.map((part) => part['#text'] ?? '').join('');
      return [{ message: node[':@']?.['message'] ?? '', text }];
    }),
  );
  const { classname = '', file, line } = given;
  const name = [...suites.slice(suites[0] === 'pytest' ? 1 : 0), given['name'] ?? ''].join(' > ');
  const isSkipped = children.some((node) => node['skipped'] !== undefined);
  return { name, classname, faults, isSkipped, ...defined({ file, line }) };
}

/** `node --test --test-reporter=junit`: the place is in the stack. */
export function parseNodeTest(printed: Printed): Parsed {
  const read = casesIn(printed.stdout);
  if (read === null) return { findings: [] };
  const findings = read.cases.flatMap(({ name, file, faults }) =>
    faults.map(({ message, text }): Finding => {
      const cause = text.slice(Math.max(0, text.indexOf('cause: ')));
      const where = frameIn(cause, printed) ?? frameIn(text, printed);
      return {
        ...(where ?? spotOf(file === undefined ? undefined : projectPath(file, printed))),
        ...said(message, text),
        test: name,
      };
    }),
  );
  return {
    findings,
    cases: read.cases.map((one) => endOf(one, one.name, printed)),
    shown: shownCases(read.cases, printed.stderr),
  };
}

const PYTHON_PLACE = /^(\S[^:\r\n\u2028\u2029]*\.py):(\d+): ?(.*)$/gm;

/** `pytest --junitxml -o junit_family=xunit1`: the last place of the traceback that is the project's. */
export function parsePytest(printed: Printed): Parsed {
  const read = casesIn(printed.stdout);
  if (read === null) return { findings: [] };
  const findings = read.cases.flatMap(({ name, classname, file, line, faults }) =>
    faults.map(({ message, text }): Finding => {
      const ownLine = line === undefined ? undefined : Number(line) + 1;
      const own = spotOf(file === undefined ? undefined : projectPath(file, printed), ownLine);
      return { ...(lastPlace(text, printed) ?? own), ...said(message, text), test: pythonName({ classname, name }) };
    }),
  );
  const cases = read.cases.map((one) => endOf(one, pythonName(one), printed));
  return { findings, cases, shown: `${read.around}\n${printed.stderr}`.trim() };
}

const pythonName = ({ classname, name }: Pick<Case, 'classname' | 'name'>): string =>
  [classname, name].filter((part) => part !== '').join('.');

const endOf = ({ file, faults, isSkipped }: Case, test: string, printed: Printed): TestCase => ({
  test,
  status: faults.length > 0 ? 'failed' : isSkipped ? 'skipped' : 'passed',
  ...defined({ file: file === undefined ? undefined : projectPath(file, printed) }),
});

function lastPlace(text: string, printed: Printed): Spot | undefined {
  const places = [...text.matchAll(PYTHON_PLACE)].flatMap(([, path = '', line]): Spot[] => {
    const file = projectPath(path, printed);
    return file === undefined || file.includes('site-packages') ? [] : [{ file, line: Number(line) }];
  });
  return places.at(-1);
}

/** The text tells more, where the message is cut or on one line. */
const said = (message: string, text: string): { message: string } => ({
  message: text.trim() === '' ? message : text.trim(),
});

function shownCases(cases: readonly Case[], stderr: string): string {
  const failed = cases.filter(({ faults }) => faults.length > 0);
  const lines = failed.map(({ name, faults }) => `not ok: ${name}\n${faults.map(({ message }) => message).join('\n')}`);
  return [`${failed.length} of ${cases.length} tests failed`, ...lines, stderr.trim()].join('\n').trim();
}
