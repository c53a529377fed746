/** What a script of a project prints, whatever it runs: compiler lines, TAP, and stacks. */
import { type Finding, frameIn, type Parsed, plainText, type Printed, projectPath, spotOf } from './finding.ts';

const COMPILED = /^(\S[^():\n]*)(?:\((\d+),(\d+)\)|:(\d+):(\d+)):? (?:- )?(?:fatal )?error:? ?(.*)$/;
const NOT_OK = /^( *)not ok \d+ (?:- )?(.*)$/;
/** Mocha and its like number what failed: "  1) suite test:". */
const NUMBERED = /^ +\d+\) (\S.*?):?$/;
const blockLinesMax = 40;

export function parseAnyOutput(printed: Printed): Parsed {
  const rows = plainText(printed.output).split(/\r?\n/);
  const findings: Finding[] = [];
  rows.forEach((row, index) => {
    const [, path, line, column, otherLine, otherColumn, message = ''] = COMPILED.exec(row) ?? [];
    if (path !== undefined) {
      const place = spotOf(projectPath(path, printed), Number(line ?? otherLine), Number(column ?? otherColumn));
      if (place.file !== undefined) findings.push({ ...place, message });
      return;
    }
    const test = NOT_OK.exec(row)?.[2] ?? NUMBERED.exec(row)?.[1];
    if (test === undefined || /# (?:todo|skip)\b/i.test(test)) return;
    const block = blockAfter(rows, index + 1);
    // A test that holds others failed of what they failed of.
    if (/failureType: '?subtestsFailed/.test(block)) return;
    const place = frameIn(block, printed);
    // A list of names has no stacks: what failed is told below it.
    if (NUMBERED.test(row) && place === undefined) return;
    findings.push({ ...place, message: block.trim() === '' ? 'the test failed' : block.trim(), test });
  });
  return { findings };
}

function blockAfter(rows: readonly string[], from: number): string {
  const block: string[] = [];
  for (const row of rows.slice(from, from + blockLinesMax)) {
    if (NOT_OK.test(row) || NUMBERED.test(row) || /^ *ok \d+/.test(row)) break;
    block.push(row);
  }
  return block.join('\n');
}
