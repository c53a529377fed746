/** Safety: its keys in other spellings, and those that stand beside the steps instead of inside `safety`. */
import { conflict, finish, isPlain, pathOf, standIn, within, type Draft } from '../draft/draft.ts';
import { numberFor, rewriteSpelling } from './spelling.ts';
import { rewriteEach, rewriteWords } from './variants.ts';

export const OUTSIDE = [
  'maxIterations',
  'maxStepTimeoutMs',
  'maxMemoryMb',
  'maxNestingDepth',
  'onTimeout',
  'requireApproval',
  'budget',
];
const PERMISSIONS = ['write', 'shell', 'delete', 'network'];

export function rewriteSafety(draft: Draft): void {
  within(draft, 'safety', rewriteSpelling);
  for (const key of OUTSIDE) moveInside(draft, key);
  within(draft, 'safety', (safety) => {
    rewriteWords(safety);
    const { requireApproval } = safety.value;
    if (typeof requireApproval === 'string') standIn(safety, 'requireApproval', [permissionIn(requireApproval)]);
    if (Array.isArray(requireApproval)) safety.value['requireApproval'] = requireApproval.map(permissionIn);
    if (requireApproval === true) safety.value['requireApproval'] = [...PERMISSIONS];
    if (requireApproval === false) delete safety.value['requireApproval'];
    within(safety, 'budget', (budget) => {
      rewriteSpelling(budget);
      if (Object.hasOwn(budget.value, 'steps')) budget.value['steps'] = numberFor(budget.value['steps']);
    });
  });
  rewriteEach(draft, 'escalateOn', rewriteWords);
}

/** What is no permission is left as it is, for the schema to report. */
function permissionIn(word: unknown): unknown {
  return typeof word === 'string' && PERMISSIONS.includes(word.toLowerCase()) ? word.toLowerCase() : word;
}

function moveInside(draft: Draft, key: string): void {
  const { value } = draft;
  if (!Object.hasOwn(value, key)) return;
  if (Object.hasOwn(value, 'safety') && !isPlain(value['safety'])) return;
  if (isPlain(value['safety']) && Object.hasOwn(value['safety'], key)) conflict(draft, key, `safety.${key}`);
  else {
    const safety = draft.origins.begin(
      isPlain(value['safety']) ? value['safety'] : {},
      pathOf(draft, 'safety'),
      draft.problems,
    );
    safety.value[key] = value[key];
    safety.moved.set(key, pathOf(draft, key));
    value['safety'] = finish(safety);
  }
  delete value[key];
}
