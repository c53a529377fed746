/**
 * The canonical tree as flat lists: every definition, loop and step with the author's path of it and
 * what encloses it. The checks that follow each walk these lists. A step or loop that the schema
 * refused is listed as it was mended, or not at all, so that a check never meets a value it cannot
 * trust; its inner steps are, and the names it would set.
 */
import type { Catalogue } from '../../catalogue.ts';
import { LoopConfig, type Step } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import { checkDefinitionSchema, checkStepSchema, notAStep, OWN_WORDS, type Found } from './schema.ts';
import { isPlain, type Origins, type Plain } from '../draft/draft.ts';

export interface DefinitionSite {
  value: Plain;
  path: string;
  /** The sentinel step it stands in; undefined for the outermost definition. */
  parent: Place | undefined;
  depth: number;
}

export interface LoopSite {
  loop: LoopConfig;
  path: string;
  place: Place;
  /** The definition or the step the loop belongs to. */
  owner: Plain;
  /** Its passes are items of a parallel step, which do not see one another. */
  isApart?: true;
}

/** A loop whose passes may have an item each. */
export type ItemSite = LoopSite & { loop: Exclude<LoopConfig, { type: 'once' } | { type: 'event' }> };

export function takesItem(site: LoopSite): site is ItemSite {
  return site.loop.type !== 'once' && site.loop.type !== 'event';
}

/** Where a step stands: its definition and the loops around it, innermost last. */
export interface Place {
  definition: DefinitionSite;
  loops: readonly LoopSite[];
}

export interface StepSite {
  step: Step;
  path: string;
  place: Place;
}

export interface Sites {
  definitions: DefinitionSite[];
  loops: LoopSite[];
  steps: StepSite[];
  /** What steps that the schema refused would set: their names are not missing once those are mended. */
  refused: Array<{ name: string; definition: DefinitionSite }>;
  /** Every list of steps, to find the empty ones. */
  lists: Array<{ path: string; length: number }>;
}

export function collectSites(root: unknown, origins: Origins, problems: Problem[], catalogue: Catalogue): Sites {
  const sites: Sites = { definitions: [], loops: [], steps: [], refused: [], lists: [] };
  new Walk(sites, { origins, problems, catalogue }).definition(root, '', undefined);
  return sites;
}

/** Of a step that sets variables. */
const valuesSet = ({ type, values }: Plain): string[] => (type === 'set' && isPlain(values) ? Object.keys(values) : []);

class Walk {
  readonly #sites: Sites;
  readonly #found: Found;

  constructor(sites: Sites, found: Found) {
    this.#sites = sites;
    this.#found = found;
  }

  definition(value: unknown, path: string, parent: Place | undefined): void {
    const { names } = checkDefinitionSchema(value, path, this.#found);
    if (!isPlain(value) || Object.hasOwn(value, '$ref')) return;
    const site: DefinitionSite = { value, path, parent, depth: parent === undefined ? 0 : parent.definition.depth + 1 };
    this.#sites.definitions.push(site);
    this.#refuse(names, site);
    const place: Place = { definition: site, loops: parent?.loops ?? [] };
    this.#steps(value, 'steps', path, this.#withLoop(value, path, place));
    this.#steps(value, 'always', path, place);
  }

  /** The place inside the loop that `owner.loop` describes. */
  #withLoop(owner: Plain, path: string, place: Place): Place {
    const parsed = LoopConfig.safeParse(owner['loop'], OWN_WORDS);
    if (!parsed.success) {
      this.#refuse([isPlain(owner['loop']) ? owner['loop']['as'] : undefined], place.definition);
      return place;
    }
    const site: LoopSite = {
      loop: owner['loop'] as LoopConfig,
      path: this.#found.origins.locate(owner, path, ['loop']),
      place,
      owner,
    };
    this.#sites.loops.push(site);
    return { ...place, loops: [...place.loops, site] };
  }

  /** Inside a parallel step over a list it is as in a loop over it, but that no item sees what another sets. */
  #withItems(step: Plain, path: string, place: Place): Place {
    const { over, as } = step;
    if (typeof over !== 'string' || typeof as !== 'string') return place;
    const { origins } = this.#found;
    const loop: LoopConfig = { type: 'count', max: 0, over, as };
    origins.set(loop, path, new Map(['over', 'as'].map((key) => [key, origins.locate(step, path, [key])])));
    const site: LoopSite = { loop, path, place, owner: step, isApart: true };
    this.#sites.loops.push(site);
    return { ...place, loops: [...place.loops, site] };
  }

  #steps(owner: Plain, key: string, path: string, place: Place): void {
    const list = owner[key];
    if (Array.isArray(list)) this.#list(list, this.#found.origins.locate(owner, path, [key]), place);
  }

  #list(list: unknown[], path: string, place: Place): void {
    this.#sites.lists.push({ path, length: list.length });
    list.forEach((step, index) => this.#step(step, this.#found.origins.locate(list, path, [index]), place));
  }

  #refuse(names: readonly unknown[], definition: DefinitionSite): void {
    this.#sites.refused.push(...names.flatMap((name) => (typeof name === 'string' ? [{ name, definition }] : [])));
  }

  #step(value: unknown, path: string, place: Place): void {
    if (!isPlain(value)) return notAStep(value, path, this.#found);
    // As the author wrote them: what stands in for a list that is none has nothing in it.
    const lists = ['then', 'else', 'always', 'steps'].filter((key) => Array.isArray(value[key]));
    const { branches } = value;
    const { isKnown, names } = checkStepSchema(value, path, this.#found);
    if (isKnown) this.#sites.steps.push({ step: value as Step, path, place });
    this.#refuse(isKnown ? names : [value['name'], value['outputTo'], ...valuesSet(value), ...names], place.definition);
    const inside =
      value['type'] === 'loop'
        ? this.#withLoop(value, path, place)
        : value['type'] === 'parallel'
          ? this.#withItems(value, path, place)
          : place;
    for (const key of lists) this.#steps(value, key, path, inside);
    if (Array.isArray(branches)) {
      const at = this.#found.origins.locate(value, path, ['branches']);
      branches.forEach((branch: unknown, index) => {
        if (Array.isArray(branch)) this.#list(branch, this.#found.origins.child(branches, at, index), place);
      });
    }
    if (value['type'] === 'sentinel' && Object.hasOwn(value, 'definition')) {
      this.definition(value['definition'], this.#found.origins.locate(value, path, ['definition']), place);
    }
  }
}
