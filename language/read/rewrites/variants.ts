/**
 * Variants as other languages write them: `{"Shell": {…}}` for `{"type": "shell", …}`, `"type": "Shell"`,
 * and words of a closed set in capitals (`"onError": "Skip"`).
 */
import { ApprovalStep, Definition, EscalationRule, LlmStep, ShellStep, Trigger, WatchStep } from '../../model.ts';
import type { StepType } from '../../model.ts';
import { finish, isObject, isPlain, join, pathOf, setOwn, type Draft, type Plain } from '../draft/draft.ts';

/** The type each tag stands for, and the key that a tag's plain value stands for. */
export interface Tags {
  readonly [tag: string]: string;
}

export const STEP_TAGS: Tags & Readonly<Record<StepType, string>> = {
  shell: 'command',
  command: 'command',
  llm: 'prompt',
  watch: 'event',
  emit: 'event',
  condition: 'check',
  loop: 'loop',
  parallel: 'branches',
  sentinel: 'definition',
  approval: 'message',
  fail: 'message',
  set: 'values',
  sleep: 'duration',
  join: 'handles',
};

export const LOOP_TAGS: Tags = {
  once: 'type',
  count: 'max',
  until: 'check',
  while: 'check',
  continuous: 'intervalMs',
  event: 'event',
};

export const TRIGGER_TAGS: Tags = { immediate: 'type', manual: 'type', event: 'event', schedule: 'cronExpression' };

/** Keys that a tag may stand for in lower case too, because no step has a key of that name with an object in it; `loop` only where its steps are inside. */
const LOWER_CASE: ReadonlySet<string> = new Set([
  'shell',
  'command',
  'llm',
  'watch',
  'emit',
  'condition',
  'parallel',
  'sentinel',
  'approval',
  'fail',
  'set',
  'sleep',
  'join',
]);

/** Those whose one text or list says it all: no step has a key of that name at all. */
const LINES: ReadonlySet<string> = new Set([
  'shell',
  'llm',
  'emit',
  'watch',
  'parallel',
  'sentinel',
  'approval',
  'fail',
  'sleep',
  'join',
]);

export function rewriteTag(draft: Draft, tags: Tags): void {
  if (draft.value['type'] !== undefined) return;
  const found = Object.keys(draft.value).filter((key) => isTag(key, draft.value, tags));
  const [tag] = found;
  if (tag === undefined || found.length > 1) return;
  const type = tag.toLowerCase();
  const content = draft.value[tag];
  const at = pathOf(draft, tag);
  delete draft.value[tag];
  if (type === 'parallel' && isPlain(content) && hasBranchesByName(content)) put(draft, 'branches', content, at);
  else if (type === 'set' && isPlain(content) && !isPlain(content['values'])) put(draft, 'values', content, at);
  else if (isPlain(content)) spread(draft, content, at, type);
  else if (content !== null && tags[type] !== 'type') put(draft, tags[type] ?? 'type', content, at);
  if (draft.value['type'] === undefined) put(draft, 'type', type, at);
}

function isTag(key: string, value: Plain, tags: Tags): boolean {
  const word = key.toLowerCase();
  if (!Object.hasOwn(tags, word)) return false;
  if (/^[A-Z]/.test(key)) return true;
  const content = value[key];
  if (tags === STEP_TAGS && isLine(key, content, value)) return true;
  if (tags !== STEP_TAGS || !isPlain(content) || Object.keys(value).length > 1) return false;
  return LOWER_CASE.has(key) || (key === 'loop' && Object.hasOwn(content, 'steps'));
}

/** `{"shell": "npm test"}`: what a step of that type has as its first key. */
function isLine(key: string, content: unknown, value: Plain): boolean {
  if (
    !LINES.has(key) ||
    ['command', 'cmd', 'run', 'definition', 'check', 'then', 'else'].some((other) => Object.hasOwn(value, other))
  )
    return false;
  return typeof content === 'string' || Array.isArray(content) || (key === 'sleep' && typeof content === 'number');
}

function hasBranchesByName(content: Plain): boolean {
  return (
    !Object.hasOwn(content, 'branches') && !Object.hasOwn(content, 'steps') && Object.values(content).every(isObject)
  );
}

function spread(draft: Draft, content: Plain, at: string, tag: string): void {
  for (const [key, value] of Object.entries(content)) {
    const name = tag === 'loop' && key === 'type' && isKindOfLoop(value) ? 'mode' : key;
    if (!Object.hasOwn(draft.value, name)) put(draft, name, value, join(at, key));
  }
}

/** The type inside a loop in capitals says how it repeats. */
function isKindOfLoop(type: unknown): boolean {
  return typeof type === 'string' && Object.hasOwn(LOOP_TAGS, type.toLowerCase());
}

function put(draft: Draft, key: string, value: unknown, path: string): void {
  setOwn(draft.value, key, value);
  draft.moved.set(key, path);
}

const TYPES: ReadonlySet<string> = new Set([
  ...Object.keys(STEP_TAGS),
  ...Object.keys(LOOP_TAGS),
  ...Object.keys(TRIGGER_TAGS),
]);

/** The words that may stand under each key whose values are a closed set, in whichever object it stands. */
const WORDS: ReadonlyMap<string, ReadonlySet<string>> = wordsOf([
  Definition,
  EscalationRule,
  ...Trigger.options,
  ShellStep,
  LlmStep,
  WatchStep,
  ApprovalStep,
]);

interface Shaped {
  shape?: Readonly<Record<string, unknown>>;
  options?: readonly unknown[];
  unwrap?: () => unknown;
}

function wordsOf(schemas: readonly unknown[], words = new Map<string, Set<string>>()): Map<string, Set<string>> {
  for (const schema of schemas) {
    for (const [key, field] of Object.entries((schema as Shaped).shape ?? {})) {
      const inner = ((field as Shaped).unwrap?.() ?? field) as Shaped;
      wordsOf([inner], words);
      for (const word of inner.options ?? [])
        if (typeof word === 'string') words.set(key, (words.get(key) ?? new Set()).add(word));
    }
  }
  return words;
}

const CAPITALS = /^[A-Z][A-Za-z_]*$/;

export function rewriteTypeWord(draft: Draft): void {
  const { type } = draft.value;
  if (typeof type === 'string' && TYPES.has(type.toLowerCase())) draft.value['type'] = type.toLowerCase();
}

/** `ApprovalNeeded` and `APPROVAL_NEEDED` both mean `approval_needed`; what means none of the words is left as it is. */
export function rewriteWords(draft: Draft): void {
  for (const [key, words] of WORDS) {
    const written = draft.value[key];
    if (typeof written !== 'string' || !CAPITALS.test(written)) continue;
    const letters = written.replaceAll('_', '').toLowerCase();
    const word = [...words].find((each) => each.replaceAll('_', '') === letters);
    if (word !== undefined) draft.value[key] = word;
  }
}

/** Each object of a list, rewritten in its place. */
export function rewriteEach(draft: Draft, key: string, rewrite: (inner: Draft) => void): void {
  const list = draft.value[key];
  if (!Array.isArray(list)) return;
  const path = pathOf(draft, key);
  const rewritten = list.map((item: unknown, index) => {
    if (!isPlain(item)) return item;
    const inner = draft.origins.begin(item, draft.origins.child(list, path, index), draft.problems);
    rewrite(inner);
    return finish(inner);
  });
  draft.origins.copy(list, rewritten, path);
  draft.value[key] = rewritten;
}
