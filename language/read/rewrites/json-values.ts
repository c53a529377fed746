/**
 * Objects and lists written as JSON text, the way a command line hands them over
 * (`"steps": "[{…}]"`). A text that begins like JSON and is none is reported here, once.
 */
import { checkShape } from '../text/shape.ts';
import { rewriteTimes } from './spelling.ts';
import { isPlain, pathOf, spelled, within, type Draft } from '../draft/draft.ts';
import { readJsonText } from '../text/json-text.ts';

export const DEFINITION_KEYS = [
  'steps',
  'always',
  'loop',
  'trigger',
  'safety',
  'tools',
  'ragSources',
  'escalateOn',
  'inputs',
  'inputSchema',
  'outputs',
  'env',
  'pipeline',
  'challenges',
  'definition',
];
export const STEP_KEYS = [
  'params',
  'steps',
  'then',
  'else',
  'always',
  'branches',
  'loop',
  'definition',
  'pipeline',
  'args',
  'env',
  'rules',
  'tools',
  'retry',
  'form',
  'schema',
  'messages',
  'images',
  'autoCompact',
  'onUnknown',
  'inputs',
  'values',
];

/** Parameters of commands that take objects or lists. */
const PARAMETERS: ReadonlyArray<{ family: RegExp; keys: readonly string[] }> = [
  { family: /^(?:data|memory)\//, keys: ['filter', 'orderBy', 'data', 'tags'] },
  {
    family: /^sentinel\//,
    keys: [
      'definition',
      'steps',
      'pipeline',
      'challenges',
      'measure',
      'trainOnFailures',
      'escalateOn',
      'loop',
      'step',
      'params',
      'safety',
      'trigger',
      'inputs',
      'tags',
      'filter',
    ],
  },
];

export function rewriteDefinitionJson(draft: Draft): void {
  for (const key of DEFINITION_KEYS) readJson(draft, key);
}

export function rewriteStepJson(draft: Draft): void {
  for (const key of STEP_KEYS) readJson(draft, key);
  // With references in it, it becomes a value when they are resolved.
  const { data, command } = draft.value;
  if (typeof data === 'string' && !/\$|\{\{/.test(data)) readJson(draft, 'data', 'leniently');
  const keys = typeof command === 'string' ? PARAMETERS.find(({ family }) => family.test(command))?.keys : undefined;
  if (!isPlain(draft.value['params'])) return;
  if (typeof command === 'string' && command.startsWith('code/'))
    within(draft, 'params', ({ value }) => rewriteTimes(value));
  if (keys === undefined) return;
  within(draft, 'params', (params) => {
    for (const key of keys) readJson(params, key, 'leniently');
  });
}

/** Leniently: a text that is no JSON is left, because it may be meant as text. */
export function readJson(draft: Draft, key: string, how?: 'leniently'): void {
  const text = draft.value[key];
  if (typeof text !== 'string' || !/^\s*[[{]/.test(text) || /^\s*\{\{/.test(text)) return;
  const path = pathOf(draft, key);
  const read = readJsonText(text);
  const problem = read.ok ? checkShape(read.value) : read.problem;
  if (read.ok && problem === undefined) draft.value[key] = read.value;
  if (problem === undefined || how === 'leniently') return;
  draft.origins.refused.add(path);
  const code = problem.code === 'NOT_JSON' ? 'BAD_JSON_TEXT' : problem.code;
  draft.problems.push({
    code,
    severity: 'error',
    path,
    message: `"${spelled(draft, key)}" is text that should hold JSON: ${problem.message}`,
  });
}
