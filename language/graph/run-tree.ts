/**
 * The steps of a run as a tree over which its events are laid, in the order of their numbers. The
 * tree begins as the definition that the run was started with; edits change how it stands.
 *
 * - A place is a step at a place of the definition. It is never taken away: what is removed or
 *   replaced only stands no longer, so what it did stays known.
 * - A key leads to its place through the words of its path (`steps.2~3.then.0~5`). A word never
 *   changes its meaning, so each is looked up once, in the tree as it stands when it first comes.
 * - A nested run has a standing of its own over the places that all runs of its step share.
 */
import type { Definition, Step } from '../model.ts';
import type { Edited, RunEvent } from '../run-event.ts';
import { foldRunEvent, foldStep, type StepState } from './run-states.ts';

/** What edits made of a step while the run went on. */
export type StepChange = 'added' | 'updated' | 'replaced' | 'removed';

export interface Place {
  step: Step | null;
  /** Every place that ever was in a block, in order, by the block's name inside the step (`then`, `branches.0`). */
  blocks: Map<string, Place[]>;
  state?: StepState;
  /** Of the run that the step starts, or of the run itself. */
  run?: StepState;
  change?: StepChange;
  /** Where it stood in its block when it was taken out of it. */
  was?: number;
  /** Of a nested sentinel: its definition without the steps, once it is known. */
  definition?: Definition;
  /** How the newest run of a nested sentinel stands, until the run around it changes its definition. */
  newest?: Standing;
}

/** How the steps stand now; `blocks` holds what stands in each. */
export interface Standing {
  place: Place;
  blocks: Map<string, Standing[]>;
}

export interface TreeParts {
  definition: Definition;
  known: (name: string) => Definition | undefined;
  /** Events of nested runs, by what their handle adds to the run's own. */
  nested: ReadonlyMap<string, readonly RunEvent[]>;
}

export class RunTree {
  readonly root: Standing;
  /** What each nested run was started with, by what its handle adds to the run's own. */
  readonly #started = new Map<string, Definition>();
  readonly #known: TreeParts['known'];
  readonly #nested: TreeParts['nested'];

  constructor({ definition, known, nested }: TreeParts, events: readonly RunEvent[]) {
    this.#known = known;
    this.#nested = nested;
    const place: Place = { step: null, blocks: new Map(), definition };
    this.root = { place, blocks: blocksOfDefinition(place, definition, '') };
    this.#fold(this.root, '', '', events);
  }

  /** The definition that a nested run was started with; undefined where its step is not known. */
  startedWith(under: string): Definition | undefined {
    return this.#started.get(under);
  }

  /** `prefix`: what the blocks of the run are called in the place that holds them. */
  #fold(top: Standing, under: string, prefix: string, events: readonly RunEvent[]): void {
    const places = new Map<string, Place>();
    const running = new Set<string>();
    for (const event of events.toSorted((a, b) => a.seq - b.seq)) {
      foldRunEvent(top.place, event);
      if (event.type === 'edited') edit(top, prefix, event);
      if (event.type !== 'step-started' && event.type !== 'step-finished') continue;
      const place = placeOf(places, top, prefix, pathOf(event.key));
      if (place === undefined) continue;
      place.state = foldStep(place.state, event, running);
      if (event.step === 'sentinel' && event.type === 'step-started') this.#foldNested(top, place, under === '' ? event.key : `${under}/${event.key}`);
    }
  }

  /** Where a nested run's step begins, nothing around it changes what it runs until it has ended. */
  #foldNested(top: Standing, place: Place, under: string): void {
    const standing = standingOf(top, place);
    if (standing === undefined || !this.#know(standing)) return;
    const own = copyOf(standing);
    const events = this.#nested.get(under);
    if (events === undefined) return;
    this.#started.set(under, definitionOf(own));
    place.newest = own;
    this.#fold(own, under, 'definition.', events);
  }

  /** The steps of a definition that is named are drawn from where it is known. */
  #know({ place, blocks }: Standing): boolean {
    if (place.definition !== undefined) return true;
    if (place.step?.type !== 'sentinel' || !('$ref' in place.step.definition)) return false;
    const definition = this.#known(place.step.definition.$ref);
    if (definition === undefined) return false;
    place.definition = definition;
    for (const [name, inner] of blocksOfDefinition(place, definition, 'definition.')) blocks.set(name, inner);
    return true;
  }
}

function blocksOfDefinition(place: Place, { steps, always }: Definition, prefix: string): Map<string, Standing[]> {
  const blocks = new Map<string, Standing[]>();
  for (const [name, inner] of Object.entries({ steps, always })) if (inner !== undefined) put(place, blocks, `${prefix}${name}`, inner);
  return blocks;
}

function put(place: Place, blocks: Map<string, Standing[]>, name: string, steps: readonly Step[]): void {
  const inner = steps.map((step) => standingFor(step));
  place.blocks.set(name, inner.map((standing) => standing.place));
  blocks.set(name, inner);
}

function standingFor(step: Step): Standing {
  const place: Place = { step, blocks: new Map() };
  const standing: Standing = { place, blocks: new Map() };
  if (step.type === 'sentinel' && !('$ref' in step.definition)) {
    place.definition = step.definition;
    standing.blocks = blocksOfDefinition(place, step.definition, 'definition.');
  }
  for (const [name, steps] of blocksIn(step)) put(place, standing.blocks, name, steps);
  return standing;
}

/** The blocks that a step holds itself, by name. */
function blocksIn(step: Step): [string, readonly Step[]][] {
  if (step.type === 'loop') return [['steps', step.steps]];
  if (step.type === 'parallel') return step.branches.map((branch, index) => [`branches.${index}`, branch]);
  if (step.type !== 'condition') return [];
  return (['then', 'else', 'always'] as const).flatMap((name) => (step[name] === undefined ? [] : [[name, step[name]]]));
}

function copyOf({ place, blocks }: Standing): Standing {
  return { place, blocks: new Map([...blocks].map(([name, inner]) => [name, inner.map(copyOf)])) };
}

/** The step as it stands, with what it holds. */
export function stepOf({ place, blocks }: Standing): Step {
  if (place.step === null) throw new Error('bug: a run is no step');
  return withBlocks(place.step, place.definition, (name) => blocks.get(name)?.map(stepOf));
}

function definitionOf({ place: { definition }, blocks }: Standing): Definition {
  if (definition === undefined) throw new Error('bug: a nested run without a definition');
  return withSteps(definition, (name) => blocks.get(`definition.${name}`)?.map(stepOf));
}

export function withSteps(definition: Definition, stepsIn: (name: string) => Step[] | undefined): Definition {
  const [steps = [], always] = [stepsIn('steps'), stepsIn('always')];
  return { ...definition, steps, ...(always === undefined || always.length === 0 ? {} : { always }) };
}

/** The step with other steps inside; `definition` where a nested one is known. */
export function withBlocks(step: Step, definition: Definition | undefined, stepsIn: (name: string) => Step[] | undefined): Step {
  switch (step.type) {
    case 'condition': {
      const blocks = (['then', 'else', 'always'] as const).flatMap((name) => {
        const steps = stepsIn(name);
        return steps === undefined ? [] : [[name, steps] as const];
      });
      return { ...step, ...Object.fromEntries(blocks) };
    }
    case 'loop':
      return { ...step, steps: stepsIn('steps') ?? [] };
    case 'parallel':
      return { ...step, branches: step.branches.map((_, index) => stepsIn(`branches.${index}`) ?? []) };
    case 'sentinel':
      return definition === undefined ? step : { ...step, definition: withSteps(definition, (name) => stepsIn(`definition.${name}`)) };
    case 'shell':
    case 'command':
    case 'llm':
    case 'watch':
    case 'emit':
    case 'approval':
      return step;
    default:
      return step satisfies never;
  }
}

/** `steps.2.branches.0.3` is at 2 in `steps`, and in that at 3 in `branches.0`. */
function placesOn(path: string): { block: string; word: string }[] {
  const places: { block: string; word: string }[] = [];
  let block: string[] = [];
  for (const word of path.split('.')) {
    if (/^\d/.test(word) && block.at(-1) !== 'branches') {
      places.push({ block: block.join('.'), word });
      block = [];
    } else block.push(word);
  }
  return places;
}

const pathOf = (key: string): string => key.slice(0, key.lastIndexOf('@') === -1 ? key.length : key.lastIndexOf('@'));

/** The place that a key's path leads to; the words up to it are kept in `places`. */
function placeOf(places: Map<string, Place>, top: Standing, prefix: string, path: string): Place | undefined {
  let here: Standing | undefined = top;
  let place: Place | undefined = top.place;
  let words = '';
  for (const { block, word } of placesOn(path)) {
    const called = word.replace(/#\d+$/, '');
    words = `${words}.${block}.${called}`;
    const name: string = here === top ? `${prefix}${block}` : block;
    const kept = places.get(words);
    const next: Standing | undefined = kept === undefined ? here?.blocks.get(name)?.[Number.parseInt(called, 10)] : here?.blocks.get(name)?.find((standing) => standing.place === kept);
    place = kept ?? next?.place;
    if (place === undefined) return undefined;
    places.set(words, place);
    here = next;
  }
  return place;
}

function standingOf(top: Standing, place: Place): Standing | undefined {
  if (top.place === place) return top;
  for (const inner of top.blocks.values()) {
    for (const standing of inner) {
      const found = standingOf(standing, place);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function edit(top: Standing, prefix: string, { op, path, before, after }: Edited): void {
  const words = placesOn(path);
  const last = words.pop();
  if (op === 'skip' || last === undefined) return;
  let here: Standing | undefined = top;
  let inBlock = prefix;
  for (const { block, word } of words) {
    here = here?.blocks.get(`${inBlock}${block}`)?.[Number(word)];
    inBlock = '';
    // The run around a nested one says anew what the next one runs.
    if (here !== undefined && here.place.newest !== undefined) delete here.place.newest;
  }
  if (here === undefined) return;
  const name = `${inBlock}${last.block}`;
  const standing = here.blocks.get(name) ?? [];
  const places = here.place.blocks.get(name) ?? [];
  const index = Number(last.word);
  const old = op === 'add' || before === null ? undefined : standing[index];
  if (old !== undefined) Object.assign(old.place, { change: op === 'update' ? 'replaced' : 'removed', was: index } satisfies Partial<Place>);
  const added = after === null || op === 'remove' ? [] : [standingFor(after)];
  for (const { place } of added) place.change = op === 'add' ? 'added' : 'updated';
  const next = standing[index];
  const at = next === undefined ? places.length : places.indexOf(next.place) + (old === undefined ? 0 : 1);
  here.place.blocks.set(name, places.toSpliced(at, 0, ...added.map(({ place }) => place)));
  here.blocks.set(name, standing.toSpliced(index, old === undefined ? 0 : 1, ...added));
}
