/** `python -m unittest -v`: a line a test on stderr, and what failed of what below them. Each line is looked at once. */
import { type Finding, type Parsed, type Printed, projectPath, spotOf, type TestCase } from './finding.ts';

/** Indented it is a part of a test, which is a `subTest`. */
const CASE = /^( {2})?([^\s()]+) \(([^\s()]+)\)/;
const FAILED = /^(?:ERROR|FAIL|UNEXPECTED SUCCESS): ([^\s()]+) \(([^\s()]+)\)/;
const PLACE = /^ {2}File "(.+)", line (\d+)/;
const RAN = /^Ran \d+ tests? in /;
const [DOUBLE, SINGLE] = ['='.repeat(70), '-'.repeat(70)];
const BEFORE_STATUS = ' ... ';

export function parseUnittest(printed: Printed): Parsed {
  const text = printed.stderr.replaceAll('\r\n', '\n');
  const lines = text.split('\n');
  const blocks = blocksIn(lines);
  const findings = blocks.map(({ test, said }): Finding => {
    return { ...lastPlace(said, printed), message: said.join('\n').trim(), test };
  });
  return { findings, cases: casesIn(lines, blocks), shown: [printed.stdout, text].join('\n').trim() };
}

interface Block {
  test: string;
  said: string[];
}

function blocksIn(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let [test, said]: [string | null, string[] | null] = [null, null];
  for (const [at, line] of lines.entries()) {
    const next = lines[at + 1] ?? '';
    const failed = line === DOUBLE ? FAILED.exec(next) : null;
    if (failed !== null) [test, said] = [nameOf(failed[1], failed[2]), null];
    else if (line === SINGLE && RAN.test(next)) [test, said] = [null, null];
    else if (line === SINGLE && test !== null && said === null) blocks.push({ test, said: (said = []) });
    else said?.push(line);
  }
  return blocks;
}

/**
 * - Of a test with a docstring, the first line of that stands between the name and the status.
 * - What a test prints may stand before its status, and look like one: it has failed if there is a block about it.
 * - From Python 3.11 on, a test of which a `subTest` fails or is skipped has no status of its own.
 */
function casesIn(lines: readonly string[], blocks: readonly Block[]): TestCase[] {
  const ended = new Map<string, TestCase['status'] | null>();
  let [open, isBare]: [string | null, boolean] = [null, false];
  for (const line of lines) {
    const [whole = '', indented, name, within] = CASE.exec(line) ?? [];
    const rest = line.slice(whole.length);
    if (indented !== undefined) {
      const status = statusOf(afterDots(rest));
      if (open === nameOf(name, within) && status === 'skipped') ended.set(open, status);
    } else if (whole !== '' && (rest === '' || rest.startsWith(BEFORE_STATUS))) {
      [open, isBare] = [nameOf(name, within), rest === ''];
      const status = statusOf(rest.slice(BEFORE_STATUS.length));
      ended.set(open, status ?? ended.get(open) ?? null);
      if (status !== null) open = null;
    } else {
      const status = statusOf(isBare ? afterDots(line) : line);
      isBare = false;
      if (open === null || status === null) continue;
      ended.set(open, status);
      open = null;
    }
  }
  for (const { test } of blocks) ended.set(test, 'failed');
  return [...ended].flatMap(([test, status]) => (status === null ? [] : [{ test, status }]));
}

const afterDots = (line: string): string => line.slice(line.lastIndexOf(BEFORE_STATUS) + BEFORE_STATUS.length);

function statusOf(said: string): TestCase['status'] | null {
  if (said === 'ok') return 'passed';
  if (said === 'expected failure' || said.startsWith('skipped ')) return 'skipped';
  return ['FAIL', 'ERROR', 'unexpected success'].includes(said) ? 'failed' : null;
}

/** From Python 3.11 on, what stands in parentheses ends with the name. */
const nameOf = (name = '', within = ''): string => (within.endsWith(`.${name}`) ? within : `${within}.${name}`);

function lastPlace(said: readonly string[], printed: Printed): Partial<Finding> {
  const places = said.flatMap((line) => {
    const [, path = '', number] = PLACE.exec(line) ?? [];
    const file = number === undefined ? undefined : projectPath(path, printed);
    return file === undefined || file.includes('site-packages') ? [] : [spotOf(file, Number(number))];
  });
  return places.at(-1) ?? {};
}
