/**
 * Loops: the flat form of a loop step (`mode`, `count`, `check`, `maxIterations` beside `steps`)
 * becomes a `loop` object, and a definition without a loop runs once.
 */
import { isPlain, pathOf, type Draft, type Plain } from '../draft.ts';
import { readNumbers } from './spelling.ts';

const FLAT: ReadonlyArray<readonly [string, string]> = [
  ['mode', 'type'],
  ['count', 'max'],
  ['max', 'max'],
  ['check', 'check'],
  ['intervalMs', 'intervalMs'],
  ['maxIterations', 'maxIterations'],
  ['over', 'over'],
  ['as', 'as'],
];

export function rewriteLoopStep(draft: Draft): void {
  const { value, origins } = draft;
  if (value['type'] !== 'loop' || Object.hasOwn(value, 'loop') || !Object.hasOwn(value, 'mode')) return;
  const loop: Plain = {};
  const keys = new Map<string, string>();
  for (const [from, to] of FLAT) {
    if (!Object.hasOwn(value, from)) continue;
    loop[to] = value[from];
    keys.set(to, pathOf(draft, from));
    delete value[from];
  }
  origins.set(loop, draft.path, keys);
  value['loop'] = loop;
}

export function rewriteLoopNumbers(draft: Draft): void {
  const loop = draft.value['loop'];
  if (!isPlain(loop)) return;
  const copy = { ...loop };
  readNumbers(copy);
  draft.origins.copy(loop, copy, pathOf(draft, 'loop'));
  draft.value['loop'] = copy;
}

export function rewriteMissingLoop(draft: Draft): void {
  if (Object.hasOwn(draft.value, 'loop')) return;
  draft.value['loop'] = { type: 'once' };
}
