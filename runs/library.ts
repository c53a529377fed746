/** The definitions that a definition's `$ref`s lead to: a run carries them all from its start. */
import { blocksOf } from '../language/blocks.ts';
import type { Definition, Step } from '../language/model.ts';

/** By name, with those that a variable may name `besides`; a name that `known` does not have is left out, and fails its step when it is reached. */
export function libraryOf(
  definition: Definition,
  known: (name: string) => Definition | undefined,
  besides: readonly string[] = [],
): { [name: string]: Definition } {
  const library: { [name: string]: Definition } = {};
  const waiting = [...referencesOf(definition), ...besides];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (Object.hasOwn(library, name)) continue;
    const found = known(name);
    if (found === undefined) continue;
    library[name] = found;
    waiting.push(...referencesOf(found));
  }
  return library;
}

/** The names that a definition's own `$ref`s hold, those in definitions written inside it included. */
export function referencesOf({ steps, always = [] }: Pick<Definition, 'steps' | 'always'>): string[] {
  return [...steps, ...always].flatMap((step) => namedIn(step));
}

function namedIn(step: Step): string[] {
  if (step.type !== 'sentinel') return blocksOf(step).flatMap(({ steps }) => steps.flatMap((inner) => namedIn(inner)));
  return '$ref' in step.definition ? [step.definition.$ref] : referencesOf(step.definition);
}
