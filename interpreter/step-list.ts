/** The steps of a run as they stand: for whoever looks at a run before changing it. */
import type { Definition, Step, StepType } from '../language/model.ts';
import { labelOf } from './effects.ts';
import { isUnderWay, reachOf, type Reach } from './edits.ts';
import { askedIn, openIn, type BlockFrame } from './position.ts';
import type { Walk } from './walk-state.ts';
import { openBlocks, revisionOf } from './edited-paths.ts';

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
    const reach = reachOf(open, walk, 'update', path);
    const frame = frames.get(path.slice(0, path.lastIndexOf('.')));
    const isAt = frame !== undefined && path.endsWith(`.${frame.at}`);
    const asks = isAt && mayAsk(frame) && position.questions.length > 0;
    const isNext = isAt && reach === 'now';
    const state =
      position.skips?.includes(path) === true ? 'skipped' : asks ? 'asks' : isNext ? 'next' : stateOf(reach);
    const inside = isAt && isUnderWay(walk, frame) ? openIn(frame) : undefined;
    const pass = inside?.type === 'loop' ? { pass: inside.loop.pass } : {};
    return {
      path,
      type: step.type,
      label: labelOf(step),
      state,
      ...pass,
      editable: reach === 'now' || reach === 'next-pass' ? reach : null,
      step,
    };
  });
  return { handle: input.handle, revision: revisionOf(walk), pass: position.loop.pass, definition, steps };
}

const mayAsk = (frame: BlockFrame): boolean =>
  askedIn(frame) !== undefined || frame.step?.type === 'failed' || frame.step?.type === 'resting';

function stateOf(reach: Reach): StepState {
  if (reach === 'now') return 'waiting';
  return reach === 'under-way' || reach === 'not-taken' ? reach : 'done';
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
      return step.branches.flatMap((branch, index) => stepsIn(branch, `${path}.branches.${index}`));
    case 'sentinel':
      return '$ref' in step.definition ? [] : stepsWithin(step.definition, `${path}.definition.`);
    case 'shell':
    case 'command':
    case 'emit':
    case 'llm':
    case 'watch':
    case 'approval':
      return [];
    default:
      return step satisfies never;
  }
}
