/** The problems of a definition in one sentence: where only a sentence is told, each with its place. */
import type { Problem } from '../../problems.ts';

const shownMax = 20;

/** Half a sentence: `the definition has 2 problems: steps.0.type: …; steps.1: …`. Warnings are left out. */
export function problemsInWords(problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, shownMax).map(({ file, line, column, path, message }) => {
    const place = [file, line, column].filter((part) => part !== undefined).join(':');
    return [place, path].filter((part) => part !== '').join(', ') + `: ${message}`;
  });
  return `the definition has ${errors.length === 1 ? 'a problem' : `${errors.length} problems`}: ${listed(shown, errors.length)}`;
}

/** The first of so many findings. */
export function listed(findings: readonly string[], of = findings.length): string {
  const shown = findings.slice(0, shownMax);
  return [...shown, ...(of > shown.length ? [`and ${of - shown.length} more`] : [])].join('; ');
}
