/** The reports in the form that build servers read. */
import type { FileReport } from './run-suite.ts';
import { differenceLines } from './difference-lines.ts';
import { PLAIN } from '../../client/show/paint.ts';

export function junitOf(reports: readonly FileReport[]): string {
  const suites = reports.flatMap((report) => suiteOf(report));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites name="sentinel">',
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteOf({ file, mistakes, cases }: FileReport): string[] {
  const failures = cases.filter(({ ok }) => !ok).length;
  const seconds = (cases.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000).toFixed(3);
  const broken =
    mistakes.length === 0
      ? []
      : [
          `    <testcase name="the file" classname="${escaped(file)}">`,
          `      <error message="${escaped(mistakes.join('; '))}"/>`,
          '    </testcase>',
        ];
  return [
    `  <testsuite name="${escaped(file)}" tests="${cases.length + (broken.length > 0 ? 1 : 0)}" failures="${failures}" errors="${broken.length > 0 ? 1 : 0}" time="${seconds}">`,
    ...cases.flatMap((report) => caseOf(file, report)),
    ...broken,
    '  </testsuite>',
  ];
}

function caseOf(file: string, report: FileReport['cases'][number]): string[] {
  const opening = `    <testcase name="${escaped(report.name)}" classname="${escaped(file)}" time="${(report.durationMs / 1000).toFixed(3)}"`;
  if (report.ok) return [`${opening}/>`];
  const lines = differenceLines(report, PLAIN);
  return [
    `${opening}>`,
    `      <failure message="${escaped(lines[0]?.trim() ?? 'failed')}">${escaped(lines.join('\n'))}</failure>`,
    '    </testcase>',
  ];
}

/** Characters that XML cannot hold at all are shown as what they are not. */
function escaped(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
