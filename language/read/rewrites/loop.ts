/**
 * Loops: the flat form of a loop step (`mode`, `count`, `check`, `maxIterations` beside `steps`)
 * becomes a `loop` object, and a definition without a loop runs once.
 */
import { isPlain, pathOf, type Draft, type Plain } from '../draft.ts';
import { rewriteNumbers } from './spelling.ts';

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

export function rewriteLoop(draft: Draft): void {
  const { value, origins } = draft;
  const loop = value['loop'];
  if (!isPlain(loop)) return;
  const path = origins.child(loop, pathOf(draft, 'loop'), 'type').replace(/\.?type$/, '');
  const inner: Draft = { ...draft, value: { ...loop }, path, moved: new Map() };
  rewriteNumbers(inner);
  origins.copy(loop, inner.value, pathOf(draft, 'loop'));
  value['loop'] = inner.value;
}

export function rewriteMissingLoop(draft: Draft): void {
  if (Object.hasOwn(draft.value, 'loop')) return;
  draft.value['loop'] = { type: 'once' };
}
