/** `parallel` with `steps`: each member is a branch, and a member that is a list is a pipeline. */
import { isPlain, join, pathOf, type Draft } from '../draft.ts';

export function rewriteParallel(draft: Draft): void {
  const { value } = draft;
  if (value['type'] !== 'parallel' || !Array.isArray(value['steps'])) return;
  const path = pathOf(draft, 'steps');
  if (Object.hasOwn(value, 'branches')) {
    draft.conflicts.push({ path, key: 'steps', other: 'branches' });
  } else {
    const branches = value['steps'].map((member: unknown, index) => branchOf(member, join(path, index), draft));
    draft.origins.set(branches, path);
    value['branches'] = branches;
    draft.moved.set('branches', path);
  }
  delete value['steps'];
}

/** The branch is ours, its only step is the author's: both are found at the author's place. */
function branchOf(member: unknown, path: string, draft: Draft): unknown {
  if (Array.isArray(member)) return member;
  if (isPlain(member) && member['type'] === undefined && Array.isArray(member['steps']) && Object.keys(member).length === 1) {
    draft.origins.set(member['steps'], join(path, 'steps'));
    return member['steps'];
  }
  const branch = [member];
  draft.origins.set(branch, path, new Map([['0', path]]));
  return branch;
}
