/** A sentinel step that holds the steps of the nested sentinel itself: they are its definition. */
import { join, pathOf, type Draft, type Plain } from '../draft/draft.ts';
import { OUTSIDE } from './safety.ts';

/** What a definition says and no sentinel step does. */
export const OF_THE_DEFINITION = [
  'steps',
  'loop',
  'always',
  'trigger',
  'safety',
  'mode',
  'durability',
  'escalateOn',
  'reportTo',
  'env',
  'strict',
  'trustDrafts',
  'defaults',
  ...OUTSIDE,
];

export function rewriteInlineSentinel(draft: Draft): void {
  const { value, origins } = draft;
  if (value['type'] !== 'sentinel' || Object.hasOwn(value, 'definition') || !Object.hasOwn(value, 'steps')) return;
  const definition: Plain = { type: 'pipeline' };
  const keys = new Map<string, string>();
  for (const key of OF_THE_DEFINITION) {
    if (!Object.hasOwn(value, key)) continue;
    definition[key] = value[key];
    keys.set(key, pathOf(draft, key));
    delete value[key];
  }
  origins.set(definition, draft.path, keys);
  value['definition'] = definition;
  draft.moved.set('definition', join(draft.path, 'steps'));
}
