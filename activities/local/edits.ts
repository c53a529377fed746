/** Holds an edit of a running definition against the reader, which workflow code cannot load. */
import { entriesOfSteps, type Catalogue } from '../../language/catalogue.ts';
import { applyEdit, pathAfter, stepAt } from '../../language/edit.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import type { Definition, Step } from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import { canonicalForm } from '../../language/read/canonical-form.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import type { EditCheck } from '../../interpreter/contract.ts';

const problemsShownMax = 20;

/** A nested run's definition stands alone here, so what the reader finds in it before the edit is not held against the edit. */
/** The definition as it is, those that it refers to, and what is to change. */
export type EditToCheck = [
  definition: Definition,
  library: { [name: string]: Definition },
  edit: { op: 'add' | 'update' | 'remove'; path: string; step: Json },
];

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
