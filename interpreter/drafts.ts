/**
 * Definitions that a model of the run has drafted: a step hands one over by a reference that leads to what a model said.
 * What was said may come from a text that the model read, so a draft runs `sandboxed` and calls no more than its model
 * could, unless the definition says `trustDrafts`.
 *
 * Which value a model has said is a fact of the definition, looked up from the reference back: through `set`, the items
 * of loops and lists, command lines, parameters and results of other steps. What a run of its own was given is as
 * trusted as whoever gave it; what a nested run was given is not.
 */
import { asksModels, entryOf, SHELL_COMMAND, startsRuns, type Catalogue } from '../language/catalogue.ts';
import { parseExpression, referencesOf, type FoundReference } from '../language/expression/parse.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { CommandStep, Definition, LlmStep, Step } from '../language/model.ts';
import { handedIn } from '../language/read/started-program.ts';
import { referencesIn } from '../language/references/written-references.ts';
import { variablesSetBy } from '../language/references/variables-set.ts';
import { beyondTools, draftRemedy } from '../language/rights/brought-program.ts';
import { stricter } from '../language/permissions.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { CommandEffect, RunLimits } from './effect.ts';
import { everyStepIn } from './names-set.ts';
import { callable } from './offered.ts';
import type { Walk } from './walk-state.ts';

/** What the drafting model could call; of several models, what all of them could. */
export type Hands = readonly string[];

/** A draft that a step hands to a command which stores or starts it; null where it hands none. */
export function draftHanded(walk: Walk, step: CommandStep, params: CommandEffect['params']): Hands | null {
  const entry = entryOf(walk.input.catalogue, step.command);
  if (entry.otherRuns !== 'defines' && !startsRuns(entry)) return null;
  const handed = handedIn(params);
  // A name finds what was stored, with the rights that it was stored with.
  if (entry.otherRuns !== 'defines' && (handed === null || 'name' in handed)) return null;
  return handsBehind(walk, [step.params?.['definition'] ?? null, step.params?.['steps'] ?? null]);
}

/** Of templates whose references are read in the run; null where no model has said what they stand for. */
export function handsBehind(walk: Walk, written: readonly Json[]): Hands | null {
  if (walk.input.definition.trustDrafts === true) return null;
  const texts = written.filter((one) => typeof one === 'string');
  return new Sources(walk).of(texts.flatMap((text) => referencesIn(text)));
}

/** How a run of the draft is held. */
export const heldAsDraft = (limits: RunLimits, hands: Hands): RunLimits => {
  const mode = stricter('sandboxed', limits.mode);
  return { ...limits, ...(mode === 'full' ? {} : { mode }), brought: { tools: [...hands] } };
};

/** Why the step may not run it, if it does more. */
export function draftFailure(
  { input }: Walk,
  key: string,
  { definition, catalogue }: { definition: Definition; catalogue: Catalogue },
  hands: Hands,
): FailureInfo | null {
  const beyond = beyondTools(definition, { ...catalogue, ...input.catalogue }, hands);
  if (beyond === null) return null;
  const message = `${key}: the definition "${definition.name}" does more than the model that drafted it: ${beyond}; ${draftRemedy}`;
  return { code: 'RIGHTS_EXCEEDED', message, retryable: false };
}

/** Names of what is read by the places of steps. */
const PLACES: ReadonlySet<string> = new Set(['steps', 'loop']);

class Sources {
  readonly #walk: Walk;
  readonly #steps: Step[] = [];
  readonly #seen = new Set<string>();

  constructor(walk: Walk) {
    this.#walk = walk;
    const { steps, always = [] } = walk.input.definition;
    everyStepIn([...steps, ...always], (step) => this.#steps.push(step));
  }

  of(references: readonly FoundReference[]): Hands | null {
    return references.map((reference) => this.#behind(reference)).reduce(common, null);
  }

  #behind({ name, path }: FoundReference): Hands | null {
    const [first] = path;
    if (name === 'input' && first !== undefined) return this.#given(first);
    if (PLACES.has(name) || (name === 'named' && first === undefined))
      return this.#steps.map((step) => this.#saidBy(step)).reduce(common, null);
    return this.#named(name === 'named' && first !== undefined ? first : name);
  }

  #named(name: string): Hands | null {
    if (this.#seen.has(name)) return null;
    this.#seen.add(name);
    const items = this.#lists(name).map((over) => this.of(readBy(over)));
    const setting = this.#steps.filter((step) => step.name === name || variablesSetBy(step).includes(name));
    if (items.length + setting.length === 0) return this.#given(name);
    return [...items, ...setting.map((step) => this.#saidBy(step, name))].reduce(common, null);
  }

  /** The lists whose items have the name. */
  #lists(name: string): string[] {
    const { loop } = this.#walk.input.definition;
    const loops = [loop, ...this.#steps.flatMap((step) => (step.type === 'loop' ? [step.loop] : []))];
    const items = [
      ...loops.flatMap((one) => ('over' in one ? [one] : [])),
      ...this.#steps.flatMap((step) => (step.type === 'parallel' ? [{ ...step, as: step.as ?? 'item' }] : [])),
    ];
    return items.flatMap(({ as, over }) => (as === name && over !== undefined ? [over] : []));
  }

  /** No step of the run sets it. */
  #given(name: string): Hands | null {
    const { input } = this.#walk;
    const isOwn = input.depth === 1 && input.limits.brought === undefined;
    return isOwn || !Object.hasOwn(input.base, name) ? null : [];
  }

  #saidBy(step: Step, name?: string): Hands | null {
    switch (step.type) {
      case 'llm':
        return callable(this.#walk, step satisfies LlmStep);
      case 'command':
        if (step.command !== SHELL_COMMAND && asksModels(entryOf(this.#walk.input.catalogue, step.command))) return [];
        return this.#through(step.params ?? {});
      case 'shell':
        return this.#through([step.command, step.args ?? [], step.stdin ?? '', step.env ?? {}]);
      case 'set':
        return this.#through(
          name !== undefined && Object.hasOwn(step.values, name) ? (step.values[name] ?? null) : step.values,
        );
      case 'sentinel':
        return asksWithin(step) ? [] : this.#through(step.inputs ?? {});
      // What its steps set goes by their names.
      case 'parallel':
        return this.#items(step);
      case 'watch':
      case 'emit':
      case 'condition':
      case 'loop':
      case 'approval':
      case 'fail':
      case 'sleep':
      case 'join':
        return null;
      default:
        return step satisfies never;
    }
  }

  #items({ branches = [], steps = [] }: Extract<Step, { type: 'parallel' }>): Hands | null {
    const inside: Step[] = [];
    everyStepIn([...branches.flat(), ...steps], (step) => inside.push(step));
    return inside.map((step) => this.#saidBy(step)).reduce(common, null);
  }

  /** What it was made from. */
  #through(value: Json): Hands | null {
    return this.of(textsIn(value).flatMap((text) => referencesIn(text)));
  }
}

const common = (one: Hands | null, other: Hands | null): Hands | null => {
  if (one === null || other === null) return one ?? other;
  return one.filter((tool) => other.includes(tool));
};

function readBy(expression: string): FoundReference[] {
  const parsed = parseExpression(expression);
  return parsed.ok ? referencesOf(parsed.expression) : [];
}

function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  return isJsonObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** Of what a reference stands for, it is not known here. */
function asksWithin({ definition }: Extract<Step, { type: 'sentinel' }>): boolean {
  if ('$ref' in definition) return true;
  let asks = false;
  everyStepIn([...definition.steps, ...(definition.always ?? [])], (step) => {
    if (step.type === 'llm' || (step.type === 'sentinel' && asksWithin(step))) asks = true;
  });
  return asks;
}
