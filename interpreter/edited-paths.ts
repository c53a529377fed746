/**
 * Where the steps of a key path stand in the definition now.
 *
 * A key never changes once its step has begun, but an edit may move the step. So the frame of a step
 * that is under way holds the word that its keys use (`frame.keySegment`), beside where it stands (`at`):
 * a key path leads through the frames of the position to the path of the definition.
 */
import type { Definition, Step } from '../language/model.ts';
import type { Strand } from './host.ts';
import { attemptPath, definitionPath } from './keys.ts';
import type { Walk } from './walk-state.ts';
import { openIn, type BlockFrame, type Position } from './position.ts';
import type { Variables } from './effect.ts';
import { CONTEXT_BLOCK } from './pass-context.ts';
import { stepsAt } from './program.ts';

/** What a segment must know of the edits of its run. */
export interface EditedStrand {
  revision: number;
  /** The strand's path in the definition. */
  at: string;
  skips: string[];
}

export function editedStrand(walk: Walk, strand: Pick<Strand, 'path'>): { edited?: EditedStrand } {
  const revision = revisionOf(walk);
  if (revision === 0) return {};
  const at = strand.path === '' ? '' : definitionPathOf(walk, strand.path);
  return {
    edited: {
      revision,
      at,
      skips: (walk.position.skips ?? []).filter((skip) => at === '' || skip.startsWith(`${at}.`)),
    },
  };
}

export const revisionOf = ({ position }: { position: Position }): number => position.revision ?? 0;

/** How the keys of the step that a frame is at call it: a step that begins after an edit carries its revision. */
export function keySegmentOf(walk: Walk, frame: BlockFrame): string {
  const revision = revisionOf(walk);
  return frame.keySegment ?? (revision === 0 ? String(frame.at) : `${frame.at}~${revision}`);
}

/** The path of the definition that a key's path means. */
export function definitionPathOf(walk: Walk, path: string): string {
  if (revisionOf(walk) === 0) return definitionPath(path);
  const { anchor } = walk;
  if (anchor !== undefined && (path === anchor.path || path.startsWith(`${anchor.path}.`))) {
    return follow(
      anchor.at,
      anchor.block,
      path
        .slice(anchor.path.length + 1)
        .split('.')
        .filter((word) => word !== ''),
    );
  }
  const [first = '', ...rest] = path.split('.');
  return follow(first, blockNamed(first, walk.position), rest);
}

function blockNamed(name: string, { cleanUp, loop }: Position): BlockFrame | undefined {
  if (name === 'always') return cleanUp?.block;
  return name === CONTEXT_BLOCK ? loop.context?.block : loop.block;
}

function follow(path: string, frame: BlockFrame | undefined, [word, ...rest]: readonly string[]): string {
  if (word === undefined) return path;
  const called = definitionWord(word);
  const isThere = frame !== undefined && (frame.keySegment ?? String(frame.at)) === unattempted(word);
  const here = `${path}.${isThere ? frame.at : called}`;
  const [name, branch] = rest;
  if (name === undefined) return here;
  const inner = isThere ? innerFrame(frame, name, branch) : undefined;
  return name === 'branches'
    ? follow(`${here}.${name}.${branch ?? ''}`, inner, rest.slice(2))
    : follow(`${here}.${name}`, inner, rest.slice(1));
}

const unattempted = (word: string): string => word.replace(/#\d+$/, '');
const definitionWord = (word: string): string => definitionPath(word);

/** The frame of a block inside the step that a frame is at. */
function innerFrame(frame: BlockFrame, name: string, branch: string | undefined): BlockFrame | undefined {
  const open = openIn(frame);
  if (open?.type === 'condition')
    return name === 'always' ? open.cleanUp?.block : open.branch === name ? open.block : undefined;
  if (open?.type === 'loop') return name === 'steps' ? open.loop.block : undefined;
  // Of items several frames may be at one place; their steps are not edited while they are under way.
  return open?.type === 'parallel' && name === 'branches' ? open.branches[Number(branch)]?.block : undefined;
}

/** The steps of a block, by its path in keys. */
export function stepsOf(walk: Walk, path: string): readonly Step[] {
  return stepsAt(walk.input.definition, definitionPathOf(walk, path));
}

/** The steps of the blocks around a step may have been edited since it began. */
export function stepNow<Held extends Step>(walk: Walk, step: Held, path: string): Held {
  if (revisionOf(walk) === 0) return step;
  const where = definitionPathOf(walk, path);
  const at = where.lastIndexOf('.');
  const now = stepsAt(walk.input.definition, where.slice(0, at))[Number(where.slice(at + 1))];
  if (now?.type !== step.type) throw new Error(`bug: step "${path}" is not where its frame says`);
  return now as Held;
}

export const stepPath = (walk: Walk, block: string, frame: BlockFrame): string =>
  attemptPath(`${block}.${keySegmentOf(walk, frame)}`, frame.attempt);

/** A block that is open somewhere in the position, by its path in the definition. */
export interface OpenBlock {
  path: string;
  frame: BlockFrame;
  /** Another pass over it may come. */
  again: boolean;
  /** Its steps have ended; only another pass runs them again. */
  ended: boolean;
}

/** Every block that is open, outermost first. */
export function openBlocks({ position, input: { definition } }: Walk): OpenBlock[] {
  const blocks: OpenBlock[] = [];
  const cleaning = position.cleanUp !== undefined;
  const again = !cleaning && hasPasses(position.loop, definition.loop);
  collect(
    blocks,
    { path: 'steps', frame: position.loop.block, again, ended: cleaning || position.loop.between },
    definition.steps,
  );
  if (position.cleanUp !== undefined)
    collect(
      blocks,
      { path: 'always', frame: position.cleanUp.block, again: false, ended: false },
      definition.always ?? [],
    );
  return blocks;
}

function collect(blocks: OpenBlock[], block: OpenBlock, steps: readonly Step[]): void {
  blocks.push(block);
  const { frame, again, ended } = block;
  const open = openIn(frame);
  const step = steps[frame.at];
  if (open === undefined || step === undefined || ended) return;
  const path = `${block.path}.${frame.at}`;
  if (open.type === 'condition' && step.type === 'condition') {
    const { branch, cleanUp } = open;
    collect(
      blocks,
      { path: `${path}.${branch}`, frame: open.block, again, ended: cleanUp !== undefined },
      step[branch] ?? [],
    );
    if (cleanUp !== undefined)
      collect(blocks, { path: `${path}.always`, frame: cleanUp.block, again, ended: false }, step.always ?? []);
  } else if (open.type === 'loop' && step.type === 'loop') {
    const { loop } = open;
    collect(
      blocks,
      { path: `${path}.steps`, frame: loop.block, again: again || hasPasses(loop, step.loop), ended: loop.between },
      step.steps,
    );
  } else if (open.type === 'parallel' && step.type === 'parallel' && open.items === undefined) {
    for (const [index, { block: inner, status }] of open.branches.entries()) {
      const over = status === 'done' || status === 'failed' || status === 'cancelled';
      collect(
        blocks,
        { path: `${path}.branches.${index}`, frame: inner, again, ended: over },
        step.branches?.[index] ?? [],
      );
    }
  }
}

/** Whether a loop may make another pass, as far as its bounds say. */
function hasPasses({ pass, max }: Position['loop'], config: Definition['loop']): boolean {
  if (config.type === 'once') return false;
  if (max !== null && pass >= max) return false;
  return config.type === 'count' && typeof config.max === 'number' ? pass < config.max : true;
}

/** The frame of every block that is open, of the items of a list too, whose places are shared. */
export function openFrames({ position }: Pick<Walk, 'position'>): BlockFrame[] {
  const frames: BlockFrame[] = [];
  const visit = (frame: BlockFrame): void => {
    frames.push(frame);
    const open = openIn(frame);
    if (open?.type === 'condition') {
      visit(open.block);
      if (open.cleanUp !== undefined) visit(open.cleanUp.block);
    } else if (open?.type === 'loop') visit(open.loop.block);
    else if (open?.type === 'parallel') for (const { block } of open.branches) visit(block);
  };
  visit(position.loop.block);
  if (position.cleanUp !== undefined) visit(position.cleanUp.block);
  return frames;
}

/** Every set of variables that the run's lines have set. */
export function scopesOf(walk: Pick<Walk, 'position'>): Variables[] {
  const lines = openFrames(walk).flatMap((frame) => {
    const open = openIn(frame);
    return open?.type === 'parallel' ? open.branches : [];
  });
  return [walk.position.own, ...lines.map(({ own }) => own)];
}
