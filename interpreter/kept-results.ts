/**
 * Which results of steps a run has to keep: those that its definition reads by the step's place
 * (`{{steps.0.output}}`, `{{loop.1.data}}`) or label (`{{named.build.exit_code}}`, `$build.data`), and of each
 * only the fields that are read. A definition that reads none keeps none. A pure fact of the definition.
 */
import type { Definition, Step } from '../language/model.ts';
import { parseExpression, referencesOf, type FoundReference } from '../language/expression/parse.ts';
import { referencesIn } from '../language/references/written-references.ts';
import { STEP_FIELDS } from '../language/expression/scope.ts';

/** Of the fields that every result has, the ones that a shell's value has itself. */
const SHELL_FIELDS: ReadonlySet<string> = new Set(['output', 'success', 'exit_code', 'exitCode', 'durationMs']);
/** Stands for the step's own value. */
export const WHOLE = '*';

export interface Keeping {
  /** Under which name the result is kept: `@` and the step's path, or `@named.` and its label. */
  key: string;
  fields: ReadonlySet<string>;
  /** Fields that are read of the variable the step sets: kept where its value lacks them. */
  besides: ReadonlySet<string>;
}

export interface KeptResults {
  /** By path in the definition. */
  byStep: ReadonlyMap<string, readonly Keeping[]>;
  keys: readonly string[];
  /** Labels that are variables too: what steps set with `outputTo`. */
  variables: ReadonlySet<string>;
}

/** Variables of a run never begin like this. */
export const isResultKey = (name: string): boolean => name.startsWith('@');

/** The list of steps that `loop.0` counts in, seen from a step or a loop: the nearest loop's, else the run's. */
export function bodyAround(path: string): string {
  return /^(?:.*\.)?steps(?=\.|$)/.exec(path)?.[0] ?? 'steps';
}

const keptOf = new WeakMap<Definition, KeptResults>();

export function keptResultsOf(definition: Definition): KeptResults {
  const before = keptOf.get(definition);
  if (before !== undefined) return before;
  const survey = new Survey();
  survey.block(definition.steps, 'steps');
  survey.block(definition.always ?? [], 'always');
  survey.loop(definition.loop, 'steps', 'steps');
  const kept = survey.keeping();
  keptOf.set(definition, kept);
  return kept;
}

class Survey {
  readonly #steps = new Map<string, Step>();
  readonly #producers = new Map<string, Step[]>();
  readonly #references: { reference: FoundReference; body: string }[] = [];
  readonly #wanted = new Map<string, Set<string>>();
  readonly #besides = new Map<string, Set<string>>();
  readonly #variables = new Set<string>();

  block(steps: readonly Step[], path: string): void {
    steps.forEach((step, index) => this.#step(step, `${path}.${index}`));
  }

  #step(step: Step, path: string): void {
    this.#steps.set(path, step);
    const output = outputOf(step);
    if (output !== undefined) this.#variables.add(output);
    for (const label of labelsOf(step)) this.#producers.set(label, [...(this.#producers.get(label) ?? []), step]);
    const body = bodyAround(path);
    for (const [key, value] of Object.entries(step) as [string, unknown][]) {
      if (key === 'check') this.#expression(value, body);
      else if (key === 'loop') this.loop(value as Definition['loop'], body, `${path}.steps`);
      else if (key === 'branches')
        (value as Step[][]).forEach((branch, index) => this.block(branch, `${path}.branches.${index}`));
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
    if (parsed?.ok === true)
      for (const reference of referencesOf(parsed.expression)) this.#references.push({ reference, body });
  }

  #template(value: unknown, body: string): void {
    if (typeof value === 'string') {
      if (/\$|\{\{/.test(value))
        for (const reference of referencesIn(value)) this.#references.push({ reference, body });
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value) as unknown[]) this.#template(item, body);
    }
  }

  keeping(): KeptResults {
    for (const { reference, body } of this.#references) this.#want(reference, body);
    const byStep = new Map<string, Keeping[]>();
    const keys = [...new Set([...this.#wanted.keys(), ...this.#besides.keys()])];
    if (keys.length > 0) {
      for (const [path, step] of this.#steps) {
        const kept = [
          this.#keepingOf(`@${path}`, true),
          ...labelsOf(step).map((label) => this.#keepingOf(`@named.${label}`, label === outputOf(step))),
        ];
        const some = kept.filter(({ fields, besides }) => fields.size > 0 || besides.size > 0);
        if (some.length > 0) byStep.set(path, some);
      }
    }
    return { byStep, keys, variables: this.#variables };
  }

  /** A step that sets no variable of the name has nothing to read but what is kept. */
  #keepingOf(key: string, isSet: boolean): Keeping {
    const fields = this.#wanted.get(key) ?? NONE;
    const besides = this.#besides.get(key) ?? NONE;
    return isSet ? { key, fields, besides } : { key, fields: new Set([...fields, ...besides]), besides: NONE };
  }

  #want({ name, path, key }: FoundReference, body: string): void {
    const [first, field] = path;
    if (name === 'steps' || name === 'loop') {
      const list = name === 'steps' ? 'steps' : body;
      if (first !== undefined && /^\d+$/.test(first)) keep(this.#wanted, `@${list}.${first}`, [field ?? WHOLE]);
      else
        for (const at of this.#steps.keys())
          if (at.startsWith(`${list}.`) && !at.slice(list.length + 1).includes('.'))
            keep(this.#wanted, `@${at}`, [WHOLE, ...STEP_FIELDS]);
    } else if (name === 'named') {
      if (first !== undefined) keep(this.#wanted, `@named.${first}`, [field ?? WHOLE]);
      else for (const label of this.#producers.keys()) keep(this.#wanted, `@named.${label}`, [WHOLE, ...STEP_FIELDS]);
    } else this.#wantLabel(name, first ?? key);
  }

  /** A label that is a variable too is that variable, unless a field of the step is read that the variable's value may lack. */
  #wantLabel(name: string, field: string | undefined): void {
    const producers = this.#producers.get(name) ?? [];
    if (!this.#variables.has(name)) {
      if (producers.length > 0) keep(this.#wanted, `@named.${name}`, [field ?? WHOLE]);
    } else if (field !== undefined && STEP_FIELDS.has(field)) {
      if (producers.every((step) => step.type === 'shell' && SHELL_FIELDS.has(field))) return;
      keep(this.#besides, `@named.${name}`, [field]);
    }
  }
}

const NONE: ReadonlySet<string> = new Set();

function keep(kept: Map<string, Set<string>>, key: string, fields: readonly string[]): void {
  const known = kept.get(key) ?? new Set();
  for (const field of fields) known.add(field);
  kept.set(key, known);
}

/** Keys of a step that hold steps; those of a nested definition are its own run's. */
const BLOCKS: ReadonlySet<string> = new Set(['then', 'else', 'always', 'steps']);

function outputOf(step: Step): string | undefined {
  return 'outputTo' in step ? step.outputTo : undefined;
}

function labelsOf(step: Step): string[] {
  return [...new Set([step.name, outputOf(step)])].filter((label) => label !== undefined);
}
