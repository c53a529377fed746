/** Fields of results that are not there: misspelt ones of a shell's result, and those of a run nobody waited for. */
import { isMethod } from '../../expression/expression.ts';
import type { Problem } from '../../problems.ts';
import { MODEL_FIELDS, STEP_FIELDS } from '../../expression/scope.ts';
import { inBraces, type ReferenceSite } from '../inventory/collect-references.ts';
import { isPlain, type Plain } from '../draft/draft.ts';
import { nearest, nearestFix } from '../remedies/meant-word.ts';
import type { KnownRefs } from './nesting.ts';
import { END_FIELDS } from './declared.ts';
import type { Setter, Setters } from '../inventory/setters.ts';

const SHELL_FIELDS = ['exitCode', 'exit_code', 'stdout', 'stderr', 'output', 'lines', 'data', 'success', 'durationMs'];
/** What may be read of a shell step. */
const KNOWN_FIELDS = [
  ...new Set([
    ...SHELL_FIELDS,
    ...[...STEP_FIELDS].filter((field) => !MODEL_FIELDS.includes(field)),
    'signal',
    'executionId',
    'pid',
  ]),
];

export function checkResults(references: readonly ReferenceSite[], setters: Setters, knownRefs: KnownRefs): Problem[] {
  return references.flatMap((reference) => {
    const { own, result, field } = resultRead(reference, setters);
    // A dotted word in a shell line may be a file's name.
    if (field === undefined || own.length === 0 || (reference.from === 'shell' && !inBraces(reference))) return [];
    if (isOfFailure(result, field)) return [];
    if (own.every(({ site }) => site.step.type === 'shell')) return checkShellField(reference, result, field);
    if (own.every(isNotAwaited) && END_FIELDS.has(field)) return [notAwaited(reference, field, own)];
    return checkGivenField(reference, field, own, knownRefs);
  });
}

interface ResultRead {
  /** The steps whose result it is. */
  own: readonly Setter[];
  /** What stands for the result: a name, `named.LABEL`, `steps.N` or `loop.N`. */
  result: string;
  field: string | undefined;
}

function resultRead({ name, path, place: { definition, loops } }: ReferenceSite, setters: Setters): ResultRead {
  const [first = '', second] = path;
  const below = (own: readonly Setter[]): ResultRead => ({ own, result: `${name}.${first}`, field: second });
  if (name === 'named') return below(setters.onlySetters(first, definition));
  if (name === 'steps') return below(stepAt(definition.value, first, setters));
  // A definition inside a loop of another has steps of its own.
  if (name === 'loop') {
    const around = loops.findLast((loop) => loop.place.definition === definition);
    return below(stepAt(around?.owner ?? definition.value, first, setters));
  }
  return { own: setters.onlySetters(name, definition), result: name, field: path[0] };
}

function stepAt({ steps }: Plain, place: string, setters: Setters): readonly Setter[] {
  const step: unknown = Array.isArray(steps) ? steps[Number(place)] : undefined;
  const setter = isPlain(step) ? setters.siteOf(step) : undefined;
  return setter === undefined ? [] : [setter];
}

/** What a failure leaves in the result of a step that was passed over, read by its place or label. */
const isOfFailure = (result: string, field: string): boolean =>
  BY_PLACE.test(result) && (field === 'code' || field === 'details');

/** What a nested run gives is known where its definition declares it. */
function checkGivenField(
  { at, written }: ReferenceSite,
  field: string,
  own: readonly Setter[],
  knownRefs: KnownRefs,
): Problem[] {
  const given = new Set<string>();
  for (const { site } of own) {
    if (site.step.type !== 'sentinel' || isNotAwaited({ site })) return [];
    const { definition } = site.step;
    const outputs = ('$ref' in definition ? knownRefs(definition.$ref) : definition)?.outputs;
    if (!isPlain(outputs)) return [];
    for (const name of Object.keys(outputs)) given.add(name);
  }
  if (given.has(field) || END_FIELDS.has(field) || STEP_FIELDS.has(field) || isMethod(field)) return [];
  const near = nearestFix(field, [...given, ...END_FIELDS]);
  const message = `${written} has no value: the definition that runs there declares no output "${field}"; ${near.fix ?? `it gives ${[...given].join(', ')}`}`;
  return [{ code: 'UNKNOWN_FIELD', severity: 'warning', path: at, message, ...near }];
}

function isNotAwaited({ site: { step } }: Pick<Setter, 'site'>): boolean {
  return step.type === 'sentinel' && step.await === false;
}

/** By its place or label a result is meant and nothing else; a variable may gain fields that a step has not. */
const BY_PLACE = /^(?:steps|loop|named)\./;

function checkShellField({ path, at, written }: ReferenceSite, result: string, field: string): Problem[] {
  if (KNOWN_FIELDS.includes(field) || field === 'length' || isMethod(field)) return [];
  const near = nearest(field, KNOWN_FIELDS);
  if (near === undefined && !BY_PLACE.test(result)) return [];
  const finding = `the result of a shell step has no "${field}" (${written}); it has ${SHELL_FIELDS.join(', ')}`;
  const found = { code: 'UNKNOWN_FIELD', severity: 'warning', path: at } as const;
  if (near === undefined)
    return [
      { ...found, message: `${finding}; what it printed is "data", and a field of that ${result}.data.${field}` },
    ];
  const meant = written.replace(`${result}.${field}`, () => `${result}.${near}`);
  const bare = [`$${result}`, near, ...path.slice(path.indexOf(field) + 1)].join('.');
  const fix = `write "${meant === written ? bare : meant}"`;
  return [{ ...found, message: `${finding}; ${fix}`, fix }];
}

function notAwaited({ at, written }: ReferenceSite, field: string, own: readonly Setter[]): Problem {
  const paths = own.map(({ site }) => site.path).join(' and ');
  const message = `${written} has no value: ${paths} does not wait for its sentinel, so "${field}" is not known; remove "await": false, or wait for it with a step of type "join"`;
  return { code: 'RESULT_NOT_AWAITED', severity: 'warning', path: at, message };
}
