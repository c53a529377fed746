/** What is wrong with a definition, a line a problem and one for its remedy. */
import type { Problem } from '../../../language/problems.ts';
import type { Paint } from '../../show/paint.ts';

export function problemLines(problems: readonly Problem[], paint: Paint): string[] {
  return problems.flatMap(({ code, severity, path, message, fix }) => {
    const mark = severity === 'error' ? paint.bad(`error ${code}`) : paint.warn(`warning ${code}`);
    const line = `  ${mark}${path === '' ? '' : ` at ${paint.strong(path)}`}: ${message}`;
    return fix === undefined ? [line] : [line, `    ${paint.dim(`fix: ${fix}`)}`];
  });
}
