/** The items of a parallel step over a list: each goes through the steps of the step once, with variables of its own. */
import { blocksOf } from '../language/blocks.ts';
import { tryEvaluate } from '../language/expression/evaluate.ts';
import { listOf } from '../language/expression/scope.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { Json } from '../language/json.ts';
import { valueBytesMax } from '../language/limits.ts';
import type { ParallelStep, Step } from '../language/model.ts';
import type { Place } from './effect.ts';
import type { Strand } from './host.ts';
import { namesAt } from './names.ts';
import type { BranchFrame, ItemsFrame } from './position.ts';
import type { Walk } from './walk-state.ts';

export interface Lines {
  branches: BranchFrame[];
  items?: ItemsFrame;
}

export interface Items {
  /** A failed item is a result like any other. */
  collects: boolean;
  /** The next item's line; undefined when all have begun. */
  begin(): BranchFrame | undefined;
  /** Keeps what the item set, or how it failed; a failure where the results grow beyond what a value may be. */
  end(branch: BranchFrame, failure?: FailureInfo): FailureInfo | null;
}

/** What a parallel step begins with. */
export function beginLines(walk: Walk, strand: Strand, step: ParallelStep, place: Place): Lines | FailureInfo {
  if (step.over === undefined)
    return { branches: (step.branches ?? []).map(() => ({ status: 'waiting', own: {}, block: { at: 0 } })) };
  const list = readList(walk, strand, step, place);
  if ('code' in list) return list;
  const count = list.items.length;
  return { branches: [], items: { begun: 0, count, bytes: 0, results: Array.from({ length: count }, () => null) } };
}

/** The list is read again each time the walk comes back to the step: it is in no frame. */
export function itemsOf(
  walk: Walk,
  strand: Strand,
  step: ParallelStep,
  place: Place,
  frame: ItemsFrame,
): Items | FailureInfo {
  const list = readList(walk, strand, step, place);
  if ('code' in list) return list;
  const { items } = list;
  if (items.length !== frame.count)
    return invalid(place, `"${step.over}" had ${frame.count} items when the step began, and has ${items.length} now`);
  const { as = 'item' } = step;
  const names = outputNames(step.steps ?? []);
  return {
    collects: step.itemErrors === 'collect',
    begin() {
      if (frame.begun >= frame.count) return undefined;
      frame.begun += 1;
      return { status: 'waiting', own: { [as]: items[frame.begun - 1] ?? null }, block: { at: 0 }, item: frame.begun };
    },
    end({ own, item = 0 }, failure) {
      const set = Object.entries(own).filter(([name]) => names.has(name));
      const result =
        failure === undefined
          ? Object.fromEntries(set)
          : { success: false, error: failure.message, code: failure.code };
      frame.results[item - 1] = result;
      frame.bytes += JSON.stringify(result).length;
      return frame.bytes > valueBytesMax ? tooLarge(place, frame) : null;
    },
  };
}

/** The variables that steps keep their results in. */
function outputNames(steps: readonly Step[]): Set<string> {
  return new Set(
    steps.flatMap((step) => [
      ...('outputTo' in step && step.outputTo !== undefined ? [step.outputTo] : []),
      ...blocksOf(step).flatMap(({ steps: inner }) => [...outputNames(inner)]),
    ]),
  );
}

function readList(
  walk: Walk,
  strand: Strand,
  { over = '' }: ParallelStep,
  place: Place,
): { items: readonly Json[] } | FailureInfo {
  const read = tryEvaluate(over, namesAt(walk, strand, place.passes, place.path));
  if (!read.ok) return invalid(place, `"${over}" ${read.message}`);
  const items = listOf(read.value);
  if (items !== undefined && items !== null) return { items };
  const found = read.value === undefined ? 'unresolved' : JSON.stringify(read.value).slice(0, 80);
  return invalid(place, `"${over}" is ${found}; it must give a list`);
}

const invalid = ({ path }: Place, finding: string): FailureInfo => ({
  code: 'LIST_INVALID',
  message: `${path}.over: ${finding}`,
  retryable: false,
});

const tooLarge = ({ key }: Place, { bytes, count }: ItemsFrame): FailureInfo => ({
  code: 'VALUE_TOO_LARGE',
  message: `${key}: the results of ${count} items have more than ${bytes} bytes as JSON, and at most ${valueBytesMax} are taken; set less in each item`,
  retryable: false,
});
