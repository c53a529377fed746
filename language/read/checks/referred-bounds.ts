/**
 * Loops without a bound in what a `$ref` leads to, for a run that bounds nothing inside it. A definition
 * with a limit of its own bounds all that it starts, so nothing behind it is looked at.
 */
import { blocksOf } from '../../blocks.ts';
import type { Definition, LoopConfig, Step } from '../../model.ts';
import { isReferredLater } from '../../references/written-references.ts';
import { definitionsFollowedMax, type KnownRefs } from './nesting.ts';
import { isPlain } from '../draft/draft.ts';

export interface UnboundedLoop {
  loop: LoopConfig['type'];
  /** The name of the definition it stands in. */
  definition: string;
}

/** The first that is found; what has no definition has no loop either. */
export function unboundedBehind(ref: string, knownRefs: KnownRefs): UnboundedLoop | undefined {
  const pending = [ref];
  const followed = new Set<string>();
  for (let name = pending.pop(); name !== undefined && followed.size < definitionsFollowedMax; name = pending.pop()) {
    const definition = knownRefs(name);
    if (definition === undefined || followed.has(name)) continue;
    followed.add(name);
    const { loops, refs } = unboundedIn(definition);
    const [loop] = loops;
    if (loop !== undefined) return { loop, definition: name };
    pending.push(...refs.filter((inner) => !isReferredLater(inner, (text) => knownRefs(text) !== undefined)));
  }
  return undefined;
}

/** The first in what the definition's own references lead to, where nothing in it would bound that. */
export function unboundedReference(definition: Definition, knownRefs: KnownRefs): string | undefined {
  for (const ref of unboundedIn(definition).refs) {
    const found = unboundedBehind(ref, knownRefs);
    if (found !== undefined) return unboundedSentence(ref, found);
  }
  return undefined;
}

/** What was found, up to where else a bound could stand. */
export function unboundedSentence(ref: string, { loop, definition }: UnboundedLoop): string {
  const through = ref === definition ? '' : ` (reached through "${ref}")`;
  return `"${loop}" in "${definition}"${through} can run for ever here; add "maxIterations" or "timeoutMs" to that loop`;
}

/** Loops that nothing in the definition bounds, and the `$ref`s that stand where nothing in it would. */
function unboundedIn(outermost: Definition): { loops: LoopConfig['type'][]; refs: string[] } {
  const loops: LoopConfig['type'][] = [];
  const refs: string[] = [];
  const definitions = [outermost];
  for (let definition = definitions.pop(); definition !== undefined; definition = definitions.pop()) {
    if (hasLimit(definition)) continue;
    if (!isLoopBounded(definition.loop, definition)) loops.push(definition.loop.type);
    for (const step of stepsWithin([...definition.steps, ...(definition.always ?? [])])) {
      if (step.type === 'loop' && !isLoopBounded(step.loop, step)) loops.push(step.loop.type);
      if (step.type !== 'sentinel') continue;
      if ('$ref' in step.definition) refs.push(step.definition.$ref);
      else definitions.push(step.definition);
    }
  }
  return { loops, refs };
}

function stepsWithin(block: readonly Step[]): readonly Step[] {
  const found: Step[] = [];
  const pending = [block];
  for (let steps = pending.pop(); steps !== undefined; steps = pending.pop()) {
    for (const step of steps) {
      found.push(step);
      for (const inner of blocksOf(step)) pending.push(inner.steps);
    }
  }
  return found;
}

/** Bounded by itself, or by the time its definition or step may take. */
export function isLoopBounded(loop: LoopConfig, owner: { timeoutMs?: unknown }): boolean {
  if (loop.type === 'once' || loop.type === 'count') return true;
  if (loop.max !== undefined || loop.maxIterations !== undefined || loop.timeoutMs !== undefined) return true;
  return typeof owner.timeoutMs === 'number';
}

/** Whether a run of it has a limit on its time or its passes. */
export function hasLimit({ safety, timeoutMs }: { safety?: unknown; timeoutMs?: unknown }): boolean {
  if (typeof timeoutMs === 'number') return true;
  return isPlain(safety) && (typeof safety['maxIterations'] === 'number' || typeof safety['timeoutMs'] === 'number');
}
