/**
 * Results of steps, kept beside the variables of their strand under names that begin with `@`. So
 * they take part in whatever happens to variables (segments, branches, continue-as-new) and need
 * nothing of their own; they are no outputs of the run, and a nested run does not inherit them.
 */
import { Budget } from '../language/expression/budget.ts';
import { parsedText, readJson } from '../language/expression/json-text.ts';
import { linesOf } from '../language/expression/shell-result.ts';
import { entryOf } from '../language/catalogue.ts';
import { depthFault, isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { Step, Definition } from '../language/model.ts';
import { isSafeName, MODEL_FIELDS, ownProperty, property, textOf, STEP_FIELDS } from '../language/expression/scope.ts';
import type { RunInput, Strand } from './host.ts';
import { type Walk, record, setVariable, isResultKey } from './walk-state.ts';
import type { Variables, Flow, Ending, Place } from './effect.ts';
import { definitionPathOf } from './edited-paths.ts';
import { CONTEXT_BLOCK, contextSteps } from './pass-context.ts';
import { isAbort, isShell, type FailureInfo } from '../language/failure.ts';
import { tellOfOutput } from './truncated-output.ts';
import type { StepFinished, StepOutcome } from '../language/events/run-event.ts';
import { stepWords } from './step-words.ts';
import { isTriedAgain } from './retries.ts';
import { previewOf } from '../language/events/preview.ts';
import { parseExpression, referencesOf, type FoundReference } from '../language/expression/parse.ts';
import { variablesSetBy } from '../language/references/variables-set.ts';
import { referencesIn } from '../language/references/written-references.ts';
import { defined } from '../language/defined.ts';

/** Keeps of a step that ended what the definition reads of it. The last result of a step counts. Returns by what place or label something printed is read. */
function keepResult(
  walk: Walk,
  strand: Strand,
  step: Step,
  path: string,
  ending: Ending,
  durationMs: number,
): string | undefined {
  if ('cancelled' in ending) return undefined;
  const value = 'value' in ending ? ending.value : resultOfFailure(ending);
  const keepings = keptResultsOf(walk.input.definition).byStep.get(definitionPathOf(walk, path)) ?? [];
  for (const { key, fields, besides } of keepings) {
    const kept: [string, Json][] = [];
    if (fields.has(WHOLE)) {
      kept.push(...Object.entries(besidesOf(ending)));
      if (isJsonObject(value)) kept.push(...Object.entries(value));
      kept.push(['output', outputOf(walk.input, step, value)]);
    }
    for (const name of [...fields, ...[...besides].filter((beside) => !isSet(ending, beside))]) {
      const field =
        name === WHOLE || !isSafeName(name)
          ? undefined
          : (ownFieldOf(value, name) ??
            ownProperty(besidesOf(ending), name) ??
            fieldOf(walk.input, step, value, name, durationMs));
      if (field !== undefined) kept.push([name, field]);
    }
    strand.own[key] = Object.fromEntries(kept);
  }
  return keepings.find(({ fields, besides }) => PRINTED.some((name) => fields.has(name) || besides.has(name)))?.key;
}

function resultOfFailure({
  failure: { message, code, details },
  gave,
}: Extract<Ending, { failure: FailureInfo }>): JsonObject {
  const known = details === undefined ? {} : { details };
  return { output: '', ...(isJsonObject(gave) ? gave : {}), success: false, error: message, code, ...known };
}

/** What the variable of the step is set to. */
function givenBy(ending: Ending): Json | undefined {
  if ('value' in ending) return ending.value;
  return 'failure' in ending ? ending.gave : undefined;
}

/** A sentinel that nobody waits for has only begun. */
const isUnknown = (step: Step): boolean => step.type === 'sentinel' && step.await === false;

const ownFieldOf = (value: Json, name: string): Json | undefined =>
  isJsonObject(value) ? ownProperty(value, name) : undefined;

const besidesOf = (ending: Ending): JsonObject => ('value' in ending ? (ending.beside ?? {}) : {});

/** Whether the variable that the step has set has the field. */
const isSet = (ending: Ending, field: string): boolean => property(givenBy(ending), field) !== undefined;

function fieldOf(input: RunInput, step: Step, value: Json, name: string, durationMs: number): Json | undefined {
  const own = ownFieldOf(value, name);
  if (own !== undefined) return own;
  switch (name) {
    case 'output':
      return outputOf(input, step, value);
    case 'data':
      return step.type === 'shell' && isJsonObject(value) ? printed(value) : (parsedText(value, new Budget()) ?? value);
    case 'lines':
      return linesIn(input, step, value);
    case 'success':
      return isUnknown(step) ? undefined : true;
    case 'exit_code':
      return isJsonObject(value) ? value['exitCode'] : undefined;
    case 'exitCode':
      return isJsonObject(value) ? value['exit_code'] : undefined;
    case 'duration_ms':
    case 'durationMs':
      return durationMs;
    default:
      // A text that is JSON has fields too.
      return typeof value === 'string' ? fieldOfText(value, name) : undefined;
  }
}

/** Of what a shell printed, and of a result that is a text or stands for one; a text that is JSON has fields of its own. */
function linesIn(input: RunInput, step: Step, value: Json): Json | undefined {
  const own = typeof value === 'string' ? fieldOfText(value, 'lines') : undefined;
  if (own !== undefined) return own;
  const stdout = isJsonObject(value) ? ownProperty(value, 'stdout') : undefined;
  const text = typeof stdout === 'string' ? stdout : outputOf(input, step, value);
  return typeof text === 'string' ? linesOf(text) : undefined;
}

function fieldOfText(text: string, name: string): Json | undefined {
  const parsed = parsedText(text, new Budget());
  return isJsonObject(parsed) ? ownProperty(parsed, name) : undefined;
}

function outputOf({ catalogue }: RunInput, step: Step, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const field =
    step.type === 'shell' ? 'output' : step.type === 'command' ? entryOf(catalogue, step.command).textField : undefined;
  return ownProperty(value, 'output') ?? (field === undefined ? undefined : ownProperty(value, field)) ?? value;
}

/** What a shell printed, as a value where it is JSON. */
function printed(value: JsonObject): Json {
  const text = textOf(value['stdout']).trim();
  return readJson(text) ?? text;
}

/** The kept results whose keys begin like this, by what follows. */
export function resultsUnder(prefix: string, walk: Walk, read: (key: string) => Json | undefined): JsonObject {
  const results: [string, Json][] = [];
  for (const key of keptResultsOf(walk.input.definition).keys) {
    const value = key.startsWith(prefix) ? read(key) : undefined;
    if (value !== undefined) results.push([key.slice(prefix.length), value]);
  }
  return Object.fromEntries(results);
}

export function withoutResults(variables: Variables): Variables {
  const entries = Object.entries(variables);
  const isFree = entries.every(([name]) => !isResultKey(name));
  return isFree ? variables : Object.fromEntries(entries.filter(([name]) => !isResultKey(name)));
}

/** Closes a step: its event, its variable, and what its `onError` makes of a failure. */
export function finish(
  walk: Walk,
  strand: Strand,
  step: Step,
  place: Place,
  startedAt: number,
  given: Ending,
  label: string,
): Flow {
  const ending = held(given, place);
  const finished = (outcome: StepOutcome, extra: Pick<StepFinished, 'preview' | 'failure' | 'action'>): void =>
    record(walk, {
      type: 'step-finished',
      key: place.key,
      step: step.type,
      label,
      outcome,
      durationMs: walk.host.now() - startedAt,
      ...extra,
      ...defined({ usage: ending.usage, items: ending.items }),
    });
  const kept = keepResult(walk, strand, step, place.path, ending, walk.host.now() - startedAt);
  if ('cancelled' in ending) {
    finished('cancelled', {});
    return { kind: 'cancelled' };
  }
  const value = givenBy(ending);
  const preview = value === undefined ? {} : { preview: previewOf(value) };
  if (value !== undefined && 'outputTo' in step && step.outputTo !== undefined) {
    setVariable(walk, strand, step.outputTo, value);
  }
  const readAs = 'outputTo' in step && step.outputTo !== undefined ? step.outputTo : kept?.slice(1);
  if (isShell(step) && readAs !== undefined) tellOfOutput(walk, place.key, readAs, value);
  if ('value' in ending) {
    finished('ok', preview);
    return { kind: 'done' };
  }
  const again = isTriedAgain(walk.input, step, place, ending.failure);
  const skips = !again && step.onError === 'skip' && !isAbort(ending.failure);
  const action = stepWords(step);
  finished(again ? 'retried' : skips ? 'skipped' : 'failed', {
    failure: ending.failure,
    ...preview,
    ...(action === '' ? {} : { action }),
  });
  return skips ? { kind: 'done' } : { kind: 'failed', failure: ending.failure };
}

/** A result that the run cannot hold fails the step; how large it is was looked at where it was made. */
function held(ending: Ending, { key }: Place): Ending {
  if (!('value' in ending)) return ending;
  const { value, beside: _beside, ...rest } = ending;
  const fault = depthFault(value, `${key}: the result`);
  return fault === null ? ending : { ...rest, failure: { ...fault, retryable: false } };
}

/**
 * Which results of steps a run has to keep: those that its definition reads by the step's place
 * (`{{steps.0.output}}`, `{{loop.1.data}}`) or label (`{{named.build.exit_code}}`, `$build.data`), and of each
 * only the fields that are read. A definition that reads none keeps none. A pure fact of the definition.
 */

/** Of the fields that every result has, the ones that a shell's value has itself, or gives when they are read. */
const SHELL_FIELDS: ReadonlySet<string> = new Set([
  'output',
  'success',
  'exit_code',
  'exitCode',
  'durationMs',
  'lines',
]);
/** Stands for the step's own value. */
export const WHOLE = '*';

/** What a process printed, in one form or another. */
const PRINTED: readonly string[] = [WHOLE, 'stdout', 'stderr', 'output', 'data', 'lines'];

/** Of a result that is read whole: its lines are in its output. */
const WHOLE_FIELDS = [...STEP_FIELDS].filter((field) => field !== 'lines');

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
  /** Labels that are variables too: what steps set. */
  variables: ReadonlySet<string>;
}

/** The list of steps that `loop.0` counts in, seen from a step or a loop: the nearest loop's, else the run's. */
export function bodyAround(path: string): string {
  return /^(?:.*\.)?steps(?=\.|$)/.exec(path)?.[0] ?? 'steps';
}

const keptOf = new WeakMap<Definition, KeptResults>();

export function keptResultsOf(definition: Definition): KeptResults {
  const before = keptOf.get(definition);
  if (before !== undefined) return before;
  const survey = new Survey();
  survey.block(contextSteps(definition), CONTEXT_BLOCK);
  survey.block(definition.steps, 'steps');
  survey.block(definition.always ?? [], 'always');
  survey.loop(definition.loop, 'steps', 'steps');
  survey.template(definition.outputs, 'steps');
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
    for (const variable of variablesSetBy(step)) this.#variables.add(variable);
    for (const label of labelsOf(step)) this.#producers.set(label, [...(this.#producers.get(label) ?? []), step]);
    const body = bodyAround(path);
    for (const [key, value] of Object.entries(step) as [string, unknown][]) {
      if (key === 'check' || key === 'stopWhen') this.#expression(value, body);
      else if (key === 'loop') this.loop(value as Definition['loop'], body, `${path}.steps`);
      else if (key === 'over') this.#expression(value, body);
      else if (key === 'branches')
        (value as Step[][]).forEach((branch, index) => this.block(branch, `${path}.branches.${index}`));
      else if (BLOCKS.has(key)) this.block(value as Step[], `${path}.${key}`);
      else if (key !== 'definition') this.template(value, body);
    }
    if (step.type === 'sentinel' && '$ref' in step.definition) this.template(step.definition.$ref, body);
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

  template(value: unknown, body: string): void {
    if (typeof value === 'string') {
      if (/\$|\{\{/.test(value))
        for (const reference of referencesIn(value)) this.#references.push({ reference, body });
    } else if (typeof value === 'object' && value !== null) {
      for (const item of Object.values(value) as unknown[]) this.template(item, body);
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
          ...labelsOf(step).map((label) => this.#keepingOf(`@named.${label}`, label === variableOf(step))),
        ];
        const some = kept.filter(({ fields, besides }) => fields.size > 0 || besides.size > 0);
        if (some.length > 0) byStep.set(path, some);
      }
    }
    return { byStep, keys, variables: this.#variables };
  }

  /** A step that sets no variable of the name has nothing to read but what is kept. */
  #keepingOf(key: string, setsIt: boolean): Keeping {
    const fields = this.#wanted.get(key) ?? NONE;
    const besides = this.#besides.get(key) ?? NONE;
    return setsIt ? { key, fields, besides } : { key, fields: new Set([...fields, ...besides]), besides: NONE };
  }

  #want({ name, path, key }: FoundReference, body: string): void {
    const [first, field] = path;
    if (name === 'steps' || name === 'loop') {
      const list = name === 'steps' ? 'steps' : body;
      if (first !== undefined && /^\d+$/.test(first)) keep(this.#wanted, `@${list}.${first}`, [field ?? WHOLE]);
      else
        for (const at of this.#steps.keys())
          if (at.startsWith(`${list}.`) && !at.slice(list.length + 1).includes('.'))
            keep(this.#wanted, `@${at}`, [WHOLE, ...WHOLE_FIELDS]);
    } else if (name === 'named') {
      if (first !== undefined) keep(this.#wanted, `@named.${first}`, [field ?? WHOLE]);
      else for (const label of this.#producers.keys()) keep(this.#wanted, `@named.${label}`, [WHOLE, ...WHOLE_FIELDS]);
    } else this.#wantLabel(name, first ?? key);
  }

  /** A label that is a variable too is that variable, unless a field of the step is read that the variable's value may lack. */
  #wantLabel(name: string, field: string | undefined): void {
    const producers = this.#producers.get(name) ?? [];
    if (!this.#variables.has(name)) {
      if (producers.length > 0) keep(this.#wanted, `@named.${name}`, [field ?? WHOLE]);
    } else if (field !== undefined && STEP_FIELDS.has(field)) {
      if (producers.every((step) => step.type === 'shell' && SHELL_FIELDS.has(field))) return;
      if (MODEL_FIELDS.includes(field) && producers.every((step) => step.type !== 'llm')) return;
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

function variableOf(step: Step): string | undefined {
  return 'outputTo' in step ? step.outputTo : undefined;
}

function labelsOf(step: Step): string[] {
  return [...new Set([step.name, variableOf(step)])].filter((label) => label !== undefined);
}
