/** `tsc --pretty false`: one line a finding, what is indented below it belongs to it. */
import { type Finding, type Parsed, type Printed, projectPath, spotOf } from './finding.ts';

const PLACED = /^(.+?)\((\d+),(\d+)\): error (TS\d+: .*)$/s;
const UNPLACED = /^error (TS\d+: .*)$/;

export function parseTypeScript(printed: Printed): Parsed {
  const findings: Finding[] = [];
  for (const row of printed.stdout.split(/\r?\n/)) {
    const [, path = '', line, column, message = ''] = PLACED.exec(row) ?? [];
    if (line !== undefined) {
      findings.push({ ...spotOf(projectPath(path, printed), Number(line), Number(column)), message });
      continue;
    }
    const [, unplaced] = UNPLACED.exec(row) ?? [];
    const last = findings.at(-1);
    if (unplaced !== undefined) findings.push({ message: unplaced });
    else if (last !== undefined && /^\s+\S/.test(row)) last.message += `\n${row.trim()}`;
  }
  return { findings };
}
