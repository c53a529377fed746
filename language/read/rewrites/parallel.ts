/** Branches of a parallel step: a member that is one step is a branch of one, one that has steps has these; `steps` are branches too. */
import { conflict, infer, isObject, isPlain, join, pathOf, rename, type Draft } from '../draft/draft.ts';
import { rewriteList } from './loop.ts';
import { rewriteVariable } from './names.ts';
import { holdsOnlySteps, isStep, stepList } from './step-list.ts';

export function rewriteParallel(draft: Draft): void {
  const { value } = draft;
  if (value['type'] !== 'parallel') return;
  rename(draft, 'concurrency', 'maxConcurrency');
  if (Object.hasOwn(value, 'over') && Object.hasOwn(value, 'branches')) keepBranches(draft);
  else if (Object.hasOwn(value, 'over')) return rewriteItems(draft);
  for (const name of ['branches', 'steps']) listOne(draft, name);
  listNamed(draft);
  const key = ['branches', 'steps'].find((name) => Array.isArray(value[name]));
  const members = key === undefined ? undefined : value[key];
  if (key === undefined || !Array.isArray(members)) return;
  const path = pathOf(draft, key);
  if (key === 'branches' && Object.hasOwn(value, 'steps')) conflict(draft, 'steps', 'branches');
  delete value['steps'];
  const branches = members.map((member: unknown, index) =>
    branchOf(member, draft.origins.child(members, path, index), draft),
  );
  draft.origins.copy(members, branches, path);
  value['branches'] = branches;
  draft.moved.set('branches', path);
}

/** What the step goes over, and what it does for each item, is said and left out. */
function keepBranches(draft: Draft): void {
  draft.problems.push({
    code: 'CONFLICTING_KEYS',
    severity: 'error',
    path: pathOf(draft, 'over'),
    message:
      '"over" and "branches" do not go together: a step over a list has "steps", which each item goes through; keep one of them',
    fix: 'remove "over"',
  });
  for (const key of ['over', 'as', 'steps', 'itemErrors']) delete draft.value[key];
}

/** The steps of one body, and what an item of the list is called where nobody says. */
function rewriteItems(draft: Draft): void {
  const { value } = draft;
  rewriteList(draft);
  rewriteVariable(draft, 'as');
  value['as'] ??= 'item';
  if (isPlain(value['steps']) && isStep(value['steps']))
    value['steps'] = stepList(value['steps'], pathOf(draft, 'steps'), draft.origins);
}

/** One step is one branch; an object of nothing but lists and steps has branches by name. */
function listOne(draft: Draft, key: string): void {
  const one = draft.value[key];
  if (!isPlain(one) || !isStep(one)) return;
  const inner = Object.values(one);
  const isOne = inner.some((item) => !isObject(item)) || (inner.length === 1 && !Array.isArray(inner[0]));
  if (isOne) draft.value[key] = stepList(one, pathOf(draft, key), draft.origins);
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

/** The branch is ours, its only step is the author's: both are found at the author's place. */
function branchOf(member: unknown, path: string, draft: Draft): unknown {
  if (!isPlain(member)) return member;
  if (holdsOnlySteps(member)) return stepList(member, path, draft.origins);
  const branch = [member];
  draft.origins.set(branch, path, new Map([['0', path]]));
  return branch;
}
