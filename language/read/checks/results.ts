/** Fields that are not there, held against what is known of results and values; and those of a run nobody waited for. */
import { isMethod } from '../../expression/expression.ts';
import type { Problem } from '../../problems.ts';
import { inBraces, type ReferenceSite } from '../inventory/collect-references.ts';
import { isPlain, type Plain } from '../draft/draft.ts';
import { nearest } from '../remedies/meant-word.ts';
import type { Setter, Setters } from '../inventory/setters.ts';
import { fieldOf, type ObjectShape, type Shape } from '../shapes/shape.ts';
import { END_FIELDS, shapeOfInput, type StepShapes } from '../shapes/of-steps.ts';
import { isBound } from './references.ts';
import { isShells } from './some-paths.ts';

export function checkResults(references: readonly ReferenceSite[], setters: Setters, shapes: StepShapes): Problem[] {
  return references.flatMap((reference) => {
    const { own, result, path, shape } = readOf(reference, setters, shapes);
    const [field] = path;
    if (field === undefined) return [];
    if (isOfShell(reference, own) || isOfFailure(result, field)) return [];
    if (own.length > 0 && own.every(isNotAwaited) && END_FIELDS.has(field)) return [notAwaited(reference, field, own)];
    const missing = missingIn(shape(), path, reference);
    return missing === null ? [] : [unknownField(reference, result, path, missing)];
  });
}

interface Read {
  /** The steps whose result it is. */
  own: readonly Setter[];
  /** What stands for the value: a name, `named.LABEL`, `steps.N` or `loop.N`. */
  result: string;
  /** From there on. */
  path: readonly string[];
  shape: () => Shape;
}

function readOf(reference: ReferenceSite, setters: Setters, shapes: StepShapes): Read {
  const {
    name,
    path,
    place: { definition, loops },
  } = reference;
  const [first = '', ...below] = path;
  const byPlace = (own: readonly Setter[]): Read => ({
    own,
    result: `${name}.${first}`,
    path: below,
    shape: () => shapes.ofResults(own),
  });
  if (name === 'named') return byPlace(setters.onlySetters(first, definition));
  if (name === 'steps') return byPlace(stepAt(definition.value, first, setters));
  // A definition inside a loop of another has steps of its own.
  if (name === 'loop') {
    const around = loops.findLast((loop) => loop.place.definition === definition);
    return byPlace(stepAt(around?.owner ?? definition.value, first, setters));
  }
  const { inputSchema } = definition.value;
  if (name === 'input')
    return { own: [], result: `input.${first}`, path: below, shape: () => shapeOfInput(inputSchema, first) };
  const own = setters.onlySetters(name, definition);
  const shape = (): Shape => {
    if (isBound(name, reference)) return shapes.ofItem(reference);
    if (own.length > 0) return shapes.ofVariable(name, own);
    return setters.isInputAlone(name, definition) ? shapeOfInput(inputSchema, name) : undefined;
  };
  return { own, result: name, path, shape };
}

function stepAt({ steps }: Plain, place: string, setters: Setters): readonly Setter[] {
  const step: unknown = Array.isArray(steps) ? steps[Number(place)] : undefined;
  const setter = isPlain(step) ? setters.siteOf(step) : undefined;
  return setter === undefined ? [] : [setter];
}

/** In a command line a name that the line sets itself is the shell's, and what follows it may be a file's ending. */
const isOfShell = (reference: ReferenceSite, own: readonly Setter[]): boolean =>
  !inBraces(reference) && own.some(({ site: { step } }) => isShells(reference, step));

/** By its place or label a result is meant and nothing else. */
const BY_PLACE = /^(?:steps|loop|named)\./;

/** What a failure leaves in the result of a step that was passed over, read by its place or label. */
const isOfFailure = (result: string, field: string): boolean =>
  BY_PLACE.test(result) && (field === 'code' || field === 'details');

function isNotAwaited({ site: { step } }: Pick<Setter, 'site'>): boolean {
  return step.type === 'sentinel' && step.await === false;
}

interface Missing {
  /** Of the path: what is not there. */
  index: number;
  /** What lacks it. */
  owner: Exclude<Shape, undefined>;
  near: string | undefined;
}

function missingIn(whole: Shape, path: readonly string[], reference: ReferenceSite): Missing | null {
  let shape = whole;
  for (const [index, key] of path.entries()) {
    if (shape === undefined) return null;
    const next = fieldOf(shape, key);
    if (next === false) {
      if (isMethod(key)) return null;
      // Behind a number in a text it is a word of the text: `$count.`.
      if (shape.type === 'scalar' && reference.from !== 'expression' && !inBraces(reference)) return null;
      const near = shape.type === 'object' ? nearest(key, meantIn(shape)) : undefined;
      return shape.type === 'object' && shape.isOpen === true && near === undefined
        ? null
        : { index, owner: shape, near };
    }
    shape = next;
  }
  return null;
}

const meantIn = ({ fields, shown = [...fields.keys()], common = [] }: ObjectShape): string[] => [...shown, ...common];

function unknownField(
  { at, written }: ReferenceSite,
  result: string,
  path: readonly string[],
  { index, owner, near }: Missing,
): Problem {
  const key = path[index] ?? '';
  const before = [result, ...path.slice(0, index)].join('.');
  const found = { code: 'UNKNOWN_FIELD', severity: 'warning', path: at } as const;
  const said = `${saidOf(owner, before)} has no "${key}" (${written})`;
  if (near === undefined) return { ...found, message: `${said}; ${insteadOf(owner, result, before, key)}` };
  const meant = written.replace(`${before}.${key}`, () => `${before}.${near}`);
  const bare = [`$${before}`, near, ...path.slice(index + 1)].join('.');
  const fix = `write "${meant === written ? bare : meant}"`;
  const fields = owner.type === 'object' ? `; it has ${listed(owner)}` : '';
  return { ...found, message: `${said}${fields}; ${fix}`, fix };
}

const saidOf = (owner: Exclude<Shape, undefined>, before: string): string =>
  owner.type === 'object' && owner.what !== undefined ? owner.what : `"${before}"`;

const SHOWN_MAX = 20;

function listed({ fields, shown = [...fields.keys()] }: ObjectShape): string {
  const more = shown.length > SHOWN_MAX ? ` and ${shown.length - SHOWN_MAX} more` : '';
  return `${shown.slice(0, SHOWN_MAX).join(', ')}${more}`;
}

function insteadOf(owner: Exclude<Shape, undefined>, result: string, before: string, key: string): string {
  switch (owner.type) {
    case 'scalar':
      return `it is ${owner.what}, which has no fields`;
    case 'list':
      return `it is a list: read an item of it ("$${before}.0.${key}"), or all of them ("{{${before}.map(item => item.${key})}}")`;
    case 'object': {
      if (owner.fields.size === 0) return 'it has no fields';
      // What a program printed may have any field.
      const printed =
        before === result && owner.fields.has('stdout')
          ? `; what it printed is "data", and a field of that ${before}.data.${key}`
          : '';
      return `it has ${listed(owner)}${printed}`;
    }
    default:
      return owner satisfies never;
  }
}

function notAwaited({ at, written }: ReferenceSite, field: string, own: readonly Setter[]): Problem {
  const paths = own.map(({ site }) => site.path).join(' and ');
  const message = `${written} has no value: ${paths} does not wait for its sentinel, so "${field}" is not known; remove "await": false, or wait for it with a step of type "join"`;
  return { code: 'RESULT_NOT_AWAITED', severity: 'warning', path: at, message };
}
