/**
 * From what the author wrote to the canonical form: the rewrites in their order, on every definition
 * and every step. Values of a wrong type are passed on as they are, for the schema to report. What is
 * canonical already passes through unchanged.
 *
 * Recursion is safe here: `checkShape` has bounded the depth.
 */
import type { Problem } from '../problems.ts';
import { isFilePath, isTemplate } from '../references/written-references.ts';
import { Mounts, type RefFiles } from './draft/mounts.ts';
import { finish, isPlain, Origins, pathOf, standIn, type Draft, type Plain } from './draft/draft.ts';
import { rewriteConcurrency, rewriteDefaults, ownDefaults } from './rewrites/defaults.ts';
import { rewriteDojo } from './rewrites/dojo.ts';
import { rewriteGuard } from './rewrites/guard.ts';
import { rewriteInlineSentinel } from './rewrites/inline-sentinel.ts';
import { rewriteDefinitionJson, rewriteStepJson } from './rewrites/json-values.ts';
import { rewriteKindOfLoop, rewriteLoop, rewriteLoopStep, rewriteMissingLoop } from './rewrites/loop.ts';
import { rewriteEnvironment, rewriteNames } from './rewrites/names.ts';
import { rewriteParallel } from './rewrites/parallel.ts';
import { rewriteMissingName, rewritePayload } from './rewrites/payload.ts';
import { rewriteRecord } from './rewrites/record.ts';
import { rewriteSafety } from './rewrites/safety.ts';
import { rewriteSpelling, rewriteWordList } from './rewrites/spelling.ts';
import { rewriteByType, rewriteStepKeys } from './rewrites/step-keys.ts';
import { stepList } from './rewrites/step-list.ts';
import { rewriteStepType } from './rewrites/step-type.ts';
import { rewriteTrigger } from './rewrites/trigger.ts';
import { rewriteTag, rewriteTypeWord, rewriteWords, STEP_TAGS } from './rewrites/variants.ts';
import { rewriteWorkingDir } from './rewrites/working-dir.ts';

export interface CanonicalForm {
  value: unknown;
  origins: Origins;
  problems: Problem[];
}

const STEP_REWRITES: ReadonlyArray<(draft: Draft) => void> = [
  (draft) => rewriteTag(draft, STEP_TAGS),
  rewriteKindOfLoop,
  rewriteTypeWord,
  rewriteStepKeys,
  rewriteStepJson,
  rewriteStepType,
  rewriteInlineSentinel,
  rewriteGuard,
  rewriteByType,
  rewriteParallel,
  rewriteLoopStep,
  rewriteLoop,
];

const DEFINITION_REWRITES: ReadonlyArray<(draft: Draft) => void> = [
  rewriteRecord,
  rewriteMissingLoop,
  rewriteLoop,
  rewriteTrigger,
  rewriteSafety,
  rewriteDefaults,
  rewriteConcurrency,
  rewriteWords,
  (draft) => rewriteWordList(draft, ['tools', 'ragSources', 'env']),
  rewriteEnvironment,
  (draft) => rewriteNames(draft, 'inputs'),
];

/** `files`: those that it may name by their paths; absent where it comes from no file. */
export function canonicalForm(raw: unknown, files?: RefFiles): CanonicalForm {
  const origins = new Origins(new Mounts(files));
  const problems: Problem[] = [];
  const program = isPlain(raw) && Object.hasOwn(raw, '$ref') ? runOf(raw, origins) : raw;
  const value = rewriteDefinition(program, '', origins, problems);
  if (!origins.mounts.isEmpty) ownDefaults(value, origins);
  return { value, origins, problems };
}

/** A reference alone is handed over as the definition that it names. */
function runOf({ $ref, ...said }: Plain, origins: Origins): Plain {
  const program = { ...said, definition: { $ref } };
  origins.set(program, '', new Map([['definition', '']]));
  return program;
}

/** `label` names the definition where it may go without a name of its own. */
function rewriteDefinition(raw: unknown, path: string, origins: Origins, problems: Problem[], label?: string): unknown {
  if (!isPlain(raw)) return raw;
  if (Object.hasOwn(raw, '$ref')) {
    origins.copy(raw, raw, path);
    const mounted = mountedAt(raw, path, origins, problems);
    return mounted === undefined ? raw : rewriteDefinition(mounted.value, mounted.path, origins, problems, label);
  }
  const draft = origins.begin(raw, path, problems);
  let kind = rewritePayload(draft);
  rewriteSpelling(draft);
  rewriteDefinitionJson(draft);
  if (rewriteDojo(draft)) kind = 'dojo';
  if (Object.hasOwn(draft.value, 'pipeline')) kind ??= 'pipeline';
  for (const rewrite of DEFINITION_REWRITES) rewrite(draft);
  for (const key of ['steps', 'always']) {
    if (Object.hasOwn(draft.value, key))
      draft.value[key] = rewriteSteps(draft.value[key], pathOf(draft, key), origins, problems);
  }
  rewriteWorkingDir(draft);
  rewriteMissingName(draft, kind, label);
  return finish(draft);
}

/** What the file holds that a reference names; what stands beside the reference is refused where the reference stays. */
function mountedAt(raw: Plain, path: string, origins: Origins, problems: Problem[]): ReturnType<Mounts['mount']> {
  const { $ref } = raw;
  if (typeof $ref !== 'string' || !isFilePath($ref) || Object.keys(raw).length > 1) return undefined;
  return origins.mounts.mount($ref, origins.child(raw, path, '$ref'), problems);
}

function rewriteSteps(raw: unknown, path: string, origins: Origins, problems: Problem[]): unknown {
  const list = stepList(raw, path, origins);
  if (!Array.isArray(list)) return raw;
  const steps = list.map((step: unknown, index) =>
    rewriteStep(step, origins.child(list, path, index), origins, problems),
  );
  origins.copy(list, steps, path);
  return steps;
}

function rewriteStep(raw: unknown, path: string, origins: Origins, problems: Problem[]): unknown {
  if (!isPlain(raw)) return raw;
  const draft = origins.begin(raw, path, problems);
  for (const rewrite of STEP_REWRITES) rewrite(draft);
  const { value } = draft;
  for (const key of ['then', 'else', 'always', 'steps']) {
    if (Object.hasOwn(value, key)) value[key] = rewriteSteps(value[key], pathOf(draft, key), origins, problems);
  }
  if (Array.isArray(value['branches']))
    value['branches'] = rewriteBranches(value['branches'], pathOf(draft, 'branches'), origins, problems);
  if (Object.hasOwn(value, 'definition')) rewriteNested(draft);
  return finish(draft);
}

/** A nested pipeline is named by its step where it has no name; a bare word refers to a definition, and so does a reference. */
function rewriteNested(draft: Draft): void {
  const { value, origins, problems } = draft;
  const path = pathOf(draft, 'definition');
  const given = namedAt(draft);
  const isPipeline = Array.isArray(given) || path.endsWith('pipeline');
  let definition: unknown = Array.isArray(given) ? { steps: given } : given;
  if (Array.isArray(given)) origins.set(definition as Plain, path, new Map([['steps', path]]));
  if (isPipeline && isPlain(definition) && definition['type'] === undefined && !Object.hasOwn(definition, '$ref')) {
    const typed = { type: 'pipeline', ...definition };
    origins.copy(definition, typed, path);
    definition = typed;
  }
  const label = [value['name'], value['outputTo']].find(
    (name): name is string => typeof name === 'string' && name !== '',
  );
  value['definition'] = rewriteDefinition(definition, path, origins, problems, label);
}

/** What stands under `definition`, a name as the reference that it is. */
function namedAt(draft: Draft): unknown {
  const given = draft.value['definition'];
  if (typeof given !== 'string' || !(isTemplate(given) || isFilePath(given) || /^[\w./:-]+$/.test(given))) return given;
  standIn(draft, 'definition', { $ref: given });
  return draft.value['definition'];
}

function rewriteBranches(raw: unknown[], path: string, origins: Origins, problems: Problem[]): unknown[] {
  const branches = raw.map((branch, index) => rewriteSteps(branch, origins.child(raw, path, index), origins, problems));
  origins.copy(raw, branches, path);
  return branches;
}
