/** The items of a parallel step over a list: each goes through the steps of the step once, with variables of its own. */
import { blocksOf } from '../../language/blocks.ts';
import { previewOf, shortened } from '../../language/events/preview.ts';
import { tryEvaluate } from '../../language/expression/evaluate.ts';
import { listOf } from '../../language/expression/scope.ts';
import type { ItemsEnd } from '../../language/events/run-event.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { itemShownMax, listBytesMax } from '../../language/limits.ts';
import type { ParallelStep, Step } from '../../language/model.ts';
import { variablesSetBy } from '../../language/references/variables-set.ts';
import { defined } from '../../language/defined.ts';
import type { Place } from '../effect.ts';
import type { Strand } from '../host.ts';
import { namesAt } from '../names.ts';
import type { BranchFrame } from '../position.ts';
import type { ItemsFrame } from '../items-frame.ts';
import { record, type Walk } from '../walk-state.ts';

export interface Lines {
  branches: BranchFrame[];
  items?: ItemsFrame;
}

export interface Items {
  /** A failed item is a result like any other. */
  collects: boolean;
  /** The next item's line; undefined when all have begun. */
  begin(): BranchFrame | undefined;
  /** Keeps what the item set, or how it failed. */
  end(branch: BranchFrame, failure?: FailureInfo): void;
}

/** Fields of a large result of which the small ones are kept. */
const fieldsKeptMax = 50;

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
  const names = namesSetIn(step.steps ?? []);
  return {
    collects: step.itemErrors === 'collect',
    begin() {
      const number = nextItem(frame);
      if (number === undefined) return undefined;
      return { status: 'waiting', own: { [as]: items[number - 1] ?? null }, block: { at: 0 }, item: number };
    },
    end({ own, item: number = 0 }, failure) {
      const index = number - 1;
      if (failure !== undefined) (frame.failed ??= []).push(number);
      const result =
        failure === undefined
          ? Object.fromEntries(Object.entries(own).filter(([name]) => names.has(name)))
          : failedEntry(failure, index, items[index] ?? null);
      keep(walk, place, frame, index, result);
    },
  };
}

/** Counts from 1; undefined where all have begun. */
function nextItem(frame: ItemsFrame): number | undefined {
  const [again, ...later] = frame.again ?? [];
  if (again !== undefined) {
    if (later.length === 0) delete frame.again;
    else frame.again = later;
    return again;
  }
  if (frame.begun >= frame.count) return undefined;
  frame.begun += 1;
  return frame.begun;
}

/** Items that have not begun, or are to begin once more. */
export const itemsLeft = ({ count, begun, again = [] }: ItemsFrame): number => count - begun + again.length;

/** Which items an event names. */
const failedShownMax = 100;

/** What became of the items; `branches`: those that failed and are no result, or were cancelled. */
export function itemsEnd(
  { count, failed = [], retraced }: ItemsFrame,
  branches: readonly Pick<BranchFrame, 'item' | 'status'>[],
): ItemsEnd {
  const others = branches.flatMap(({ status, item = 0 }) => (status === 'failed' ? [item] : []));
  const at = [...failed, ...others].toSorted((a, b) => a - b).map((item) => item - 1);
  return {
    count,
    failed: at.length,
    ...(at.length === 0 ? {} : { failedAt: at.slice(0, failedShownMax) }),
    ...defined({ retraced }),
  };
}

/** The variables that steps set, as the item's result has them. */
function namesSetIn(steps: readonly Step[]): Set<string> {
  return new Set(
    steps.flatMap((step) => [
      ...variablesSetBy(step),
      ...blocksOf(step).flatMap(({ steps: inner }) => [...namesSetIn(inner)]),
    ]),
  );
}

/** Which item it was, and why it failed; `index` counts from 0, as the list is read. */
const failedEntry = ({ message, code }: FailureInfo, index: number, item: Json): JsonObject => ({
  success: false,
  error: message,
  code,
  index,
  item: shownItem(item),
});

/** The item itself where it is small, else how it begins. */
function shownItem(item: Json): Json {
  if (typeof item === 'string') return shortened(item, itemShownMax);
  return JSON.stringify(item).length <= itemShownMax ? item : previewOf(item);
}

/** What has been done is not lost to the size of the sum: beyond it an item's large values are left out, and nothing else. */
function keep(walk: Walk, place: Place, frame: ItemsFrame, index: number, result: JsonObject): void {
  const bytes = JSON.stringify(result).length;
  if (frame.bytes + bytes <= listBytesMax) {
    frame.results[index] = result;
    frame.bytes += bytes;
    return;
  }
  const kept = Object.fromEntries(Object.entries(result).map(([name, value]) => [name, withoutLarge(value)]));
  frame.results[index] = kept;
  frame.bytes += JSON.stringify(kept).length;
  if (frame.cut === true) return;
  frame.cut = true;
  const message = `${place.key}: the results of the items have more than ${listBytesMax} bytes as JSON, so of item ${index} and those that end after it only small values are kept; set less in each item, or keep it in files and set their paths`;
  record(walk, { type: 'warning', key: place.key, code: 'VALUE_TOO_LARGE', message });
}

/** In place of a large value, how large it was; a result keeps its small fields. */
function withoutLarge(value: Json, isField = false): Json {
  const bytes = JSON.stringify(value).length;
  if (bytes <= itemShownMax) return value;
  if (isField || !isJsonObject(value)) return { omitted: 'VALUE_TOO_LARGE', bytes };
  const fields = Object.entries(value).map(([name, field]): [string, Json] => [name, withoutLarge(field, true)]);
  return fields.length > fieldsKeptMax ? { omitted: 'VALUE_TOO_LARGE', bytes } : Object.fromEntries(fields);
}

function readList(
  walk: Walk,
  strand: Strand,
  { over = '' }: ParallelStep,
  place: Place,
): { items: readonly Json[] } | FailureInfo {
  const read = tryEvaluate(over, namesAt(walk, strand, place.passes, place.path));
  if (!read.ok) return invalid(place, `"${over}" ${read.message}`);
  if (read.lost !== undefined)
    return invalid(place, `"${over}" reads ${read.lost.join(', ')}, which has no value here`);
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
