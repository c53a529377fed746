/**
 * Edits of a definition's steps, as values. A path names a step by the blocks around it, at any
 * depth: `steps.2`, `steps.2.then.0`, `steps.1.branches.0.3`, `always.0`, and within an inline nested
 * definition `steps.4.definition.steps.0`.
 *
 * - Nothing is changed in place: an edit gives a new definition that shares what it did not touch.
 * - A path that leads to no place of the definition gives null, whatever it holds.
 * - Of a canonical definition, what the reader finds no fault with after an edit is canonical too.
 */
import type { ConditionStep, Definition, Step } from './model.ts';

export type StepEdit =
  /** Before the step at the path; behind the last one where the path counts one further. */
  { op: 'add'; path: string; step: Step } | { op: 'update'; path: string; step: Step } | { op: 'remove'; path: string };

type Change = (steps: readonly Step[], index: number) => Step[] | null;

export function applyEdit(definition: Definition, edit: StepEdit): Definition | null {
  return withinDefinition(definition, edit.path.split('.'), (steps, index) => {
    if (index > steps.length || (edit.op !== 'add' && index === steps.length)) return null;
    if (edit.op === 'add') return steps.toSpliced(index, 0, edit.step);
    return edit.op === 'update' ? steps.with(index, edit.step) : steps.toSpliced(index, 1);
  });
}

export function stepAt(definition: Definition, path: string): Step | null {
  let found: Step | null = null;
  withinDefinition(definition, path.split('.'), (steps, index) => {
    found = steps[index] ?? null;
    return null;
  });
  return found;
}

function withinDefinition(
  definition: Definition,
  [name, ...rest]: readonly string[],
  change: Change,
): Definition | null {
  if (name !== 'steps' && name !== 'always') return null;
  const block = withinBlock(definition[name] ?? [], rest, change);
  if (block === null) return null;
  if (name === 'steps' || block.length > 0) return { ...definition, [name]: block };
  const { always: _empty, ...others } = definition;
  return others;
}

function withinBlock(steps: readonly Step[], [word = '', ...rest]: readonly string[], change: Change): Step[] | null {
  if (!isIndex(word)) return null;
  const index = Number(word);
  if (rest.length === 0) return change(steps, index);
  const step = steps[index];
  const changed = step === undefined ? null : withinStep(step, rest, change);
  return changed === null ? null : steps.with(index, changed);
}

function withinStep(step: Step, [name, ...rest]: readonly string[], change: Change): Step | null {
  if (step.type === 'condition' && (name === 'then' || name === 'else' || name === 'always')) {
    const block = withinBlock(step[name] ?? [], rest, change);
    return block === null ? null : withBranch(step, name, block);
  }
  if (step.type === 'loop' && name === 'steps') {
    const steps = withinBlock(step.steps, rest, change);
    return steps === null ? null : { ...step, steps };
  }
  if (step.type === 'parallel' && name === 'branches') {
    const [word = '', ...deeper] = rest;
    const { branches = [] } = step;
    const branch = isIndex(word) ? branches[Number(word)] : undefined;
    const changed = branch === undefined ? null : withinBlock(branch, deeper, change);
    return changed === null ? null : { ...step, branches: branches.with(Number(word), changed) };
  }
  if (step.type === 'parallel' && name === 'steps' && step.steps !== undefined) {
    const steps = withinBlock(step.steps, rest, change);
    return steps === null ? null : { ...step, steps };
  }
  if (step.type === 'sentinel' && name === 'definition' && !('$ref' in step.definition)) {
    const definition = withinDefinition(step.definition, rest, change);
    return definition === null ? null : { ...step, definition };
  }
  return null;
}

/** Canonical form leaves out a clean-up without steps, and a branch where the other one has some; to a run it is the same. */
function withBranch(step: ConditionStep, name: 'then' | 'else' | 'always', block: Step[]): ConditionStep {
  const isNeeded = name !== 'always' && (step[name === 'then' ? 'else' : 'then'] ?? []).length === 0;
  if (block.length > 0 || isNeeded) return { ...step, [name]: block };
  const { [name]: _empty, ...rest } = step;
  return rest;
}

const isIndex = (word: string): boolean => /^(?:0|[1-9]\d{0,5})$/.test(word);

/** The block that a step stands in, and where. */
export function placeIn(path: string): { block: string; index: number } {
  const at = path.lastIndexOf('.');
  return { block: path.slice(0, at), index: Number(path.slice(at + 1)) };
}

/** How a path of the definition before the edit reads after it; null for what was removed. */
export function pathAfter({ op, path: edited }: Pick<StepEdit, 'op' | 'path'>, path: string): string | null {
  const { block, index } = placeIn(edited);
  if (op === 'update' || !path.startsWith(`${block}.`)) return path;
  const [word = '', ...rest] = path.slice(block.length + 1).split('.');
  const at = Number(word);
  if (op === 'remove' && at === index) return null;
  const moved = at < index ? at : at + (op === 'add' ? 1 : -1);
  return [block, moved, ...rest].join('.');
}
