/** Why a case failed, as lines to read: what is expected is marked `-`, what came `+`. */
import { diffArrays } from 'diff';
import type { Json } from '../../language/json.ts';
import { refusalsIn } from '../../interpreter/simulation/run-scenario.ts';
import type { Paint } from '../../client/show/paint.ts';
import type { Difference } from './compare.ts';
import type { CaseReport } from './run-case.ts';

/** Lines shown around a change. */
const AROUND = 2;

export function differenceLines(
  { differences, problems, outcome, mistake, stuck }: CaseReport,
  paint: Paint,
): string[] {
  const lines = differences.flatMap((difference) => oneDifference(difference, paint));
  const { failure } = outcome?.result ?? {};
  const failing =
    failure !== undefined &&
    differences.some(({ part }) => part === 'outcome' || part === 'status' || part === 'failure');
  if (failing) lines.push(`it failed: ${paint.bad(failure.code)} ${failure.message}`);
  if (differences.length > 0)
    lines.push(...refusalsIn(outcome?.runs ?? []).map((refusal) => `an answer was refused: ${refusal}`));
  if (mistake !== undefined) lines.push(paint.bad(mistake));
  if (stuck !== undefined) lines.push(paint.bad(`it broke down: ${stuck}`));
  if (outcome === null && stuck === undefined) {
    for (const { code, path, message, severity } of problems)
      if (severity === 'error') lines.push(`${paint.bad(code)}${path === '' ? '' : ` at ${path}`}: ${message}`);
  }
  return lines;
}

function oneDifference({ part, expected, actual }: Difference, paint: Paint): string[] {
  if (isShort(expected) && isShort(actual))
    return [`${paint.strong(part)}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`];
  return [
    `${paint.strong(part)}: ${paint.bad('- expected')} ${paint.good('+ got')}`,
    ...changeLines(linesOf(expected), linesOf(actual), paint).map((line) => `  ${line}`),
  ];
}

const isShort = (value: Json): boolean => typeof value !== 'object' || value === null;

function linesOf(value: Json): string[] {
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  return JSON.stringify(inKeyOrder(value), null, 2).split('\n');
}

/** The order of keys says nothing, so it must not show as a change. */
function inKeyOrder(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => inKeyOrder(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, inKeyOrder(value[name] ?? null)]),
  );
}

/** What changed, with a few lines around it. */
export function changeLines(before: readonly string[], after: readonly string[], paint: Paint): string[] {
  const all = diffArrays([...before], [...after]).flatMap(({ added, removed, value }) =>
    value.map((text) => ({ mark: added ? '+' : removed ? '-' : ' ', text })),
  );
  const near = all.map((_, index) =>
    all.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ mark }) => mark !== ' '),
  );
  return all.flatMap(({ mark, text }, index): string[] => {
    if (near[index] !== true)
      return near[index - 1] === true || (index === 0 && near.includes(true)) ? [paint.dim('  ⋮')] : [];
    const line = `${mark} ${text}`;
    return [mark === '+' ? paint.good(line) : mark === '-' ? paint.bad(line) : paint.dim(line)];
  });
}
