/**
 * Loops: a word or a number for a loop (`"once"`, `3`), the kind as a key (`{"until": "…"}`), tags and
 * spellings, and the flat form of a loop step (`mode`, `count`, `while`, `maxIterations` beside `steps`).
 * A definition without a loop runs once.
 */
import { isTemplate } from '../../references/written-references.ts';
import {
  conflict,
  infer,
  isPlain,
  join,
  pathOf,
  rename,
  setOwn,
  standIn,
  within,
  type Draft,
  type Plain,
} from '../draft/draft.ts';
import { rewriteVariable } from './names.ts';
import { numberFor, renameAll, rewriteCheck, rewriteSpelling } from './spelling.ts';
import { LOOP_TAGS, rewriteTag, rewriteTypeWord } from './variants.ts';

export const FLAT = [
  'type',
  'mode',
  'count',
  'while',
  'until',
  'max',
  'check',
  'condition',
  'event',
  'intervalMs',
  'maxIterations',
  'over',
  'as',
];

/** `{"type": "while", "steps": […]}`: how a loop repeats, for what it is. */
export function rewriteKindOfLoop(draft: Draft): void {
  const { value } = draft;
  const kind = typeof value['type'] === 'string' ? value['type'].toLowerCase() : '';
  if (
    !KINDS_AS_TYPES.includes(kind) ||
    !Object.hasOwn(value, 'steps') ||
    ['mode', 'loop'].some((key) => Object.hasOwn(value, key))
  )
    return;
  value['mode'] = kind;
  draft.moved.set('mode', pathOf(draft, 'type'));
  value['type'] = 'loop';
}

export const KINDS_AS_TYPES = ['count', 'while', 'until', 'continuous'];

export function rewriteLoopStep(draft: Draft): void {
  const { value, origins } = draft;
  if (value['type'] !== 'loop' || Object.hasOwn(value, 'loop')) return;
  const loop: Plain = {};
  const keys = new Map<string, string>();
  for (const key of FLAT) {
    if (key === 'type' || !Object.hasOwn(value, key)) continue;
    loop[key] = value[key];
    keys.set(key, pathOf(draft, key));
    delete value[key];
  }
  if (keys.size === 0) return;
  origins.set(loop, draft.path, keys);
  value['loop'] = loop;
}

export function rewriteLoop(draft: Draft): void {
  const { loop } = draft.value;
  if (typeof loop === 'string' && Object.hasOwn(LOOP_TAGS, loop.toLowerCase()))
    standIn(draft, 'loop', { type: loop.toLowerCase() });
  const max = numberFor(loop);
  if (typeof max === 'number') standIn(draft, 'loop', { type: 'count', max });
  within(draft, 'loop', rewriteLoopKeys);
}

function rewriteLoopKeys(loop: Draft): void {
  spreadMode(loop);
  rewriteTag(loop, LOOP_TAGS);
  rewriteSpelling(loop);
  rename(loop, 'mode', 'type');
  rewriteTypeWord(loop);
  rewriteKind(loop);
  renameAll(loop, ['count'], 'max');
  renameAll(loop, ['condition', 'if'], 'check');
  rewriteCheck(loop);
  rewriteVariable(loop, 'as');
  rewriteList(loop);
  if (loop.value['type'] === undefined) inferType(loop);
  if (loop.value['type'] === 'count') rewriteCount(loop);
}

/** `"mode": {"Count": {"max": 2}}`: what it holds stands in the loop itself. */
function spreadMode(loop: Draft): void {
  const { mode } = loop.value;
  if (!isPlain(mode)) return;
  const at = pathOf(loop, 'mode');
  delete loop.value['mode'];
  for (const [key, value] of Object.entries(mode)) {
    if (Object.hasOwn(loop.value, key)) continue;
    setOwn(loop.value, key, value);
    loop.moved.set(key, join(at, key));
  }
}

/** `{"until": "…"}`: the key is the kind, its value the check. */
function rewriteKind(loop: Draft): void {
  for (const kind of ['until', 'while']) {
    if (!Object.hasOwn(loop.value, kind)) continue;
    const { type } = loop.value;
    if (type !== undefined && type !== kind) {
      conflict(loop, kind, 'type');
      delete loop.value[kind];
      continue;
    }
    loop.value['type'] = kind;
    loop.moved.set('type', pathOf(loop, kind));
    rename(loop, kind, 'check');
  }
}

/** A list to walk is an expression as it stands, unless something in it is to be replaced. */
export function rewriteList({ value }: Draft): void {
  const { over } = value;
  if (!Array.isArray(over)) return;
  const text = JSON.stringify(over);
  if (!isTemplate(text)) value['over'] = text;
}

function inferType(loop: Draft): void {
  const has = (key: string): boolean => Object.hasOwn(loop.value, key);
  if (has('event')) loop.value['type'] = 'event';
  else if (has('check')) return;
  else if (has('intervalMs') || (has('maxIterations') && !has('max') && !has('over')))
    loop.value['type'] = 'continuous';
  else if (has('max') || has('over')) loop.value['type'] = 'count';
  else return;
  infer(loop, `is read as a loop of type "${String(loop.value['type'])}": it has no "type"`);
}

/** A loop that counts needs a number: the bound it has, or the length of the array it walks. */
function rewriteCount(loop: Draft): void {
  const { value } = loop;
  if (Object.hasOwn(value, 'max')) return;
  if (typeof value['over'] === 'string') {
    const max = `${value['over'].trim()}.length`;
    value['max'] = max;
    loop.moved.set('max', pathOf(loop, 'over'));
    infer(loop, `makes ${max} passes: it has no "max"`);
  } else rename(loop, 'maxIterations', 'max');
}

export function rewriteMissingLoop(draft: Draft): void {
  if (Object.hasOwn(draft.value, 'loop')) return;
  draft.value['loop'] = { type: 'once' };
}
