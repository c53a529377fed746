/**
 * A definition as a store keeps it (with its versions, tags and figures), and a recipe, which is a
 * definition whose steps are called `pipeline` and which also describes a room that a sentinel has not.
 */
import { isPlain, pathOf, rename, type Draft } from '../draft/draft.ts';

/** What is known of a stored definition and is no part of it. */
export const OF_THE_RECORD = [
  'uniqueId',
  'version',
  'createdBy',
  'createdAt',
  'updatedAt',
  'tags',
  'isPublic',
  'lastRunAt',
  'runCount',
  'averageDurationMs',
  'successRate',
  'parentPersonaId',
  'displayName',
  'layout',
  'strategy',
  'collection',
];

export function rewriteRecord(draft: Draft): void {
  const { value } = draft;
  const owner = value['parentPersonaId'];
  if (draft.path === '' && typeof owner === 'string') draft.origins.persona ??= owner;
  for (const key of ['displayName', 'uniqueId'])
    if (isRecipe(draft) && typeof value[key] === 'string') renameIfAbsent(draft, key);
  rename(draft, 'pipeline', 'steps');
  rewriteRagTemplate(draft);
  for (const key of OF_THE_RECORD) delete value[key];
}

function isRecipe({ value }: Draft): boolean {
  return Array.isArray(value['pipeline']);
}

function renameIfAbsent(draft: Draft, key: string): void {
  if (!Object.hasOwn(draft.value, 'name')) rename(draft, key, 'name');
}

/** A recipe's template of context: its name, or the sources it takes from. */
function rewriteRagTemplate(draft: Draft): void {
  const template = draft.value['ragTemplate'];
  if (typeof template === 'string') return rename(draft, 'ragTemplate', 'recipe');
  if (!isPlain(template)) return;
  if (Array.isArray(template['sources']) && !Object.hasOwn(draft.value, 'ragSources')) {
    draft.value['ragSources'] = template['sources'];
    draft.moved.set('ragSources', `${pathOf(draft, 'ragTemplate')}.sources`);
  }
  delete draft.value['ragTemplate'];
}
