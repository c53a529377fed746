/** A step that carries a `condition` of its own, as recipes write it, is performed inside a condition step. */
import { infer, join, pathOf, type Draft } from '../draft/draft.ts';

export function rewriteGuard(draft: Draft): void {
  const { value, origins } = draft;
  const check = value['condition'];
  if (
    typeof check !== 'string' ||
    value['type'] === 'condition' ||
    value['type'] === 'loop' ||
    value['type'] === undefined
  )
    return;
  const at = pathOf(draft, 'condition');
  const step = { ...value };
  delete step['condition'];
  const then = [step];
  origins.set(step, draft.path, draft.moved);
  origins.set(then, draft.path, new Map([['0', draft.path]]));
  draft.value = { type: 'condition', check, then };
  draft.moved = new Map([
    ['check', at],
    ['then', draft.path],
    ['type', join(draft.path, 'condition')],
  ]);
  infer(draft, 'is performed only if its "condition" holds');
}
