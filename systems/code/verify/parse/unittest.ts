/** `python -m unittest -v`: a line a test on stderr, and what failed of what below them. */
import { type Finding, type Parsed, type Printed, projectPath, spotOf, type TestCase } from './finding.ts';

/** A test that has a docstring is told on two lines: its name, and the first line of that. */
const CASE =
  /^(\w+) \(([\w.]+)\)(?:\n(?!\w+ \([\w.]+\)).*?)? \.\.\. (?:.*\n){0,200}?(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$/gm;
const BLOCK = /^(?:ERROR|FAIL): (\w+) \(([\w.]+)\).*\n(?:(?!-{70}).*\n)?-{70}\n([^]*?)(?=^={70}$|^-{70}$|(?![^]))/gm;
const PLACE = /^ {2}File "(.+)", line (\d+)/gm;

export function parseUnittest(printed: Printed): Parsed {
  const text = printed.stderr.replaceAll('\r\n', '\n');
  const findings = Array.from(text.matchAll(BLOCK), ([, name = '', within = '', said = '']): Finding => {
    return { ...lastPlace(said, printed), message: said.trim(), test: nameOf(name, within) };
  });
  return { findings, cases: casesIn(text), shown: [printed.stdout, text].join('\n').trim() };
}

const casesIn = (text: string): TestCase[] =>
  Array.from(text.matchAll(CASE), ([, name = '', within = '', said = '']) => ({
    test: nameOf(name, within),
    status:
      said === 'ok'
        ? ('passed' as const)
        : /^(?:skipped|expected)/.test(said)
          ? ('skipped' as const)
          : ('failed' as const),
  }));

/** From Python 3.11 on, what stands in parentheses ends with the name. */
const nameOf = (name: string, within: string): string => (within.endsWith(`.${name}`) ? within : `${within}.${name}`);

function lastPlace(said: string, printed: Printed): Partial<Finding> {
  const places = [...said.matchAll(PLACE)].flatMap(([, path = '', line]) => {
    const file = projectPath(path, printed);
    return file === undefined || file.includes('site-packages') ? [] : [spotOf(file, Number(line))];
  });
  return places.at(-1) ?? {};
}
