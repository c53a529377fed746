/**
 * Reads a definition: what an author wrote in, the canonical form or the list of all its problems
 * out. Never throws, and refuses what is too large or too deep before anything recurses over it.
 */
import type { Catalogue } from '../catalogue.ts';
import type { ParamCheck } from '../params/param-check.ts';
import type { Definition } from '../model.ts';
import { definitionBytesMax } from '../limits.ts';
import { hasErrors, type Problem } from '../problems.ts';
import { bindItems } from './items/bind-items.ts';
import { canonicalForm } from './canonical-form.ts';
import { readTooEarly } from './checks/before-start.ts';
import { checkBounds } from './checks/bounds.ts';
import { checkComputedText } from './checks/computed-text.ts';
import { checkEvents } from './checks/events.ts';
import { checkExposure } from './checks/exposure.ts';
import { checkFlow } from './checks/flow.ts';
import { checkDeclared } from './checks/declared.ts';
import { checkHanded } from './checks/handed.ts';
import { checkLabels } from './checks/labels.ts';
import { checkNesting, type KnownRefs, type NearRef, type RefusedRefs } from './checks/nesting.ts';
import { checkNeverFails } from './checks/never-fails.ts';
import { checkParams } from './checks/params.ts';
import { checkReferences } from './checks/references.ts';
import { checkResults } from './checks/results.ts';
import { checkShellLines } from './checks/shell-lines.ts';
import { checkSettings } from './checks/settings.ts';
import { checkStepDetails } from './checks/step-details.ts';
import { checkSteps } from './checks/steps.ts';
import { checkUnread } from './checks/unread.ts';
import { collectReferences } from './inventory/collect-references.ts';
import { isPlain, type Origins } from './draft/draft.ts';
import { noObject, type RefFiles } from './draft/mounts.ts';
import { readDefinitionText, type Format } from './text/definition-text.ts';
import { placed, placedAt } from './text/placed-problems.ts';
import { collectSetters } from './inventory/setters.ts';
import { StepShapes, type ResultSchemas } from './shapes/of-steps.ts';
import { checkShape } from './text/shape.ts';
import { collectSites } from './inventory/sites.ts';
import { defined } from '../defined.ts';

export type ReadResult =
  /** `persona`: who the file says owns the run. */
  | { ok: true; definition: Definition; problems: Problem[]; inferred: string[]; persona?: string }
  | { ok: false; problems: Problem[]; inferred: string[] };

export interface ReadOptions {
  /** The commands there are. */
  catalogue: Catalogue;
  /** What is known of the parameters of commands. */
  params?: ParamCheck;
  /** What is known of their results. */
  results?: ResultSchemas;
  /** Finds a stored definition for `$ref`; without it no `$ref` resolves. */
  knownRefs?: KnownRefs;
  /** What is wrong with a definition that is there and that `knownRefs` does not give for it. */
  refusedRefs?: RefusedRefs;
  /** The name of a definition that is nearly the one that is not there. */
  nearRef?: NearRef;
  /** It is read for a run that bounds what it starts, as whoever refers to it may: loops need no bound of their own. */
  isBounded?: boolean;
  /** The files that it may name by their paths; absent where it comes from no file. */
  files?: RefFiles;
}

export function parseDefinitionText(text: string, options: ReadOptions, format: Format = 'json'): ReadResult {
  const bytes = text.length > definitionBytesMax ? text.length : new TextEncoder().encode(text).length;
  if (bytes > definitionBytesMax) {
    return refused({
      code: 'TOO_LARGE',
      severity: 'error',
      path: '',
      message: `the definition has ${bytes} bytes; at most ${definitionBytesMax} are read: keep data in files or in the store`,
    });
  }
  const read = readDefinitionText(text, format);
  if (!read.ok) return refused(read.at === undefined ? read.problem : placedAt(read.problem, text, read.at));
  const result = parseDefinition(read.value, options);
  const problems = placed([...read.problems, ...result.problems], text, read.placeOf);
  return hasErrors(read.problems) ? { ok: false, problems, inferred: result.inferred } : { ...result, problems };
}

export function parseDefinition(value: unknown, options: ReadOptions): ReadResult {
  const shape = checkShape(value);
  if (shape !== undefined) return refused(shape);
  if (!isPlain(value)) return refused(noObject(value));
  const { value: canonical, origins, problems } = canonicalForm(value, options.files);
  const grown = checkShape(canonical);
  if (grown !== undefined) {
    const path = origins.locate(canonical, '', grown.path === '' ? [] : grown.path.split('.'));
    return { ok: false, problems: origins.mounts.settle([{ ...grown, path }]), inferred: [] };
  }
  const { catalogue } = options;
  const sites = collectSites(canonical, origins, problems, catalogue);
  const knownRefs = options.knownRefs ?? (() => undefined);
  const {
    references: written,
    unread,
    problems: badExpressions,
  } = collectReferences(sites, origins, { catalogue, isDefinition: (name) => knownRefs(name) !== undefined });
  const items = bindItems(sites, written, origins, { catalogue, knownRefs });
  const references = [...written, ...items.references];
  const setters = collectSetters(sites);
  const tooEarly = readTooEarly(written, setters, items.unbound);
  const shapes = new StepShapes(setters, knownRefs, options.results);
  problems.push(
    ...badExpressions,
    ...checkSteps(sites, origins, catalogue),
    ...checkParams(sites, origins, options.params),
    ...checkStepDetails(sites, origins, catalogue),
    ...checkComputedText(sites, origins),
    ...checkNeverFails(sites, origins),
    ...checkSettings(sites, origins),
    ...checkDeclared(sites, origins, knownRefs),
    ...checkEvents(sites, origins),
    ...(options.isBounded === true ? [] : checkBounds(sites, origins, knownRefs)),
    ...items.problems,
    ...checkReferences(sites, written, tooEarly),
    ...checkUnread(sites, unread),
    ...checkShellLines(sites, origins, catalogue),
    ...checkLabels(sites, references, origins),
    ...checkFlow(sites, references, setters, origins),
    ...checkResults(
      references.filter((reference) => !tooEarly.has(reference)),
      setters,
      shapes,
    ),
    ...checkExposure(sites, origins, catalogue),
    ...checkNesting(sites, origins, { knownRefs, refusedRefs: options.refusedRefs, nearRef: options.nearRef }),
    ...checkHanded(sites, origins, catalogue, (handed) => parseDefinition(handed, ofNoFile(options)).problems),
  );
  const { persona } = origins;
  const { problems: listed, inferred } = settled(problems, origins);
  if (hasErrors(listed)) return { ok: false, problems: listed, inferred };
  return {
    ok: true,
    definition: canonical as Definition,
    problems: listed,
    inferred,
    ...defined({ persona }),
  };
}

/** With files in place of the marks that their paths begin with. */
function settled(
  problems: readonly Problem[],
  { mounts, inferred }: Origins,
): Pick<ReadResult, 'problems' | 'inferred'> {
  return {
    problems: mounts.settle(problems.map(inKeyOrder)),
    inferred: [...new Set(inferred.map((sentence) => mounts.plain(sentence)))],
  };
}

const SAID_MAX = 2_000;
/** A message quotes what was written, however long it is: the finding stands before the quotation, the remedy behind it. */
const shortened = (text: string): string =>
  text.length <= SAID_MAX ? text : `${text.slice(0, SAID_MAX / 4)} … ${text.slice((-SAID_MAX * 3) / 4)}`;

/** What is handed to a command is read when the run reaches it, from no file. */
function ofNoFile(options: ReadOptions): ReadOptions {
  const handed = { ...options };
  delete handed.files;
  return handed;
}

/** Problems are printed as JSON: the same keys in the same order, whichever check found them. */
function inKeyOrder({ code, severity, path, message, fix }: Problem): Problem {
  return { code, severity, path, message: shortened(message), ...(fix === undefined ? {} : { fix: shortened(fix) }) };
}

function refused(problem: Problem): ReadResult {
  return { ok: false, problems: [problem], inferred: [] };
}
