/** What is wrong with a definition, a line a problem and one for its remedy. */
import { shownAsText } from '../../language/graph/step-label.ts';
import type { Problem } from '../../language/problems.ts';
import type { Paint } from './paint.ts';

export function problemLines(problems: readonly Problem[], paint: Paint): string[] {
  return problems.flatMap(({ code, severity, path, message, fix, file, line: row, column, source = '' }) => {
    const mark = severity === 'error' ? paint.bad(`error ${code}`) : paint.warn(`warning ${code}`);
    const line = `  ${mark}${path === '' ? '' : ` at ${paint.strong(path)}`}: ${message}`;
    const place = [file, row, column].filter((part) => part !== undefined).join(':');
    return [
      line,
      ...(fix === undefined ? [] : [`    ${paint.dim(`fix: ${fix}`)}`]),
      ...(place === ''
        ? []
        : [`    ${paint.dim(row === undefined ? `in ${place}` : `${place} | ${shownAsText(source)}`)}`]),
    ];
  });
}
