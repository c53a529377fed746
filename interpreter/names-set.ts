/**
 * Which names a run's definitions give a value somewhere: inputs, results, values of `set`, items of loops. One of
 * these that has no value where a command line reads it is not the shell's: the shell would find nothing either, and
 * `rm -rf $dir/*` would be another command. Pure facts of a definition.
 */
import { blocksOf } from '../language/blocks.ts';
import { shellLineOf, type Catalogue } from '../language/catalogue.ts';
import { inputNames } from '../language/inputs/declared-inputs.ts';
import type { Definition, Step } from '../language/model.ts';
import { variablesSetBy } from '../language/references/variables-set.ts';
import type { Variables } from './effect.ts';
import type { RunInput } from './host.ts';

const setIn = new WeakMap<Definition, ReadonlySet<string>>();

export function namesSetIn(definition: Definition): ReadonlySet<string> {
  const before = setIn.get(definition);
  if (before !== undefined) return before;
  const names = new Set(inputNames(definition));
  const { loop } = definition;
  if ('as' in loop && loop.as !== undefined) names.add(loop.as);
  everyStep(definition, (step) => {
    for (const name of variablesSetBy(step)) names.add(name);
    if (step.type === 'loop' && 'as' in step.loop && step.loop.as !== undefined) names.add(step.loop.as);
    if (step.type === 'parallel' && step.as !== undefined) names.add(step.as);
  });
  setIn.set(definition, names);
  return names;
}

function everyStep({ steps, always = [] }: Definition, see: (step: Step) => void): void {
  everyStepIn(steps, see);
  everyStepIn(always, see);
}

/** Those inside others too; of a nested definition none. */
export function everyStepIn(block: readonly Step[], see: (step: Step) => void): void {
  for (const step of block) {
    see(step);
    for (const inner of blocksOf(step)) everyStepIn(inner.steps, see);
  }
}

/** Whether the run's definition, or one around it, gives the name a value somewhere. */
export const isNameOfRun = ({ definition, unset = [] }: RunInput, name: string): boolean =>
  namesSetIn(definition).has(name) || unset.includes(name);

/** What a nested run is told of the names of the runs around it: those that its lines read, and that have no value. */
export function unsetFor(
  { definition: around, unset = [], library, catalogue }: RunInput,
  definition: Definition,
  base: Variables,
): string[] {
  const names = [...new Set([...namesSetIn(around), ...unset])].filter((name) => !Object.hasOwn(base, name));
  if (names.length === 0) return [];
  const lines = [definition, ...Object.values(library)].flatMap((one) => linesOf(one, catalogue));
  return names.filter((name) => lines.some((line) => line.includes(name)));
}

/** Of all shell lines of a definition, and of those that are written in it. */
function linesOf(definition: Definition, catalogue: Catalogue): string[] {
  const lines: string[] = [];
  everyStep(definition, (step) => {
    if (step.type === 'shell' && step.args === undefined) lines.push(step.command);
    const line = step.type === 'command' ? shellLineOf(catalogue, step) : undefined;
    if (line !== undefined) lines.push(line);
    if (step.type === 'sentinel' && !('$ref' in step.definition)) lines.push(...linesOf(step.definition, catalogue));
  });
  return lines;
}
