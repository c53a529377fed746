/** Branches of a parallel step: a member that is one step is a branch of one, one that has steps has these; `steps` are branches too. */
import { conflict, infer, isPlain, join, pathOf, type Draft } from '../draft.ts';

export function rewriteParallel(draft: Draft): void {
  const { value } = draft;
  if (value['type'] !== 'parallel') return;
  listNamed(draft);
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

/** Branches by name are branches in that order. */
function listNamed(draft: Draft): void {
  const { branches } = draft.value;
  if (!isPlain(branches) || Object.hasOwn(branches, 'steps')) return;
  const path = pathOf(draft, 'branches');
  const names = Object.keys(branches);
  const list = Object.values(branches);
  draft.origins.set(list, path, new Map(names.map((name, index) => [String(index), join(path, name)])));
  draft.value['branches'] = list;
  infer(draft, `runs the branches ${names.join(', ')}, which are a list without names`);
}

/** What a pipeline that is a branch may say besides its steps; a branch has no name. */
const OF_A_BRANCH: ReadonlySet<string> = new Set(['steps', 'name', 'id', 'label', 'description']);

/** The branch is ours, its only step is the author's: both are found at the author's place. */
function branchOf(member: unknown, path: string, draft: Draft): unknown {
  if (!isPlain(member)) return member;
  if (member['type'] === undefined && Array.isArray(member['steps']) && Object.keys(member).every((key) => OF_A_BRANCH.has(key))) {
    draft.origins.set(member['steps'], join(path, 'steps'));
    return member['steps'];
  }
  const branch = [member];
  draft.origins.set(branch, path, new Map([['0', path]]));
  return branch;
}
