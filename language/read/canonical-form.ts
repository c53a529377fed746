/**
 * From what the author wrote to the canonical form: the rewrites in their order, on every definition
 * and every step. Values of a wrong type are passed on as they are, for the schema to report.
 *
 * Recursion is safe here: `checkShape` has bounded the depth.
 */
import type { Problem } from '../problems.ts';
import { Origins, isPlain, pathOf, type Draft, type Plain } from './draft.ts';
import { rewriteLoopNumbers, rewriteLoopStep, rewriteMissingLoop } from './rewrites/loop.ts';
import { rewriteParallel } from './rewrites/parallel.ts';
import { rewriteSpelling } from './rewrites/spelling.ts';
import { rewriteStepType } from './rewrites/step-type.ts';

export interface CanonicalForm {
  value: unknown;
  origins: Origins;
  problems: Problem[];
}

const STEP_REWRITES = [rewriteSpelling, rewriteStepType, rewriteParallel, rewriteLoopStep, rewriteLoopNumbers];

export function canonicalForm(raw: unknown): CanonicalForm {
  const origins = new Origins();
  const problems: Problem[] = [];
  return { value: rewriteDefinition(raw, '', origins, problems), origins, problems };
}

function begin(raw: Plain, path: string, origins: Origins): Draft {
  return { value: { ...raw }, path, moved: new Map(), origins, conflicts: [] };
}

function finish(draft: Draft, problems: Problem[]): Plain {
  draft.origins.set(draft.value, draft.path, draft.moved);
  for (const { path, key, other } of draft.conflicts) {
    const message = `"${key}" and "${other}" say the same thing; keep one of them`;
    problems.push({ code: 'CONFLICTING_KEYS', severity: 'error', path, message, fix: `remove "${key}"` });
  }
  return draft.value;
}

function rewriteDefinition(raw: unknown, path: string, origins: Origins, problems: Problem[]): unknown {
  if (!isPlain(raw)) return raw;
  if (Object.hasOwn(raw, '$ref')) {
    origins.set(raw, path);
    return raw;
  }
  const draft = begin(raw, path, origins);
  rewriteMissingLoop(draft);
  rewriteLoopNumbers(draft);
  for (const key of ['steps', 'always']) {
    if (Object.hasOwn(draft.value, key)) draft.value[key] = rewriteSteps(draft.value[key], pathOf(draft, key), origins, problems);
  }
  return finish(draft, problems);
}

function rewriteSteps(raw: unknown, path: string, origins: Origins, problems: Problem[]): unknown {
  if (!Array.isArray(raw)) return raw;
  const steps = raw.map((step: unknown, index) => rewriteStep(step, origins.child(raw, path, index), origins, problems));
  origins.copy(raw, steps, path);
  return steps;
}

function rewriteStep(raw: unknown, path: string, origins: Origins, problems: Problem[]): unknown {
  if (!isPlain(raw)) return raw;
  const draft = begin(raw, path, origins);
  for (const rewrite of STEP_REWRITES) rewrite(draft);
  const { value } = draft;
  for (const key of ['then', 'else', 'always', 'steps']) {
    if (Object.hasOwn(value, key)) value[key] = rewriteSteps(value[key], pathOf(draft, key), origins, problems);
  }
  if (Array.isArray(value['branches'])) value['branches'] = rewriteBranches(value['branches'], pathOf(draft, 'branches'), origins, problems);
  if (Object.hasOwn(value, 'definition')) {
    value['definition'] = rewriteDefinition(value['definition'], pathOf(draft, 'definition'), origins, problems);
  }
  return finish(draft, problems);
}

function rewriteBranches(raw: unknown[], path: string, origins: Origins, problems: Problem[]): unknown[] {
  const branches = raw.map((branch, index) => rewriteSteps(branch, origins.child(raw, path, index), origins, problems));
  origins.copy(raw, branches, path);
  return branches;
}
