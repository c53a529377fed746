/**
 * Keys of steps that have another name elsewhere. Before the type is known only names that no step
 * uses otherwise; after it, those that depend on the type.
 */
import { infer, rename, standIn, within, withoutEffect, type Draft } from '../draft/draft.ts';
import { rewriteNames, rewriteVariable, commandNamed } from './names.ts';
import { rewriteRunParameters } from './run-parameters.ts';
import { numberFor, renameAll, rewriteCheck, rewriteSpelling, rewriteWordList } from './spelling.ts';
import { rewriteEach, rewriteWords } from './variants.ts';

export function rewriteStepKeys(draft: Draft): void {
  rewriteSpelling(draft);
  rename(draft, 'cmd', 'command');
  rename(draft, 'workingDir', 'cwd');
  rename(draft, 'payload', 'data');
  rename(draft, 'pipeline', 'definition');
  rename(draft, 'systemPrompt', 'system');
  dropTitle(draft);
  renameAll(draft, ['label', 'id'], 'name');
  if (typeof draft.value['name'] === 'number') draft.value['name'] = String(draft.value['name']);
  const { type } = draft.value;
  if (type === 'sleep') rewriteSleep(draft);
  if (type === undefined || type === 'sentinel') rename(draft, '$ref', 'definition');
  rename(draft, 'if', isGuarded(draft) ? 'condition' : 'check');
  if (isGuarded(draft)) rename(draft, 'when', 'condition');
  if (type === 'condition' || isBranching(draft)) renameAll(draft, ['condition', 'when'], 'check');
}

/** `ms`, `seconds: 5`: a time that is named by its unit. */
function rewriteSleep(draft: Draft): void {
  rename(draft, 'ms', 'durationMs');
  for (const [unit, length] of Object.entries(UNITS)) {
    const amount = numberFor(draft.value[unit]);
    if (typeof amount !== 'number') continue;
    draft.value[unit] = amount * length;
    rename(draft, unit, 'durationMs');
  }
}

export const UNITS: Readonly<Record<string, number>> = {
  seconds: 1_000,
  minutes: 60_000,
  hours: 3_600_000,
  days: 86_400_000,
};

/** A word that references can name, beside words for people: the step's label is the word. */
function dropTitle(draft: Draft): void {
  const { id, name, label } = draft.value;
  if (typeof id !== 'string' || !/^[A-Za-z][\w-]*$/.test(id)) return;
  for (const [key, title] of Object.entries({ name, label })) {
    if (typeof title === 'string' && /\S\s+\S/.test(title)) withoutEffect(draft, key, `the step is named by its "id"`);
  }
}

/** It does nothing itself, and has steps for either verdict. */
function isBranching(draft: Draft): boolean {
  return (
    draft.value['type'] === undefined &&
    ['then', 'else'].some((key) => Object.hasOwn(draft.value, key)) &&
    !isGuarded(draft)
  );
}

/** A step that does something itself is performed only if its `if` holds; one that does nothing else is the condition. */
function isGuarded({ value }: Draft): boolean {
  if (value['type'] !== undefined) return value['type'] !== 'condition' && value['type'] !== 'loop';
  return (
    ['command', 'prompt', 'definition', 'branches', 'run', 'uses'].some((key) => Object.hasOwn(value, key)) &&
    !['then', 'else'].some((key) => Object.hasOwn(value, key))
  );
}

export function rewriteByType(draft: Draft): void {
  const { value } = draft;
  rewriteCheck(draft);
  rewriteVariable(draft, 'outputTo');
  withoutEffect(draft, 'description', 'what people read for a step is its "name"');
  if (value['type'] !== 'loop') rewriteWords(draft);
  if (value['type'] === 'llm') rewriteModel(draft);
  if (value['type'] === 'llm') rewriteWordList(draft, ['tools', 'images']);
  if (value['type'] === 'condition') dropEmptyBranch(draft);
  if (value['type'] === 'sentinel') rewriteNames(draft, 'inputs');
  if (value['type'] === 'set') rewriteNames(draft, 'values');
  if (value['type'] === 'watch') rewriteEach(draft, 'rules', rewriteSpelling);
  if (value['type'] === 'command' && typeof value['command'] === 'string')
    value['command'] = commandNamed(value['command']);
  if (value['type'] === 'command') rewriteRunParameters(draft);
  const attempts = numberFor(value['retry']);
  if (typeof attempts === 'number') standIn(draft, 'retry', { attempts });
  for (const key of ['retry', 'autoCompact', 'onUnknown']) {
    within(draft, key, (inner) => {
      rewriteSpelling(inner);
      rewriteWords(inner);
    });
  }
}

/** Writers that always write both branches leave one empty; with nothing in the other either, it is a mistake. */
function dropEmptyBranch({ value }: Draft): void {
  for (const [key, other] of [
    ['else', 'then'],
    ['then', 'else'],
  ] as const) {
    const [branch, rest] = [value[key], value[other]];
    if (Array.isArray(branch) && branch.length === 0 && Array.isArray(rest) && rest.length > 0) delete value[key];
  }
}

/** The provider is part of the model's name: `ollama/phi3:mini`. */
function rewriteModel(draft: Draft): void {
  const { provider, model } = draft.value;
  if (typeof provider !== 'string') return;
  if (typeof model !== 'string') return withoutEffect(draft, 'provider', 'there is no "model" it belongs to');
  const known = model.startsWith(`${provider}/`) || model.startsWith('$') || model.startsWith('claude-');
  if (!known) draft.value['model'] = `${provider}/${model}`;
  delete draft.value['provider'];
  if (!known) infer(draft, `asks "${provider}/${model}"`);
}
