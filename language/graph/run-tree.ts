/**
 * The steps of a run as a tree over which its events are laid, in the order of their numbers. The
 * tree begins as the definition that the run was started with; edits change how it stands.
 *
 * - An entry is a step with all that is known of it. It is never taken away: what is removed or
 *   replaced only stands no longer, so what it did stays known.
 * - A key leads to its entry through the words of its path (`steps.2~3.then.0~5`). A word never
 *   changes its meaning, so each is looked up once, in the tree as it stands when it first comes.
 * - A nested run has a standing of its own over the entries that all runs of its step share. Each run
 *   of a definition that is named (`$ref`) begins alike: nothing around it can change its steps.
 */
import { blocksOf, withBlocks, withSteps } from '../blocks.ts';
import type { Definition, Step } from '../model.ts';
import { isCall } from '../models/turn-keys.ts';
import { NestedRuns } from '../events/nested-runs.ts';
import type { Edited, RunEvent } from '../events/run-event.ts';
import { foldRunEvent, foldStep, type StepState } from './run-states.ts';

/** What edits made of a step while the run went on. */
export type StepChange = 'added' | 'updated' | 'replaced' | 'removed';

export interface Entry {
  step: Step | null;
  /** Every entry that ever was in a block, in order, by the block's name inside the step (`then`, `branches.0`). */
  blocks: Map<string, Entry[]>;
  state?: StepState;
  /** Of the run that the step starts, or of the run itself. */
  run?: StepState;
  change?: StepChange;
  /** Where it stood in its block when it was taken out of it. */
  was?: number;
  /** Of a nested sentinel: its definition without the steps, once it is known. */
  definition?: Definition;
  /** Of a definition that is named: how its steps stand when a run of it begins, once it is known. */
  named?: Standing['blocks'];
  /** How the newest run of a nested sentinel stands, until the run around it changes its definition. */
  newest?: Standing;
}

/** How the steps stand now; `blocks` holds what stands in each. */
export interface Standing {
  entry: Entry;
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
  readonly #runs: NestedRuns;

  constructor({ definition, known, nested }: TreeParts, events: readonly RunEvent[]) {
    this.#known = known;
    this.#nested = nested;
    this.#runs = new NestedRuns(nested.keys());
    const entry: Entry = { step: null, blocks: new Map(), definition };
    this.root = { entry, blocks: blocksOfDefinition(entry, definition, '') };
    this.#fold(this.root, '', '', events);
  }

  /** The definition that a nested run was started with; undefined where its step is not known. */
  startedWith(under: string): Definition | undefined {
    return this.#started.get(under);
  }

  /** `prefix`: what the blocks of the run are called in the entry that holds them. */
  #fold(top: Standing, under: string, prefix: string, events: readonly RunEvent[]): void {
    const entries = new Map<string, Entry>();
    const running = new Set<string>();
    const started = this.#runs.startedIn(events, under);
    for (const event of events.toSorted((a, b) => a.seq - b.seq)) {
      foldRunEvent(top.entry, event);
      if (event.type === 'edited') edit(top, prefix, event);
      if ((event.type !== 'step-started' && event.type !== 'step-finished') || isCall(event.key)) continue;
      const entry = entryOf(entries, top, prefix, pathOf(event.key));
      if (entry === undefined) continue;
      entry.state = foldStep(entry.state, event, running);
      for (const name of started.get(event.seq) ?? []) this.#foldNested(top, entry, name);
    }
  }

  /** Where a nested run's step begins, nothing around it changes what it runs until it has ended. */
  #foldNested(top: Standing, entry: Entry, under: string): void {
    const events = this.#nested.get(under);
    const standing = standingOf(top, entry);
    if (events === undefined || standing === undefined) return;
    const own = this.#beginning(standing);
    if (own === undefined) return;
    this.#started.set(under, definitionOf(own));
    entry.newest = own;
    this.#fold(own, under, 'definition.', events);
  }

  /** How a run of the step stands when it begins; undefined where its definition is named and not known. */
  #beginning(standing: Standing): Standing | undefined {
    const { entry } = standing;
    if (entry.step?.type !== 'sentinel') return undefined;
    if (!('$ref' in entry.step.definition)) return copyOf(standing);
    const definition = entry.definition ?? this.#known(entry.step.definition.$ref);
    if (definition === undefined) return undefined;
    entry.definition = definition;
    entry.named ??= blocksOfDefinition(entry, definition, 'definition.');
    return copyOf({ entry, blocks: entry.named });
  }
}

function blocksOfDefinition(entry: Entry, { steps, always }: Definition, prefix: string): Map<string, Standing[]> {
  const blocks = new Map<string, Standing[]>();
  for (const [name, inner] of Object.entries({ steps, always }))
    if (inner !== undefined) put(entry, blocks, `${prefix}${name}`, inner);
  return blocks;
}

function put(entry: Entry, blocks: Map<string, Standing[]>, name: string, steps: readonly Step[]): void {
  const inner = steps.map((step) => standingFor(step));
  entry.blocks.set(
    name,
    inner.map((standing) => standing.entry),
  );
  blocks.set(name, inner);
}

function standingFor(step: Step): Standing {
  const entry: Entry = { step, blocks: new Map() };
  const standing: Standing = { entry, blocks: new Map() };
  if (step.type === 'sentinel' && !('$ref' in step.definition)) {
    entry.definition = step.definition;
    standing.blocks = blocksOfDefinition(entry, step.definition, 'definition.');
  }
  for (const { key, steps } of blocksOf(step)) put(entry, standing.blocks, key, steps);
  return standing;
}

function copyOf({ entry, blocks }: Standing): Standing {
  return { entry, blocks: new Map([...blocks].map(([name, inner]) => [name, inner.map(copyOf)])) };
}

/** The step as it stands, with what it holds; a definition that is named stays a name. */
export function stepOf({ entry, blocks }: Standing): Step {
  if (entry.step === null) throw new Error('bug: a run is no step');
  return withBlocks(entry.step, blocks.has('definition.steps') ? entry.definition : undefined, (name) =>
    blocks.get(name)?.map(stepOf),
  );
}

function definitionOf({ entry: { definition }, blocks }: Standing): Definition {
  if (definition === undefined) throw new Error('bug: a nested run without a definition');
  return withSteps(definition, (name) => blocks.get(`definition.${name}`)?.map(stepOf));
}

/** `steps.2.branches.0.3` is at 2 in `steps`, and in that at 3 in `branches.0`. */
function partsOf(path: string): { block: string; word: string }[] {
  const parts: { block: string; word: string }[] = [];
  let block: string[] = [];
  for (const word of path.split('.')) {
    if (/^\d/.test(word) && block.at(-1) !== 'branches') {
      parts.push({ block: block.join('.'), word });
      block = [];
    } else block.push(word);
  }
  return parts;
}

const pathOf = (key: string): string => key.slice(0, key.lastIndexOf('@') === -1 ? key.length : key.lastIndexOf('@'));

/** The entry that a key's path leads to; the words up to it are kept in `entries`. */
function entryOf(entries: Map<string, Entry>, top: Standing, prefix: string, path: string): Entry | undefined {
  let here: Standing | undefined = top;
  let entry: Entry | undefined = top.entry;
  let words = '';
  for (const { block, word } of partsOf(path)) {
    const called = word.replace(/#\d+$/, '');
    words = `${words}.${block}.${called}`;
    const name: string = here === top ? `${prefix}${block}` : block;
    const kept = entries.get(words);
    const next: Standing | undefined =
      kept === undefined
        ? here?.blocks.get(name)?.[Number.parseInt(called, 10)]
        : here?.blocks.get(name)?.find((standing) => standing.entry === kept);
    entry = kept ?? next?.entry;
    if (entry === undefined) return undefined;
    entries.set(words, entry);
    here = next;
  }
  return entry;
}

function standingOf(top: Standing, entry: Entry): Standing | undefined {
  if (top.entry === entry) return top;
  for (const inner of top.blocks.values()) {
    for (const standing of inner) {
      const found = standingOf(standing, entry);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

function edit(top: Standing, prefix: string, { op, path, before, after }: Edited): void {
  const words = partsOf(path);
  const last = words.pop();
  if (op === 'skip' || last === undefined) return;
  let here: Standing | undefined = top;
  let inBlock = prefix;
  for (const { block, word } of words) {
    here = here?.blocks.get(`${inBlock}${block}`)?.[Number(word)];
    inBlock = '';
    // The run around a nested one says anew what the next one runs.
    if (here !== undefined && here.entry.newest !== undefined) delete here.entry.newest;
  }
  if (here === undefined) return;
  const name = `${inBlock}${last.block}`;
  const standing = here.blocks.get(name) ?? [];
  const entries = here.entry.blocks.get(name) ?? [];
  const index = Number(last.word);
  const old = op === 'add' || before === null ? undefined : standing[index];
  if (old !== undefined)
    Object.assign(old.entry, { change: op === 'update' ? 'replaced' : 'removed', was: index } satisfies Partial<Entry>);
  const added = after === null || op === 'remove' ? [] : [standingFor(after)];
  for (const { entry } of added) entry.change = op === 'add' ? 'added' : 'updated';
  const next = standing[index];
  const at = next === undefined ? entries.length : entries.indexOf(next.entry) + (old === undefined ? 0 : 1);
  here.entry.blocks.set(name, entries.toSpliced(at, 0, ...added.map(({ entry }) => entry)));
  here.blocks.set(name, standing.toSpliced(index, old === undefined ? 0 : 1, ...added));
}
