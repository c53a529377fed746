/**
 * Editing the steps of a run while it runs: what is refused, and what an accepted edit leaves in the
 * position.
 *
 * - E1 What is under way or past for good is never changed: what ran is what its definition said.
 * - E2 Every edit names the revision it saw, and makes the next one.
 * - E3 Frames move with the steps they stand at; keys of what is under way stay as they are, and what
 *   begins later carries the revision in its key (edited-paths.ts), so no key is ever used twice.
 * - E4 A segment walks a copy of its strand: nothing is edited while one is in flight.
 */
import type { Catalogue } from '../language/catalogue.ts';
import { linesOf } from '../language/blocks.ts';
import { applyEdit, pathAfter, placeIn, stepAt, type StepEdit } from '../language/edit.ts';
import type { Step, Definition, StepType } from '../language/model.ts';
import type { Edited } from '../language/events/run-event.ts';
import { isJsonObject, valueFault, type Json, type ValueFault } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import { record, type Walk } from './walk-state.ts';
import { openIn, type BlockFrame, askedIn } from './position.ts';
import { textFieldsOf } from './program.ts';
import { openBlocks, openFrames, revisionOf, scopesOf, type OpenBlock } from './edited-paths.ts';
import { labelOf } from './build-effect.ts';

export interface EditRequest {
  op: Edited['op'];
  path: string;
  /** For `add` and `update`: the whole step, in any spelling. */
  step?: Json;
  /** The revision of the definition that was seen. */
  revision: number;
  by: string;
  note?: string;
}

/** The step of an edit in its canonical form, where it has one, with the commands that it names. */
export interface CheckedStep {
  step: Step | null;
  catalogue: Catalogue;
}

export interface EditReply extends Pick<Edited, 'op' | 'path' | 'revision' | 'before' | 'after'> {
  /** When the change is first seen: in the pass under way, or from the next one. */
  from: 'now' | 'next-pass';
}

export interface EditRefusal {
  code: 'EDIT_STALE' | 'EDIT_INVALID' | 'STEP_NOT_FOUND' | 'STEP_PAST' | 'STEP_UNDER_WAY' | ValueFault['code'];
  message: string;
}

/** How a place of the definition stands to where the run is. */
export type Standing = 'now' | 'next-pass' | 'past' | 'not-taken' | 'under-way';

const underWay = new WeakMap<Walk, Set<BlockFrame>>();

/** Says that the step a frame is at has begun; the way back ends it. */
export function begun(walk: Walk, frame: BlockFrame): () => void {
  const frames = underWay.get(walk) ?? new Set();
  underWay.set(walk, frames);
  frames.add(frame);
  return () => frames.delete(frame);
}

export function isUnderWay(walk: Walk, frame: BlockFrame): boolean {
  return underWay.get(walk)?.has(frame) === true || frame.step !== undefined || frame.attempt !== undefined;
}

export const isSegmentInFlight = ({ segments = 0 }: Walk): boolean => segments > 0;

/** Null when the edit may be made now. What its step holds is for the reader to judge. */
export function editRefusal(walk: Walk, request: EditRequest): EditRefusal | null {
  const { op, path, revision } = request;
  const { handle, definition } = walk.input;
  const beyond = valueFault(request, `the edit of ${handle}`);
  if (beyond !== null) return beyond;
  const misshapen = shapeFinding(request);
  if (misshapen !== null) return { code: 'EDIT_INVALID', message: `this is no edit of ${handle}: ${misshapen}` };
  if (revision !== revisionOf(walk)) {
    return {
      code: 'EDIT_STALE',
      message: `${handle} is at revision ${revisionOf(walk)} and the edit was made for ${revision}; look at its steps again with "sentinel step list ${handle}"`,
    };
  }
  const isThere =
    op === 'add' ? applyEdit(definition, { op, path, step: anyStep }) !== null : stepAt(definition, path) !== null;
  if (!isThere)
    return {
      code: 'STEP_NOT_FOUND',
      message: `${handle} has no place "${path}"; "sentinel step list ${handle}" shows those there are`,
    };
  if (op === 'skip' && path.includes('.definition.')) {
    return {
      code: 'STEP_NOT_FOUND',
      message: `"${path}" is a step of a nested run: skip it there, through the key of the step that started it`,
    };
  }
  return standingRefusal(handle, path, standingOf(openBlocks(walk), walk, op, path));
}

const anyStep: Step = { type: 'emit', event: 'any' };

function shapeFinding({ op, path, step, revision, by, note }: EditRequest): string | null {
  if (!['add', 'update', 'remove', 'skip'].includes(op)) return '"op" is none of add, update, remove, skip';
  if (typeof path !== 'string' || path.length > 1000) return '"path" is no path of a step';
  if (typeof revision !== 'number') return '"revision" says not which revision was seen';
  if (typeof by !== 'string' || (note !== undefined && typeof note !== 'string')) return '"by" and "note" are texts';
  const needsStep = op === 'add' || op === 'update';
  if (needsStep !== (step !== undefined && isJsonObject(step)))
    return needsStep ? `"${op}" needs a step, which is a JSON object` : `"${op}" takes no step`;
  return null;
}

function standingRefusal(handle: string, path: string, standing: Standing): EditRefusal | null {
  switch (standing) {
    case 'now':
    case 'next-pass':
      return null;
    case 'under-way':
      return {
        code: 'STEP_UNDER_WAY',
        message: `"${path}" of ${handle} is under way; edit the steps inside it or of the run it started, or wait until it has ended`,
      };
    case 'past':
    case 'not-taken':
      return {
        code: 'STEP_PAST',
        message: `"${path}" of ${handle} is past and no further pass comes to it; edit what is still ahead, or fork the run`,
      };
    default:
      return standing satisfies never;
  }
}

export function standingOf(open: readonly OpenBlock[], walk: Walk, op: EditRequest['op'], path: string): Standing {
  const blocks = new Map(open.map((block) => [block.path, block]));
  let outer: OpenBlock | undefined;
  for (const { block, index, isLast } of placesOn(path)) {
    const here = blocks.get(block);
    if (here === undefined) return outer === undefined ? 'now' : standingInside(outer, block);
    const { at } = here.frame;
    const isBefore = here.ended || index < at;
    const isHeld = index === at && isUnderWay(walk, here.frame);
    if (isBefore || (isLast && isHeld && op === 'add')) return here.again ? 'next-pass' : 'past';
    if (!isHeld) return 'now';
    if (isLast) return 'under-way';
    outer = here;
  }
  return 'now';
}

/** A block inside a step that is under way, which is not the one it is in. */
function standingInside({ frame, again }: OpenBlock, block: string): Standing {
  const open = openIn(frame);
  if (/\.definition\.(?:steps|always)$/.test(block)) return 'under-way';
  if (open?.type === 'parallel' && open.items !== undefined) return 'under-way';
  if (open?.type !== 'condition' || block.endsWith('.always')) return 'now';
  return again ? 'next-pass' : 'not-taken';
}

/** `steps.2.then.0` stands in `steps` at 2, and there in `steps.2.then` at 0. */
function placesOn(path: string): { block: string; index: number; isLast: boolean }[] {
  const words = path.split('.');
  const places: { block: string; index: number; isLast: boolean }[] = [];
  for (const [at, word] of words.entries()) {
    if (/^\d+$/.test(word) && words[at - 1] !== 'branches')
      places.push({ block: words.slice(0, at).join('.'), index: Number(word), isLast: at === words.length - 1 });
  }
  return places;
}

/** Makes an edit that nothing refuses. */
export function takeEdit(walk: Walk, request: EditRequest, { step, catalogue }: CheckedStep): EditReply {
  const { op, path, by, note } = request;
  const open = openBlocks(walk);
  const from = standingOf(open, walk, op, path) === 'now' ? 'now' : 'next-pass';
  const before = op === 'add' ? null : stepAt(walk.input.definition, path);
  const after = op === 'skip' ? before : step;
  for (const frame of openFrames(walk)) if (isUnderWay(walk, frame)) frame.keySegment ??= String(frame.at);
  const edit = editOf(op, path, step);
  if (edit !== null) {
    shiftFrames(walk, open, edit);
    shiftResults(walk, edit);
    const definition = applyEdit(walk.input.definition, edit);
    if (definition === null) throw new Error(`bug: no place "${path}" to edit`);
    // A command that the run knows stays as it was when the run began.
    walk.input = { ...walk.input, definition, catalogue: { ...catalogue, ...walk.input.catalogue } };
    walk.textFields = textFieldsOf(walk.input);
  }
  shiftSkips(walk, request, edit);
  const { position } = walk;
  const revision = revisionOf(walk) + 1;
  position.revision = revision;
  const made = { op, path, revision, before, after };
  record(walk, { type: 'edited', key: '', ...made, by, from, ...defined({ note }) });
  return { ...made, from };
}

function editOf(op: EditRequest['op'], path: string, step: Step | null): StepEdit | null {
  if (op === 'skip') return null;
  if (op === 'remove') return { op, path };
  if (step === null) throw new Error(`bug: "${op}" without a step`);
  return { op, path, step };
}

function shiftFrames(walk: Walk, open: readonly OpenBlock[], { op, path }: StepEdit): void {
  const { block, index } = placeIn(path);
  const frame = open.find((other) => other.path === block)?.frame;
  if (frame === undefined || op === 'update') return;
  if (op === 'remove' && index < frame.at) frame.at -= 1;
  if (op === 'add' && (index < frame.at || (index === frame.at && isUnderWay(walk, frame)))) frame.at += 1;
}

/** Results that are read by the step's place go with the step. */
function shiftResults(walk: Walk, edit: StepEdit): void {
  for (const own of scopesOf(walk)) {
    const kept = Object.entries(own).filter(([name]) => name.startsWith('@steps.') || name.startsWith('@always.'));
    for (const [name] of kept) delete own[name];
    for (const [name, value] of kept) {
      const moved = pathAfter(edit, name.slice(1));
      if (moved !== null) own[`@${moved}`] = value;
    }
  }
}

function shiftSkips({ position }: Walk, { op, path }: EditRequest, edit: StepEdit | null): void {
  const before = position.skips ?? [];
  const skips = edit === null ? before : before.flatMap((skip) => pathAfter(edit, skip) ?? []);
  const after = op === 'skip' && !skips.includes(path) ? [...skips, path] : skips;
  if (after.length > 0) position.skips = after;
  else delete position.skips;
}

/** Takes up that a step is to be skipped: true once for each time somebody said so. */
export function takeSkip({ position }: Walk, path: string): boolean {
  const { skips } = position;
  if (skips?.includes(path) !== true) return false;
  const rest = skips.filter((skip) => skip !== path);
  if (rest.length > 0) position.skips = rest;
  else delete position.skips;
  return true;
}

/** The steps of a run as they stand: for whoever looks at a run before changing it. */

/**
 * `next`: a line of execution stands before it. `asks`: it waits for an answer. `waiting`: it has not
 * been reached. `skipped`: it will be, the next time it is reached. `not-taken`: the other branch was.
 */
export type StepState = 'done' | 'under-way' | 'asks' | 'next' | 'waiting' | 'skipped' | 'not-taken';

export interface ListedStep {
  path: string;
  type: StepType;
  label: string;
  state: StepState;
  /** Of a loop that is under way. */
  pass?: number;
  /** When a change of it would be seen; null where it can no longer be changed. */
  editable: 'now' | 'next-pass' | null;
  step: Step;
}

export interface StepList {
  handle: string;
  revision: number;
  pass: number;
  definition: Definition;
  steps: ListedStep[];
}

export function listSteps(walk: Walk): StepList {
  const { input, position } = walk;
  const { definition } = input;
  const open = openBlocks(walk);
  const frames = new Map(open.map(({ path, frame }) => [path, frame]));
  const steps = stepsWithin(definition, '').map(({ path, step }): ListedStep => {
    const standing = standingOf(open, walk, 'update', path);
    const frame = frames.get(path.slice(0, path.lastIndexOf('.')));
    const isAt = frame !== undefined && path.endsWith(`.${frame.at}`);
    const asks = isAt && mayAsk(frame) && position.questions.length > 0;
    const isNext = isAt && standing === 'now';
    const state =
      position.skips?.includes(path) === true ? 'skipped' : asks ? 'asks' : isNext ? 'next' : stateOf(standing);
    const inside = isAt && isUnderWay(walk, frame) ? openIn(frame) : undefined;
    const pass = inside?.type === 'loop' ? { pass: inside.loop.pass } : {};
    return {
      path,
      type: step.type,
      label: labelOf(step),
      state,
      ...pass,
      editable: standing === 'now' || standing === 'next-pass' ? standing : null,
      step,
    };
  });
  return { handle: input.handle, revision: revisionOf(walk), pass: position.loop.pass, definition, steps };
}

const mayAsk = (frame: BlockFrame): boolean =>
  askedIn(frame) !== undefined || ['failed', 'resting', 'model'].includes(frame.step?.type ?? '');

function stateOf(standing: Standing): StepState {
  if (standing === 'now') return 'waiting';
  return standing === 'under-way' || standing === 'not-taken' ? standing : 'done';
}

interface Found {
  path: string;
  step: Step;
}

function stepsWithin({ steps, always = [] }: Definition, prefix: string): Found[] {
  return [...stepsIn(steps, `${prefix}steps`), ...stepsIn(always, `${prefix}always`)];
}

function stepsIn(steps: readonly Step[], block: string): Found[] {
  return steps.flatMap((step, index) => [{ path: `${block}.${index}`, step }, ...within(step, `${block}.${index}`)]);
}

function within(step: Step, path: string): Found[] {
  switch (step.type) {
    case 'condition':
      return (['then', 'else', 'always'] as const).flatMap((name) => stepsIn(step[name] ?? [], `${path}.${name}`));
    case 'loop':
      return stepsIn(step.steps, `${path}.steps`);
    case 'parallel':
      return linesOf(step).flatMap(({ key, steps }) => stepsIn(steps, `${path}.${key}`));
    case 'sentinel':
      return '$ref' in step.definition ? [] : stepsWithin(step.definition, `${path}.definition.`);
    case 'shell':
    case 'command':
    case 'emit':
    case 'llm':
    case 'watch':
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
      return [];
    default:
      return step satisfies never;
  }
}
