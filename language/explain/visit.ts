/** Every step of a definition and of the definitions nested in it, each with its path; bounded. */
import { blocksOf } from '../blocks.ts';
import type { Definition, Step } from '../model.ts';

export type KnownRefs = (name: string) => Definition | undefined;

export interface Visited {
  step: Step;
  path: string;
  /** How deep in other steps. */
  depth: number;
}

const visitedMax = 20_000;

/** Depth first, in the order of the definition. A definition that several `$ref`s name is visited once. */
export function visitSteps(definition: Definition, known: KnownRefs, visit: (visited: Visited) => void): void {
  const seen = new Set<string>([definition.name]);
  let visited = 0;
  const steps = (list: readonly Step[], path: string, depth: number): void => {
    list.forEach((step, index) => {
      if (visited >= visitedMax) return;
      visited += 1;
      const at = `${path}.${index}`;
      visit({ step, path: at, depth });
      for (const { key, steps: inner } of blocksOf(step)) steps(inner, `${at}.${key}`, depth + 1);
      if (step.type === 'sentinel') nested(step.definition, at, depth + 1);
    });
  };
  const nested = (inner: Extract<Step, { type: 'sentinel' }>['definition'], path: string, depth: number): void => {
    const found = '$ref' in inner ? (seen.has(inner.$ref) ? undefined : known(inner.$ref)) : inner;
    if (found === undefined) return;
    if ('$ref' in inner) seen.add(inner.$ref);
    whole(found, `${path}/`, depth);
  };
  const whole = (found: Definition, prefix: string, depth: number): void => {
    steps(found.steps, `${prefix}steps`, depth);
    steps(found.always ?? [], `${prefix}always`, depth);
  };
  whole(definition, '', 0);
}
