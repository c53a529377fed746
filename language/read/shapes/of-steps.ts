/** The shapes of what steps give: their results, and the variables that hold them. */
import { isJsonObject, type Json } from '../../json.ts';
import { MODEL_FIELDS, STEP_FIELDS } from '../../expression/scope.ts';
import type { Definition, ParallelStep, SentinelStep, Step } from '../../model.ts';
import { blocksOf } from '../../blocks.ts';
import { isToldOfUnknown } from '../../unknown-outcomes.ts';
import { referencesIn } from '../../references/written-references.ts';
import { variablesSetBy } from '../../references/variables-set.ts';
import { isPlain, type Plain } from '../draft/draft.ts';
import type { ReferenceSite } from '../inventory/collect-references.ts';
import type { Setter, Setters } from '../inventory/setters.ts';
import { shapeOfSchema } from './of-schema.ts';
import { either, eitherOf, fieldOf, listOf, object, scalar, type ObjectShape, type Shape } from './shape.ts';

/** What is known of the results of commands: their JSON Schema. */
export type ResultSchemas = (command: string) => Json | undefined;

const NUMBER = scalar('a number');
const FLAG = scalar('true or false');
const TEXT: Shape = undefined;

/** What the end of every nested run says, whatever its definition declares. */
export const END_FIELDS: ReadonlySet<string> = new Set(['success', 'outcome', 'iterations', 'results', 'failureCount']);

/** Every result has these, whatever its own value lacks. */
const OF_EVERY_RESULT = [...STEP_FIELDS].filter((field) => !MODEL_FIELDS.includes(field));

/** Those of them that say something of any step. */
const COMMON = ['output', 'data', 'success', 'error', 'durationMs'];

const SHELL_RESULT = {
  exitCode: NUMBER,
  exit_code: NUMBER,
  stdout: TEXT,
  stderr: TEXT,
  output: TEXT,
  lines: listOf(TEXT),
  data: undefined,
  success: FLAG,
  durationMs: NUMBER,
  duration_ms: NUMBER,
  error: TEXT,
  signal: TEXT,
  truncated: FLAG,
  logIncomplete: FLAG,
  executionId: TEXT,
  pid: NUMBER,
};
const SHELL_WORDS = {
  what: 'the result of a shell step',
  shown: ['exitCode', 'exit_code', 'stdout', 'stderr', 'output', 'lines', 'data', 'success', 'durationMs'],
  common: ['error', 'signal', 'truncated', 'executionId', 'pid'],
};
const SHELL = object(SHELL_RESULT, SHELL_WORDS);
const TOLD_SHELL = object(
  { ...SHELL_RESULT, unknown: FLAG },
  { ...SHELL_WORDS, shown: [...SHELL_WORDS.shown, 'unknown'] },
);
const MATCHED = undefined;
const WATCHED = object(
  {
    executionId: TEXT,
    reason: TEXT,
    lines: listOf(MATCHED),
    length: NUMBER,
    matches: listOf(MATCHED),
    exitCode: NUMBER,
    success: FLAG,
    signal: TEXT,
    failure: undefined,
    dropped: NUMBER,
  },
  { what: 'the result of a watch step', item: MATCHED },
);
const JOINED = listOf(
  object(['handle', 'name', 'success', 'outcome', 'status', 'iterations', 'durationMs', 'limit', 'failure'], {
    what: 'the end of a run',
    isOpen: true,
  }),
);
/** In place of the result of an item that failed. */
const FAILED_ITEM = object(['success', 'error', 'code', 'index', 'item']);

/** So far references are followed through variables that hold what other variables hold. */
const depthMax = 100;

const BARE = /^[\w.]+$/;
const REFERENCE = /^(?:\$[\w.]+|\{\{\s*[\w.]+\s*\}\})$/;

export class StepShapes {
  readonly #setters: Setters;
  readonly #knownRefs: (name: string) => Definition | undefined;
  readonly #results: ResultSchemas;
  /** By what sets a variable, by step, and by loop: each may be read from everywhere, from itself too. */
  readonly #known = new Map<object, Shape>();
  #depth = 0;

  constructor(
    setters: Setters,
    knownRefs: (name: string) => Definition | undefined,
    results: ResultSchemas = () => undefined,
  ) {
    this.#setters = setters;
    this.#knownRefs = knownRefs;
    this.#results = results;
  }

  /** Of the result of one of the steps, as its place or label gives it. */
  ofResults(own: readonly Setter[]): Shape {
    return eitherOf(own.map(({ site: { step } }) => besides(this.#ofStep(step), step)));
  }

  #once(of: object, find: () => Shape): Shape {
    if (!this.#known.has(of)) {
      if (this.#depth >= depthMax) return undefined;
      // What leads back to itself may be anything from there on.
      this.#known.set(of, undefined);
      this.#depth += 1;
      this.#known.set(of, find());
      this.#depth -= 1;
    }
    return this.#known.get(of);
  }

  /** Of the variable that nothing but these steps set. */
  ofVariable(name: string, own: readonly Setter[]): Shape {
    return this.#once(own, () => eitherOf(own.map((setter) => this.#ofSetter(name, setter))));
  }

  #ofSetter(name: string, { site: { step, place } }: Setter): Shape {
    if (step.type !== 'set') return besides(this.#ofStep(step), step);
    // A label of that name reads the values.
    return Object.hasOwn(step.values, name) ? this.#ofValue(step.values[name] ?? null, place) : undefined;
  }

  /** Of the item that a loop or a list around binds to the name. */
  ofItem({ name, place }: Pick<ReferenceSite, 'name' | 'place'>): Shape {
    const site = place.loops.findLast(({ loop }) => 'as' in loop && loop.as === name);
    if (site === undefined || !('over' in site.loop) || typeof site.loop.over !== 'string') return undefined;
    const { over } = site.loop;
    return this.#once(site, () => {
      // An expression, in which a bare name is a reference.
      const list = this.#ofReference(BARE.test(over) ? `$${over}` : over, site.place);
      return list?.type === 'list' || (list?.type === 'object' && 'item' in list) ? list.item : undefined;
    });
  }

  /** Of a value as it is written. */
  #ofValue(value: Json, place: ReferenceSite['place']): Shape {
    if (typeof value === 'string') return this.#ofReference(value, place);
    if (typeof value === 'number') return NUMBER;
    if (typeof value === 'boolean') return FLAG;
    if (value === null) return undefined;
    if (Array.isArray(value)) return listOf(eitherOf(value.map((item) => this.#ofValue(item, place))));
    return object(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, this.#ofValue(inner, place)])));
  }

  /** Of a text that is one reference and nothing else; any other is a text. */
  #ofReference(text: string, place: ReferenceSite['place']): Shape {
    const [reference] = REFERENCE.test(text) ? referencesIn(text) : [];
    if (reference === undefined) return undefined;
    const { name, path } = reference;
    const isItem = place.loops.some(({ loop }) => 'as' in loop && loop.as === name);
    let shape = isItem
      ? this.ofItem({ name, place })
      : this.ofVariable(name, this.#setters.onlySetters(name, place.definition));
    for (const key of path) shape = fieldOf(shape, key) || undefined;
    return shape;
  }

  #ofStep(step: Step): Shape {
    return this.#once(step, () => this.#resultOf(step));
  }

  #resultOf(step: Step): Shape {
    switch (step.type) {
      case 'shell':
        return isToldOfUnknown(step) ? TOLD_SHELL : SHELL;
      case 'command':
        return named(shapeOfSchema(this.#results(step.command) ?? null), `the result of "${step.command}"`);
      case 'llm':
        return named(shapeOfSchema(step.schema ?? null, true), 'the reply of the model');
      case 'watch':
        return step.event === undefined ? WATCHED : undefined;
      case 'emit':
        return object(['event'], { what: 'the result of an emit step' });
      case 'approval':
        return object(
          { choice: TEXT, approved: FLAG, note: TEXT, by: TEXT, data: shapeOfSchema(step.form ?? null, true) },
          { what: 'the result of an approval' },
        );
      case 'set':
        return object(Object.keys(step.values), { what: 'the result of a set step' });
      case 'sleep':
        return object(['until'], { what: 'the result of a sleep step' });
      case 'join':
        return JOINED;
      case 'loop':
        return object({ iterations: NUMBER }, { what: 'the result of a loop' });
      case 'parallel':
        return step.over === undefined
          ? object({ branches: NUMBER }, { what: 'the result of branches' })
          : listOf(this.#ofItems(step));
      case 'sentinel':
        return this.#ofNestedRun(step);
      case 'condition':
      case 'fail':
        return undefined;
      default:
        return step satisfies never;
    }
  }

  /** An item's result has what its steps set. */
  #ofItems({ steps = [], itemErrors }: ParallelStep): Shape {
    const fields: { [name: string]: Shape } = {};
    for (const step of within(steps)) {
      const setter = this.#setters.siteOf(step);
      for (const name of variablesSetBy(step)) {
        const shape = setter === undefined ? undefined : this.#ofSetter(name, setter);
        fields[name] = Object.hasOwn(fields, name) ? either(fields[name], shape) : shape;
      }
    }
    const item = object(fields, { what: 'the result of an item' });
    return itemErrors === 'collect' ? either(item, FAILED_ITEM) : item;
  }

  #ofNestedRun(step: SentinelStep): Shape {
    // What it gives later is read where it is waited for.
    if (step.await === false) return undefined;
    const { definition } = step;
    const child: Plain | undefined = '$ref' in definition ? this.#knownRefs(definition.$ref) : definition;
    if (!isPlain(child?.outputs)) return undefined;
    const { name, outputs } = child;
    const ends = [...END_FIELDS].map((field) => [field, field === 'results' ? listOf(undefined) : undefined] as const);
    const given = Object.keys(outputs).map((field) => [field, undefined] as const);
    return object(Object.fromEntries([...given, ...ends]), {
      what: `what ${typeof name === 'string' ? `"${name}"` : 'the nested run'} gives`,
      shown: Object.keys(outputs),
    });
  }
}

/** The steps and those inside them that are the same run's. */
const within = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step) => [step, ...blocksOf(step).flatMap((block) => within(block.steps))]);

const named = (shape: Shape, what: string): Shape => (shape?.type === 'object' ? { ...shape, what } : shape);

/** With the fields that every result of a step has, and those of every model's. */
function besides(shape: Shape, { type }: Step): Shape {
  if (shape?.type !== 'object' || type === 'shell') return shape;
  const more = type === 'llm' ? [...OF_EVERY_RESULT, ...MODEL_FIELDS] : OF_EVERY_RESULT;
  const fields = new Map<string, Shape>(more.map((name) => [name, undefined]));
  for (const [name, inner] of shape.fields) fields.set(name, inner);
  const { shown = [...shape.fields.keys()] } = shape;
  const common = [...COMMON, ...(type === 'llm' ? MODEL_FIELDS : [])];
  return { ...shape, fields, shown, common } satisfies ObjectShape;
}

/** A schema of inputs says what stands under their names. */
export function shapeOfInput(schema: unknown, name: string): Shape {
  if (!isJsonObject(schema)) return undefined;
  const whole = shapeOfSchema(schema);
  return whole?.type === 'object' ? fieldOf(whole, name) || undefined : undefined;
}
