/** `summary.md`: what the next task is told. */
import type { Manifest, Violation } from './judging/manifest.ts';

const SHOWN = 20;

export function summaryOf(manifest: Manifest): string {
  const { task_id: task, result, error, reasons, changes, radius, interface_changes: interfaces } = manifest;
  const sections = [
    `# ${task}: ${result}`,
    error === null ? manifest.fix_reason : `Nothing could be judged: ${error}`,
    list('Why', reasons),
    list('Tests fixed', manifest.tests_fixed),
    list('Tests still failing', manifest.tests_still_failing),
    list('Tests lost', manifest.tests_lost),
    list('Flaky tests, not counted', manifest.tests_flaky),
    list('Against the tests', manifest.test_violations.map(shown)),
    list('Placeholders', manifest.placeholder_violations.map(shown)),
    list(
      changes === 'taken_back' ? 'Files changed, and taken back' : 'Files changed',
      manifest.files_changed.map(
        ({ path, lines_added: added, lines_removed: removed }) => `${path} +${added}/-${removed}`,
      ),
    ),
    list('Breaks callers', interfaces.breaking),
    list('New to callers', interfaces.non_breaking),
    radius.budget_exceeded ? 'The change goes beyond what it may.' : '',
    list('Warnings', manifest.warnings),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

function list(title: string, items: readonly string[]): string {
  if (items.length === 0) return '';
  const more = items.length > SHOWN ? [`- and ${items.length - SHOWN} more`] : [];
  return [`## ${title}`, '', ...items.slice(0, SHOWN).map((item) => `- ${oneLine(item)}`), ...more].join('\n');
}

const shown = ({ file, line, pattern, text }: Violation): string =>
  `${file}${line > 0 ? `:${line}` : ''} ${pattern}${text === '' ? '' : ` \`${text.replaceAll('`', "'")}\``}`;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 500);
