/**
 * What a loop reads before its passes: `max`, and the list `over`, of which pass N binds item N−1.
 *
 * Both are read as the loop starts. One that has no value by then, and that a step of the loop sets, is read again
 * after the first pass, and fails the loop if it has none still. Its first pass binds its item as soon as the list is
 * there: until then it is kept as a late item, beside the variables of its line under a name that begins with `@`, so
 * that segments, branches and the next run of a long history have it too.
 */
import { tryEvaluate, type Evaluation } from '../../language/expression/evaluate.ts';
import { parseExpression, referencesOf } from '../../language/expression/parse.ts';
import { listOf } from '../../language/expression/scope.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import type { Definition, LoopConfig, Step } from '../../language/model.ts';
import { variablesSetBy } from '../../language/references/variables-set.ts';
import { unknownInCheck } from '../build-effect.ts';
import { stepsOf } from '../edited-paths.ts';
import type { Strand } from '../host.ts';
import { stepKey } from '../keys.ts';
import { everyStepIn } from '../names-set.ts';
import { namesAt } from '../names.ts';
import type { LoopFrame } from '../position.ts';
import { setVariable, type Walk } from '../walk-state.ts';

export interface LoopBlock {
  config: LoopConfig;
  /** Path of the loop step; empty for the run's own loop. */
  path: string;
  passes: readonly number[];
  isRoot: boolean;
}

type Moment = 'start' | 'first-pass';

export const bodyOf = (block: LoopBlock): string => (block.isRoot ? 'steps' : `${block.path}.steps`);
export const loopPath = (block: LoopBlock): string => (block.isRoot ? 'loop' : `${block.path}.loop`);

/** The failure of a loop whose bound is none, as it starts. */
export function readBounds(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): FailureInfo | null {
  return readMax(walk, strand, block, frame, 'start') ?? readOver(walk, strand, block, 'start');
}

/** The same after the first pass, for what had no value before it. */
export function readLateBounds(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): FailureInfo | null {
  if (frame.pass !== 1) return null;
  const failure = frame.max === null ? readMax(walk, strand, block, frame, 'first-pass') : null;
  return failure ?? (lateItemAt(strand, block) === null ? null : readOver(walk, strand, block, 'first-pass'));
}

function readMax(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame, moment: Moment): FailureInfo | null {
  const { config } = block;
  if (config.type === 'once' || config.max === undefined) return null;
  if (typeof config.max === 'number') {
    frame.max = config.max;
    return null;
  }
  const result = tryEvaluate(config.max, namesAt(walk, strand, block.passes, block.path));
  const given = result.ok ? result.value : undefined;
  const value = listOf(given)?.length ?? given;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  const lost = (result.ok ? result.lost : undefined) ?? [];
  if (lost.length === 0 && typeof count === 'number' && Number.isFinite(count) && count >= 0) {
    frame.max = Math.floor(count);
    return null;
  }
  if (moment === 'start' && isLate(walk, block, config.max, result)) return null;
  const where = moment === 'start' ? 'here' : 'after the first pass';
  const finding =
    lost.length > 0
      ? `reads ${lost.join(', ')}, which has no value ${where}`
      : result.ok
        ? `is ${value === undefined ? 'unresolved' : JSON.stringify(value).slice(0, 80)}${moment === 'start' ? '' : ` ${where}`}`
        : result.message;
  return {
    code: 'LOOP_BOUND_INVALID',
    message: `${loopPath(block)}.max: "${config.max}" ${finding}; it must give a number of passes`,
    retryable: false,
  };
}

/** A list without a value gives every pass an item that is none. */
function readOver(walk: Walk, strand: Strand, block: LoopBlock, moment: Moment): FailureInfo | null {
  const { config } = block;
  if (!hasItems(config)) return null;
  const read = tryEvaluate(config.over, namesAt(walk, strand, [...block.passes, 1], bodyOf(block)));
  if (!read.ok || (moment === 'start' && isLate(walk, block, config.over, read))) return null;
  const at = loopPath(block);
  return unknownInCheck(
    walk,
    stepKey(at, block.passes),
    `${at}.over`,
    read.value === undefined ? [config.over] : read.lost,
  );
}

/** It has no value yet, and steps of the loop give it one. */
function isLate(walk: Walk, block: LoopBlock, expression: string, read: Evaluation): boolean {
  return !isResolved(read) && isSetInside(expression, stepsOf(walk, bodyOf(block)));
}

const isResolved = (read: Evaluation): boolean =>
  read.ok && read.value !== undefined && read.value !== null && (read.lost ?? []).length === 0;

/** Results of steps, read by place or label. */
const RESULTS: ReadonlySet<string> = new Set(['steps', 'loop', 'named']);

function isSetInside(expression: string, body: readonly Step[]): boolean {
  const parsed = parseExpression(expression);
  if (!parsed.ok) return false;
  const names = namesSetIn(body);
  return referencesOf(parsed.expression).some(({ name }) => RESULTS.has(name) || names.has(name));
}

function namesSetIn(steps: readonly Step[]): Set<string> {
  const names = new Set<string>();
  everyStepIn(steps, (step) => {
    for (const name of variablesSetBy(step)) names.add(name);
    if (step.name !== undefined) names.add(step.name);
    if (step.type === 'loop' && hasItems(step.loop)) names.add(step.loop.as);
  });
  return names;
}

type WithItems = LoopConfig & { over: string; as: string };

const hasItems = (config: LoopConfig): config is WithItems =>
  config.type !== 'once' && config.type !== 'event' && config.over !== undefined && config.as !== undefined;

/** Binds the item of the pass that begins, or keeps that it is to be bound once the list is there. */
export function bindItem(walk: Walk, strand: Strand, block: LoopBlock, frame: LoopFrame): void {
  const { config } = block;
  if (!hasItems(config)) return;
  const passes = [...block.passes, frame.pass];
  const at = bodyOf(block);
  const read = tryEvaluate(config.over, namesAt(walk, strand, passes, at));
  setVariable(walk, strand, config.as, itemIn(read, frame.pass) ?? null);
  const name = lateName(config.as);
  if (isLate(walk, block, config.over, read)) strand.own[name] = { over: config.over, at, passes };
  else if (Object.hasOwn(strand.own, name)) strand.own[name] = null;
}

const itemIn = (read: Evaluation, pass: number): Json | undefined =>
  read.ok ? listOf(read.value)?.[pass - 1] : undefined;

const lateName = (as: string): string => `@item.${as}`;

interface LateItem {
  over: string;
  /** The body of its loop, by its path in keys. */
  at: string;
  passes: number[];
}

/** A step has ended: what it set may be the list that a pass around it waits for. */
export function bindLateItems(walk: Walk, strand: Strand, path: string): void {
  for (const as of lateItemsOf(walk.input.definition)) {
    const late = lateItem(strand, as);
    if (late === null || (path !== late.at && !path.startsWith(`${late.at}.`))) continue;
    const read = tryEvaluate(late.over, namesAt(walk, strand, late.passes, late.at));
    if (!isResolved(read)) continue;
    setVariable(walk, strand, as, itemIn(read, late.passes.at(-1) ?? 1) ?? null);
    strand.own[lateName(as)] = null;
  }
}

function lateItem({ own, outer }: Strand, as: string): LateItem | null {
  const name = lateName(as);
  const kept = [own, ...outer].find((scope) => Object.hasOwn(scope, name))?.[name];
  return isJsonObject(kept) ? (kept as unknown as LateItem) : null;
}

function lateItemAt(strand: Strand, { config }: LoopBlock): LateItem | null {
  return hasItems(config) ? lateItem(strand, config.as) : null;
}

const lateIn = new WeakMap<Definition, readonly string[]>();

/** Items that may be late: their lists are set by steps of their own loops. A pure fact of the definition. */
function lateItemsOf(definition: Definition): readonly string[] {
  const before = lateIn.get(definition);
  if (before !== undefined) return before;
  const names = new Set<string>();
  const look = (loop: LoopConfig, body: readonly Step[]): void => {
    if (hasItems(loop) && isSetInside(loop.over, body)) names.add(loop.as);
  };
  look(definition.loop, definition.steps);
  everyStepIn([...definition.steps, ...(definition.always ?? [])], (step) => {
    if (step.type === 'loop') look(step.loop, step.steps);
  });
  lateIn.set(definition, [...names]);
  return [...names];
}
