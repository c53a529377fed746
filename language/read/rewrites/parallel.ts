/** Branches of a parallel step: a member that is one step is a branch of one; `steps` are branches too. */
import { conflict, isPlain, join, pathOf, type Draft } from '../draft.ts';

export function rewriteParallel(draft: Draft): void {
  const { value } = draft;
  if (value['type'] !== 'parallel') return;
  const key = ['branches', 'steps'].find((name) => Array.isArray(value[name]));
  const members = key === undefined ? undefined : value[key];
  if (key === undefined || !Array.isArray(members)) return;
  const path = pathOf(draft, key);
  if (key === 'branches' && Object.hasOwn(value, 'steps')) conflict(draft, 'steps', 'branches');
  delete value['steps'];
  const branches = members.map((member: unknown, index) => branchOf(member, draft.origins.child(members, path, index), draft));
  draft.origins.copy(members, branches, path);
  value['branches'] = branches;
  draft.moved.set('branches', path);
}

/** The branch is ours, its only step is the author's: both are found at the author's place. */
function branchOf(member: unknown, path: string, draft: Draft): unknown {
  if (!isPlain(member)) return member;
  if (member['type'] === undefined && Array.isArray(member['steps']) && Object.keys(member).length === 1) {
    draft.origins.set(member['steps'], join(path, 'steps'));
    return member['steps'];
  }
  const branch = [member];
  draft.origins.set(branch, path, new Map([['0', path]]));
  return branch;
}
