/** Which steps set which variables, and where each step stands among the branches around it. */
import { variablesSetBy } from '../../references/variables-set.ts';
import { inputNames } from '../../inputs/declared-inputs.ts';
import { isPlain, type Plain } from '../draft/draft.ts';
import type { DefinitionSite, Sites, StepSite } from './sites.ts';

export interface Setter {
  site: StepSite;
  /** Position in the order of the definition. */
  order: number;
}

export interface Setters {
  /** A step with its place in the order. */
  siteOf(step: object): Setter | undefined;
  /** The steps of a definition that set a name, in order; empty when something else may set it as well. */
  onlySetters(name: string, definition: DefinitionSite): readonly Setter[];
  /** Whether the name is an input that the definition declares, and nothing in it or around it sets. */
  isInputAlone(name: string, definition: DefinitionSite): boolean;
  /** The branches of conditions around a step in its own definition, outermost first. */
  waysTo(site: StepSite): readonly Way[];
  /** Whether both stand in one parallel step, in different branches. */
  areSiblings(a: StepSite, b: StepSite): boolean;
}

type Branches = ReadonlyMap<object, number>;

/** One of the branches of a condition, or its clean-up. */
export interface Way {
  condition: object;
  check: unknown;
  key: string;
}

interface Around {
  /** The parallel steps, with the branch of each. */
  branches: Branches;
  ways: readonly Way[];
}

export function collectSetters(sites: Sites): Setters {
  const byStep = new Map<object, Setter>();
  const byName = new Map<DefinitionSite, Map<string, Setter[]>>();
  const elsewhere = new Map<DefinitionSite, Set<string>>();
  const around = whatIsAround(sites);
  for (const site of sites.definitions) {
    byName.set(site, new Map());
    elsewhere.set(site, new Set(inputNames(site.value)));
  }
  for (const { loop, place } of sites.loops)
    if ('as' in loop && loop.as !== undefined) elsewhere.get(place.definition)?.add(loop.as);
  for (const { name, definition } of sites.refused) elsewhere.get(definition)?.add(name);
  sites.steps.forEach((site, order) => {
    const setter = { site, order };
    const { step } = site;
    byStep.set(step, setter);
    for (const name of new Set([step.name, ...variablesSetBy(step)])) {
      if (name === undefined) continue;
      const names = byName.get(site.place.definition);
      names?.set(name, [...(names.get(name) ?? []), setter]);
    }
    if (step.type !== 'sentinel' || '$ref' in step.definition) return;
    const child = sites.definitions.find((definition) => definition.value === (step.definition as unknown));
    for (const name of Object.keys(step.inputs ?? {})) if (child !== undefined) elsewhere.get(child)?.add(name);
  });
  return {
    siteOf: (step) => byStep.get(step),
    onlySetters(name, definition) {
      if (elsewhere.get(definition)?.has(name) === true) return [];
      for (let at = definition.parent?.definition; at !== undefined; at = at.parent?.definition) {
        if (byName.get(at)?.has(name) === true || elsewhere.get(at)?.has(name) === true) return [];
      }
      return byName.get(definition)?.get(name) ?? [];
    },
    isInputAlone: (name, definition) =>
      definition.parent === undefined &&
      inputNames(definition.value).includes(name) &&
      byName.get(definition)?.has(name) !== true,
    waysTo: ({ step }) => around.get(step)?.ways ?? [],
    areSiblings: (a, b) => differ(around.get(a.step)?.branches, around.get(b.step)?.branches),
  };
}

/** For each step what is around it in its own definition. */
function whatIsAround(sites: Sites): Map<object, Around> {
  const found = new Map<object, Around>();
  const list = (steps: unknown, around: Around): void => {
    if (Array.isArray(steps)) for (const step of steps) if (isPlain(step)) visit(step, around);
  };
  const visit = (step: Plain, around: Around): void => {
    found.set(step, around);
    for (const key of ['then', 'else', 'always'])
      list(step[key], { ...around, ways: [...around.ways, { condition: step, check: step['check'], key }] });
    list(step['steps'], around);
    const branches = step['branches'];
    if (Array.isArray(branches))
      branches.forEach((branch, index) =>
        list(branch, { ...around, branches: new Map([...around.branches, [step, index]]) }),
      );
  };
  for (const { value } of sites.definitions)
    for (const key of ['steps', 'always']) list(value[key], { branches: new Map(), ways: [] });
  return found;
}

function differ(a: Branches | undefined, b: Branches | undefined): boolean {
  return (
    a !== undefined &&
    b !== undefined &&
    [...a].some(([parallel, branch]) => b.has(parallel) && b.get(parallel) !== branch)
  );
}
