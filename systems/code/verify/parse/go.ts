/** `go test -json`: one event a line; what does not build says so among them, or on stderr before Go 1.24. */
import { posix } from 'node:path';
import { isJsonObject, type Json } from '../../../../language/json.ts';
import { type Finding, type Parsed, type Printed, projectPath, spotOf, type TestCase } from './finding.ts';

interface Event {
  Action: string;
  Package?: string;
  ImportPath?: string;
  Test?: string;
  Output?: string;
}

const BUILD = /^(?:vet: )?(\S[^:\n]*\.go):(\d+)(?::(\d+))?: (.+)$/;
const REPORTED = /^[ \t]+(\S+\.go):(\d+): /m;
const FRAME = /^\t(\S+\.go):(\d+)(?: \+0x[0-9a-f]+)?$/gm;

/** `module`: its name, in front of the paths of its packages. */
export function parseGo(printed: Printed, module: string): Parsed {
  const events: Event[] = [];
  const others: string[] = [];
  for (const row of printed.stdout.split('\n')) {
    const event = eventIn(row);
    if (event === null) others.push(row);
    else events.push(event);
  }
  const built = events.flatMap(({ Action, Output = '' }) => (Action === 'build-output' ? [Output] : []));
  const text = [...built, others.join('\n'), '\n', printed.stderr].join('');
  const findings = [...buildFindings(text, printed), ...testFindings(events, printed, module)];
  const output = events.flatMap(({ Action, Output = '' }) => (Action === 'output' ? [Output] : [])).join('');
  return { findings, cases: casesIn(events), shown: `${text.trim()}\n${output}`.trim() };
}

const ENDS: { readonly [action: string]: TestCase['status'] } = { pass: 'passed', fail: 'failed', skip: 'skipped' };

/** Tests of several packages may be called the same. */
const casesIn = (events: readonly Event[]): TestCase[] =>
  events.flatMap(({ Action, Package = '', Test }): TestCase[] => {
    const status = ENDS[Action];
    return Test === undefined || status === undefined ? [] : [{ test: `${Package}.${Test}`, status }];
  });

function eventIn(row: string): Event | null {
  if (!row.startsWith('{')) return null;
  try {
    const read = JSON.parse(row) as Json;
    return isJsonObject(read) && typeof read['Action'] === 'string' ? (read as unknown as Event) : null;
  } catch {
    return null;
  }
}

function buildFindings(text: string, printed: Printed): Finding[] {
  const rows = [...new Set(text.split('\n'))];
  return rows.flatMap((row): Finding[] => {
    const [, path, line, column, message = ''] = BUILD.exec(row) ?? [];
    if (path === undefined) return [];
    return [{ ...spotOf(projectPath(path, printed), Number(line), Number(column ?? Number.NaN)), message }];
  });
}

function testFindings(events: readonly Event[], printed: Printed, module: string): Finding[] {
  const output = new Map<string, string>();
  const failed: Event[] = [];
  for (const event of events) {
    if (event.Test === undefined) continue;
    const key = `${event.Package ?? ''} ${event.Test}`;
    if (event.Action === 'output') output.set(key, (output.get(key) ?? '') + (event.Output ?? ''));
    if (event.Action === 'fail') failed.push(event);
  }
  // A test whose subtests failed says nothing of its own.
  const outer = new Set(
    failed.flatMap(({ Package, Test = '' }) => outerTests(Test).map((name) => `${Package} ${name}`)),
  );
  const isOuter = ({ Package, Test = '' }: Event): boolean => outer.has(`${Package} ${Test}`);
  return failed
    .filter((event) => !isOuter(event))
    .map(({ Package = '', Test = '' }): Finding => {
      const said = output.get(`${Package} ${Test}`) ?? '';
      const folder = Package === module ? '' : Package.startsWith(`${module}/`) ? Package.slice(module.length + 1) : '';
      const message = said.replaceAll(/^(?:=== \w|[ \t]*--- FAIL:).*\n/gm, '').trim();
      return { ...placeIn(said, folder, printed), message: message === '' ? 'the test failed' : message, test: Test };
    });
}

const testDepthMax = 20;

/** The tests that a subtest is of. */
function outerTests(test: string): string[] {
  const names = test.split('/', testDepthMax);
  return names.slice(1).map((_name, index) => names.slice(0, index + 1).join('/'));
}

/** Reported lines name a file of the package; a panic has a stack with whole paths. */
function placeIn(said: string, folder: string, printed: Printed): Partial<Finding> {
  const [, path, line] = REPORTED.exec(said) ?? [];
  if (path !== undefined) return spotOf(projectPath(posix.join(folder, path), printed), Number(line));
  for (const [, frame = '', at] of said.matchAll(FRAME)) {
    const file = projectPath(frame, printed);
    if (file !== undefined) return spotOf(file, Number(at));
  }
  return {};
}
