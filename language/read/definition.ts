/**
 * Reads a definition: what an author wrote in, the canonical form or the list of all its problems
 * out. Never throws, and refuses what is too large or too deep before anything recurses over it.
 */
import type { Definition } from '../model.ts';
import { definitionBytesMax } from '../limits.ts';
import { hasErrors, type Problem } from '../problems.ts';
import { canonicalForm } from './canonical-form.ts';
import { checkBounds } from './check-bounds.ts';
import { checkNesting, type KnownRefs } from './check-nesting.ts';
import { checkReferences } from './check-references.ts';
import { checkSteps } from './check-steps.ts';
import { collectReferences } from './collect-references.ts';
import { isPlain } from './draft.ts';
import { readJsonText } from './json-text.ts';
import { checkShape } from './shape.ts';
import { collectSites } from './sites.ts';

export type ReadResult =
  | { ok: true; definition: Definition; problems: Problem[]; inferred: string[] }
  | { ok: false; problems: Problem[]; inferred: string[] };

export interface ReadOptions {
  /** Finds a stored definition for `$ref`; without it no `$ref` resolves. */
  knownRefs?: KnownRefs;
  /** Commands that exist besides the catalogue. */
  extraCommands?: readonly string[];
}

export function parseDefinitionText(text: string, options: ReadOptions = {}): ReadResult {
  const bytes = text.length > definitionBytesMax ? text.length : new TextEncoder().encode(text).length;
  if (bytes > definitionBytesMax) {
    return refused({
      code: 'TOO_LARGE',
      severity: 'error',
      path: '',
      message: `the definition has ${bytes} bytes; at most ${definitionBytesMax} are read: keep data in files or in the store`,
    });
  }
  const read = readJsonText(text);
  return read.ok ? parseDefinition(read.value, options) : refused(read.problem);
}

export function parseDefinition(value: unknown, options: ReadOptions = {}): ReadResult {
  const shape = checkShape(value);
  if (shape !== undefined) return refused(shape);
  if (!isPlain(value)) {
    return refused({ code: 'WRONG_TYPE', severity: 'error', path: '', message: 'a definition is a JSON object with "name", "steps" and "loop"' });
  }
  const { value: canonical, origins, problems } = canonicalForm(value);
  const sites = collectSites(canonical, origins, problems);
  const { references, problems: badExpressions } = collectReferences(sites, origins);
  problems.push(
    ...badExpressions,
    ...checkSteps(sites, origins, { extraCommands: options.extraCommands ?? [] }),
    ...checkBounds(sites),
    ...checkReferences(sites, references, origins),
    ...checkNesting(sites, origins, options.knownRefs ?? (() => undefined)),
  );
  const { inferred } = origins;
  const listed = problems.map(inKeyOrder);
  if (hasErrors(problems)) return { ok: false, problems: listed, inferred };
  return { ok: true, definition: canonical as Definition, problems: listed, inferred };
}

/** Problems are printed as JSON: the same keys in the same order, whichever check found them. */
function inKeyOrder({ code, severity, path, message, fix }: Problem): Problem {
  return { code, severity, path, message, ...(fix === undefined ? {} : { fix }) };
}

function refused(problem: Problem): ReadResult {
  return { ok: false, problems: [problem], inferred: [] };
}
