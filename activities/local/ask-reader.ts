/** What workflow code asks and cannot answer itself, because it loads no reader, no JSON Schema and no digest. */
import { createHash } from 'node:crypto';
import { entriesOfSteps, type Catalogue } from '../../language/catalogue.ts';
import { applyEdit, pathAfter, stepAt } from '../../language/edit.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition, Step } from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import { canonicalForm } from '../../language/read/canonical-form.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import type { EditCheck } from '../../interpreter/contract.ts';
import {
  programOf,
  readNestedDefinition,
  type GivenDefinition,
  type ReadDefinition,
} from '../../language/read/nested-definition.ts';
import { readJsonText } from '../../language/read/text/json-text.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
import { referredDefinitions } from '../../prisma/store/values/referred-definitions.ts';
import { readStarted, referring, type Handed, type StartedProgram } from '../../language/read/started-program.ts';
import { withFiles } from '../../operations/named-definitions.ts';
import { Failure } from '../../world/failures/failures.ts';
import { formFault } from '../../language/params/form.ts';

const problemsShownMax = 20;

/** The definition as it is, those that it refers to, and what is to change. */
export type EditToCheck = [
  definition: Definition,
  library: { [name: string]: Definition },
  edit: { op: 'add' | 'update' | 'remove'; path: string; step: Json },
];

/**
 * Holds an edit of a running definition against the reader. A nested run's definition stands alone here, so what the
 * reader finds in it before the edit is not held against the edit.
 */
export function checkEdit(
  catalogue: Catalogue,
  ...[definition, library, { op, path, step }]: EditToCheck
): Promise<EditCheck> {
  const edit = op === 'remove' ? { op, path } : { op, path, step: step as unknown as Step };
  const edited = applyEdit(definition, edit);
  if (edited === null) return Promise.resolve({ problems: [`there is no place "${path}"`] });
  const errorsOf = (read: Definition): Problem[] =>
    parseDefinition(read, { catalogue, knownRefs: (name) => library[name] }).problems.filter(
      ({ severity }) => severity === 'error',
    );
  const errors = errorsOf(edited);
  const before =
    errors.length === 0 ? [] : errorsOf(definition).map(({ code, path: at }) => `${code} ${pathAfter(edit, at) ?? ''}`);
  const found = errors.filter(({ code, path: at }) => !before.includes(`${code} ${at}`));
  if (found.length > 0) return Promise.resolve({ problems: sentencesOf(found) });
  if (op === 'remove') return Promise.resolve({ step: null, catalogue: {} });
  const { value } = canonicalForm(edited);
  const read = isJsonObject(value) ? stepAt(value as Definition, path) : null;
  return Promise.resolve({ step: read, catalogue: entriesOfSteps(catalogue, read === null ? [] : [read]) });
}

function sentencesOf(problems: readonly Problem[]): string[] {
  const shown = problems.slice(0, problemsShownMax).map(({ code, path, message }) => `${code} at ${path}: ${message}`);
  const more = problems.length - shown.length;
  return more === 0 ? shown : [...shown, `and ${more} more`];
}

/** Reads a definition that a step took from a variable; stored ones may be named, as in `sentinel/run`. */
export async function readGivenDefinition(
  store: Pick<Store, 'definitions'>,
  catalogue: Catalogue,
  given: GivenDefinition,
  seeker: Seeker,
): Promise<ReadDefinition> {
  const program = programOf(given.value);
  const parsed = typeof program === 'string' ? readJsonText(program) : undefined;
  const value = parsed?.ok === true ? parsed.value : program;
  const stored = await orFault(referredDefinitions(withFiles(store, catalogue), value, seeker));
  if (typeof stored === 'string') return { findings: [{ code: 'BAD_FILE_REFERENCE', path: '', message: stored }] };
  // What the run was started with is what its own definition means by a name.
  for (const name of Object.keys(given.library)) stored.delete(name);
  return readNestedDefinition(given, { catalogue, stored: Object.fromEntries(stored) });
}

/** What `sentinel/run` and `sentinel/start` would start. */
export async function readGivenStart(
  store: Pick<Store, 'definitions'>,
  catalogue: Catalogue,
  handed: Handed,
  seeker: Seeker,
): Promise<StartedProgram> {
  const stored = await orFault(referredDefinitions(withFiles(store, catalogue), referring(handed), seeker));
  return typeof stored === 'string' ? { fault: stored } : readStarted(handed, catalogue, Object.fromEntries(stored));
}

/** What is wrong with a file that a name leads to, in words. */
async function orFault<Found>(found: Promise<Found>): Promise<Found | string> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

/** Of the text of a question. */
export function digestOf(text: string): Promise<string> {
  return Promise.resolve(createHash('sha256').update(text).digest('hex'));
}

/** What is wrong with the data, in words; null where it fits. */
export const checkForm = (form: JsonObject, data: Json): Promise<string | null> =>
  Promise.resolve(formFault(form, data));
