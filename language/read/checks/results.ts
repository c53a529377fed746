/** Fields of results that are not there: misspelt ones of a shell's result, and those of a run nobody waited for. */
import { isMethod } from '../../expression/expression.ts';
import type { Problem } from '../../problems.ts';
import { STEP_FIELDS } from '../../scope.ts';
import type { ReferenceSite } from '../collect-references.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import type { Setter, Setters } from '../setters.ts';

const SHELL_FIELDS = ['exitCode', 'exit_code', 'stdout', 'stderr', 'output', 'data', 'success', 'durationMs'];
/** What may be read of a shell step. What is nothing like these is not reported: a result may gain fields. */
const KNOWN_FIELDS = [...new Set([...SHELL_FIELDS, ...STEP_FIELDS, 'signal', 'executionId', 'pid'])];

/** What only the end of a nested run can say. */
const END_FIELDS: ReadonlySet<string> = new Set(['success', 'outcome', 'iterations', 'results', 'failureCount']);

export function checkResults(references: readonly ReferenceSite[], setters: Setters): Problem[] {
  return references.flatMap((reference) => {
    const [field] = reference.path;
    // A dotted word in a shell line may be a file's name.
    if (field === undefined || reference.from === 'shell') return [];
    const own = setters.onlySetters(reference.name, reference.place.definition);
    if (own.length === 0) return [];
    if (own.every(({ site }) => site.step.type === 'shell')) return checkShellField(reference, field);
    return own.every(isNotAwaited) && END_FIELDS.has(field) ? [notAwaited(reference, field, own)] : [];
  });
}

function isNotAwaited({ site: { step } }: Setter): boolean {
  return step.type === 'sentinel' && step.await === false;
}

function checkShellField({ name, path, at, written }: ReferenceSite, field: string): Problem[] {
  if (KNOWN_FIELDS.includes(field) || field === 'length' || isMethod(field)) return [];
  const near = nearestFix(field, KNOWN_FIELDS).fix?.slice('write "'.length, -1);
  if (near === undefined) return [];
  const message = `the result of a shell step has no "${field}" (${written}); there are ${SHELL_FIELDS.join(', ')}`;
  return [{ code: 'UNKNOWN_FIELD', severity: 'warning', path: at, message, fix: `write "${[`$${name}`, near, ...path.slice(1)].join('.')}"` }];
}

function notAwaited({ at, written }: ReferenceSite, field: string, own: readonly Setter[]): Problem {
  const paths = own.map(({ site }) => site.path).join(' and ');
  const message = `${written} has no value: ${paths} does not wait for its sentinel, so "${field}" is not known; remove "await": false, or wait for an event it emits`;
  return { code: 'RESULT_NOT_AWAITED', severity: 'warning', path: at, message };
}
