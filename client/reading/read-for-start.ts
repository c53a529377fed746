/**
 * A definition that a program hands to the client, and those that it gives for the names of `$ref`s: read as a file is,
 * so that what a condition, a default or another spelling means is what the file would mean, and nothing is started that
 * `validate` refuses. What was read before reads as itself.
 */
import type { Catalogue } from '../../language/catalogue.ts';
import type { Definition } from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
import { referredDefinitions } from '../../prisma/store/values/referred-definitions.ts';
import { withFiles } from '../../operations/named-definitions.ts';
import { ClientError } from '../../runs/client-error.ts';
import { Failure } from '../../world/failures/failures.ts';
import { referencesOf } from '../../runs/library.ts';
import { PLAIN } from '../show/paint.ts';
import { problemLines } from '../show/problem-lines.ts';

type Known = (name: string) => Definition | undefined;

interface ReadForStart {
  definition: Definition;
  known: Known;
}

const anything: Known = (name) => ({ name, steps: [], loop: { type: 'once' } });

/** Throws `DEFINITION_INVALID` with every problem, its place and its remedy. */
export async function readForStart(
  { store, catalogue }: { store: Pick<Store, 'definitions'>; catalogue: Catalogue },
  written: unknown,
  { known: given = () => undefined, ...seeker }: Seeker & { known: Known | undefined },
): Promise<ReadForStart> {
  // Without what names lead to: a value that is no JSON has to be found before anything follows it.
  const alone = read(written, { catalogue, knownRefs: anything }, 'The definition');
  const known = readOnce(given, catalogue);
  if (referencesOf(alone).length === 0) return { definition: alone, known };
  const { definitions } = withFiles(store, catalogue);
  const names = await referredDefinitions(
    {
      definitions: {
        ...definitions,
        find: async (name) => (known(name) === undefined ? definitions.find(name, seeker) : null),
      },
    },
    alone,
  ).catch((error: unknown) => {
    throw error instanceof Failure
      ? new ClientError('DEFINITION_INVALID', `${error.message}.`, { cause: error })
      : error;
  });
  const found: Known = (name) => known(name) ?? names.get(name);
  return { definition: read(alone, { catalogue, knownRefs: found }, 'The definition'), known };
}

function readOnce(given: Known, catalogue: Catalogue): Known {
  const before = new Map<string, Definition | undefined>();
  return (name) => {
    if (before.has(name)) return before.get(name);
    const written = given(name);
    const options = { catalogue, knownRefs: anything, isBounded: true };
    const one = written === undefined ? undefined : read(written, options, `The definition "${name}"`);
    before.set(name, one);
    return one;
  };
}

function read(written: unknown, options: Parameters<typeof parseDefinition>[1], what: string): Definition {
  const result = parseDefinition(withoutUndefined(written), options);
  if (result.ok) return result.definition;
  throw definitionInvalid(`${what} cannot be started`, result.problems);
}

/** A field that a program leaves open is not there. What is no JSON otherwise, and what holds itself, is for the reader to refuse. */
function withoutUndefined(value: unknown, known = new Map<unknown, unknown>()): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (known.has(value) || known.size > valuesMax) return known.get(value) ?? value;
  known.set(value, value);
  const plain = plainCopy(value, known);
  known.set(value, plain);
  return plain;
}

/** The reader refuses a definition with more. */
const valuesMax = 500_000;

function plainCopy(value: object, known: Map<unknown, unknown>): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item, known));
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const given = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(given.map(([name, field]) => [name, withoutUndefined(field, known)]));
}

/** With every error as `sentinel validate` prints it. */
export function definitionInvalid(finding: string, problems: readonly Problem[]): ClientError {
  const errors = problems.filter(({ severity }) => severity === 'error');
  return new ClientError('DEFINITION_INVALID', [`${finding}:`, ...problemLines(errors, PLAIN)].join('\n'));
}
