/**
 * Which results of steps a run has to keep: those that its definition reads by the step's place
 * (`{{steps.0.output}}`, `{{loop.1.data}}`) or label (`{{named.build.exit_code}}`), and of each only
 * the fields that are read. A definition that reads none keeps none. A pure fact of the definition.
 */
import type { Definition, Step } from '../../language/model.ts';
import { parseExpression, referencesOf, type FoundReference } from '../../language/expression/parse.ts';
import { referencesIn } from '../../language/reference.ts';

/** Fields that every result has, whatever the step's own value lacks. */
export const STEP_FIELDS: ReadonlySet<string> = new Set(['output', 'data', 'success', 'exit_code', 'exitCode', 'error', 'duration_ms', 'durationMs']);
/** Of these, the ones that a shell's value has itself. */
const SHELL_FIELDS: ReadonlySet<string> = new Set(['output', 'success', 'exit_code', 'exitCode', 'durationMs']);
/** Stands for the step's own value. */
export const WHOLE = '*';

export interface Keeping {
  /** Under which name the result is kept: `@` and the step's path, or `@named.` and its label. */
  key: string;
  fields: ReadonlySet<string>;
}

export interface KeptResults {
  /** By path in the definition. */
  byStep: ReadonlyMap<string, readonly Keeping[]>;
  keys: readonly string[];
}

/** Variables of a run never begin like this. */
export const isResultKey = (name: string): boolean => name.startsWith('@');

/** The list of steps that `loop.0` counts in, seen from a step or a loop: the nearest loop's, else the run's. */
export function bodyAround(path: string): string {
  return /^(?:.*\.)?steps(?=\.|$)/.exec(path)?.[0] ?? 'steps';
}

const known = new WeakMap<Definition, KeptResults>();

export function keptResultsOf(definition: Definition): KeptResults {
  const before = known.get(definition);
  if (before !== undefined) return before;
  const survey = new Survey();
  survey.block(definition.steps, 'steps');
  survey.block(definition.always ?? [], 'always');
  survey.loop(definition.loop, 'steps', 'steps');
  const kept = survey.keeping();
  known.set(definition, kept);
  return kept;
}

class Survey {
  readonly #steps = new Map<string, Step>();
  readonly #producers = new Map<string, Step[]>();
  readonly #references: { reference: FoundReference; body: string }[] = [];
  readonly #wanted = new Map<string, Set<string>>();

  block(steps: readonly Step[], path: string): void {
    steps.forEach((step, index) => this.#step(step, `${path}.${index}`));
  }

  #step(step: Step, path: string): void {
    this.#steps.set(path, step);
    for (const label of labelsOf(step)) this.#producers.set(label, [...(this.#producers.get(label) ?? []), step]);
    const body = bodyAround(path);
    for (const [key, value] of Object.entries(step) as [string, unknown][]) {
      if (key === 'check') this.#expression(value, body);
      else if (key === 'loop') this.loop(value as Definition['loop'], body, `${path}.steps`);
      else if (key === 'branches') (value as Step[][]).forEach((branch, index) => this.block(branch, `${path}.branches.${index}`));
      else if (BLOCKS.has(key)) this.block(value as Step[], `${path}.${key}`);
      else if (key !== 'definition') this.#template(value, body);
    }
    if (step.type === 'sentinel' && '$ref' in step.definition) this.#template(step.definition.$ref, body);
  }

  /** The bounds are read before the loop and with each pass, the check inside it. */
  loop(loop: Definition['loop'], outside: string, inside: string): void {
    for (const [key, value] of Object.entries(loop) as [string, unknown][]) {
      this.#expression(value, inside);
      if (key !== 'check' && outside !== inside) this.#expression(value, outside);
    }
  }

  #expression(text: unknown, body: string): void {
    const parsed = typeof text === 'string' ? parseExpression(text) : undefined;
    if (parsed?.ok === true) for (const reference of referencesOf(parsed.expression)) this.#references.push({ reference, body });
  }

  #template(value: unknown, body: string): void {
    if (typeof value === 'string') {
      if (/\$|\{\{/.test(value)) for (const reference of referencesIn(value)) this.#references.push({ reference, body });
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value) as unknown[]) this.#template(item, body);
    }
  }

  keeping(): KeptResults {
    for (const { reference, body } of this.#references) this.#want(reference, body);
    const byStep = new Map<string, Keeping[]>();
    if (this.#wanted.size === 0) return { byStep, keys: [] };
    for (const [path, step] of this.#steps) {
      const keys = [`@${path}`, ...labelsOf(step).map((label) => `@named.${label}`)];
      const kept = keys.flatMap((key) => {
        const fields = this.#wanted.get(key);
        return fields === undefined ? [] : [{ key, fields }];
      });
      if (kept.length > 0) byStep.set(path, kept);
    }
    return { byStep, keys: [...this.#wanted.keys()] };
  }

  #want({ name, path, braced }: FoundReference, body: string): void {
    const [first, field] = path;
    if (name === 'steps' || name === 'loop') {
      const list = name === 'steps' ? 'steps' : body;
      if (first !== undefined && /^\d+$/.test(first)) this.#keep(`@${list}.${first}`, [field ?? WHOLE]);
      else for (const at of this.#steps.keys()) if (at.startsWith(`${list}.`) && !at.slice(list.length + 1).includes('.')) this.#keep(`@${at}`, [WHOLE, ...STEP_FIELDS]);
    } else if (name === 'named') {
      if (first !== undefined) this.#keep(`@named.${first}`, [field ?? WHOLE]);
      else for (const label of this.#producers.keys()) this.#keep(`@named.${label}`, [WHOLE, ...STEP_FIELDS]);
    } else if (this.#isLabelRead(name, first, braced === true)) this.#keep(`@named.${name}`, [first ?? WHOLE]);
  }

  /** A label that is a variable too is that variable, unless a field of the step is read that the variable's value may lack. */
  #isLabelRead(name: string, field: string | undefined, braced: boolean): boolean {
    const producers = this.#producers.get(name) ?? [];
    if (!producers.some((step) => outputOf(step) === name)) return producers.length > 0;
    if (!braced || field === undefined || !STEP_FIELDS.has(field)) return false;
    return !producers.every((step) => step.type === 'shell' && SHELL_FIELDS.has(field));
  }

  #keep(key: string, fields: readonly string[]): void {
    const wanted = this.#wanted.get(key) ?? new Set();
    for (const field of fields) wanted.add(field);
    this.#wanted.set(key, wanted);
  }
}

/** Keys of a step that hold steps; those of a nested definition are its own run's. */
const BLOCKS: ReadonlySet<string> = new Set(['then', 'else', 'always', 'steps']);

function outputOf(step: Step): string | undefined {
  return 'outputTo' in step ? step.outputTo : undefined;
}

function labelsOf(step: Step): string[] {
  return [...new Set([step.name, outputOf(step)])].filter((label) => label !== undefined);
}
