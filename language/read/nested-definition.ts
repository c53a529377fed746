/**
 * A definition that a step took from a variable, read as if it stood in the step itself: it sees the
 * names around it, and the limits of the run around it bound its loops.
 */
import { entriesFor, type Catalogue } from '../catalogue.ts';
import type { Json } from '../json.ts';
import type { Definition } from '../model.ts';
import type { Problem } from '../problems.ts';
import { parseDefinition } from './definition.ts';
import { isFilePath } from '../references/written-references.ts';
import { isPlain } from './draft/draft.ts';
import { withoutFile } from './draft/mounts.ts';
import { unboundedBehind, unboundedSentence } from './checks/referred-bounds.ts';

export interface GivenDefinition {
  /** An object, a list of steps, JSON text, or the name of a definition. */
  value: Json;
  /** Definitions that are known by name. */
  library: { [name: string]: Definition };
  /** The definition it is nested in, and what it is called where it has no name. */
  around: string;
  label: string;
  /** Variables that it sees. */
  names: readonly string[];
  /** The run around it has a limit on time or passes. */
  isBounded: boolean;
}

export type Finding = Pick<Problem, 'code' | 'path' | 'message'>;

/** What a reader has at hand for it, and the run around it need not. */
export interface AtHand {
  /** The commands there are. */
  catalogue: Catalogue;
  /** Definitions that it refers to besides the run's own, by name. */
  stored: { [name: string]: Definition };
}

/** `library`: what it refers to besides what was known. `catalogue`: the commands that these name. */
type Read = { definition: Definition; library: { [name: string]: Definition }; catalogue: Catalogue };

/** `missing`: the name that no definition has. */
export type ReadDefinition = Read | { missing: string } | { findings: Finding[] };

const PLACE = 'steps.0.definition';
const FENCED = /^\s*```\w*\n([\s\S]*?)\n```\s*$/;

/** Text that holds JSON, also as models write it, is the value it stands for; other text is a name. */
export function programOf(value: Json): unknown {
  if (typeof value !== 'string') return value;
  const text = FENCED.exec(value)?.[1] ?? value;
  return /^\s*[[{]/.test(text) ? text : { $ref: value };
}

export function readNestedDefinition(given: GivenDefinition, { catalogue, stored }: AtHand): ReadDefinition {
  const read = readWithin({ ...given, library: { ...stored, ...given.library } }, catalogue);
  if (!('definition' in read)) return read;
  const named = [read.definition, ...Object.values(stored)];
  return { ...read, library: stored, catalogue: entriesFor(catalogue, named) };
}

type ReadAlone = Pick<Read, 'definition'> | Exclude<ReadDefinition, Read>;

function readWithin(
  { value, library, around, label, names, isBounded }: GivenDefinition,
  catalogue: Catalogue,
): ReadAlone {
  const known = (name: string): Definition | undefined => (Object.hasOwn(library, name) ? library[name] : undefined);
  const program = programOf(value);
  if (isPlain(program) && typeof program['$ref'] === 'string') return ofName(program['$ref'], known, isBounded);
  const read = parseDefinition(
    {
      name: around,
      steps: [{ type: 'sentinel', name: label, definition: program }],
      loop: { type: 'once' },
      inputs: Object.fromEntries(names.map((name) => [name, null])),
      ...(isBounded ? { timeoutMs: 1 } : {}),
    },
    { catalogue, knownRefs: known },
  );
  const errors = read.problems.filter(({ severity }) => severity === 'error');
  if (!read.ok || errors.length > 0)
    return { findings: errors.map(({ code, path, message }) => ({ code, path: pathInside(path), message })) };
  const [step] = read.definition.steps;
  if (step?.type !== 'sentinel') throw new Error('bug: the step around a definition is gone');
  return '$ref' in step.definition ? ofName(step.definition.$ref, known, isBounded) : { definition: step.definition };
}

function ofName(name: string, known: (name: string) => Definition | undefined, isBounded: boolean): ReadAlone {
  if (isFilePath(name)) return { findings: [{ code: 'BAD_FILE_REFERENCE', path: '', message: withoutFile(name) }] };
  const definition = known(name);
  if (definition === undefined) return { missing: name };
  const unbounded = isBounded ? undefined : unboundedBehind(name, known);
  if (unbounded === undefined) return { definition };
  const message = `${unboundedSentence(name, unbounded)}, or a "safety" with one of them to a definition around it`;
  return { findings: [{ code: 'UNBOUNDED_LOOP', path: '', message }] };
}

function pathInside(path: string): string {
  return path.startsWith(`${PLACE}.`) ? path.slice(PLACE.length + 1) : path === PLACE ? '' : path;
}
