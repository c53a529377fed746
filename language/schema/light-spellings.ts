/**
 * What editors accept besides the canonical form: every other spelling that the reader rewrites, so
 * that nothing is marked which `sentinel validate` takes. The lists are the reader's own where it has
 * one. Dialects that put the steps elsewhere (payloads, recipes, the dojo) are told apart by their keys
 * and only described as far as they hold steps.
 */
import type { Json, JsonObject } from '../json.ts';
import { OF_THE_DEFINITION } from '../read/rewrites/inline-sentinel.ts';
import { FLAT, KINDS_AS_TYPES } from '../read/rewrites/loop.ts';
import { AROUND, PROGRAM_TYPES } from '../read/rewrites/payload.ts';
import { OF_THE_RECORD } from '../read/rewrites/record.ts';
import { OF_A_RUN } from '../read/rewrites/run-parameters.ts';
import { OUTSIDE } from '../read/rewrites/safety.ts';
import { COMMENT, LONG_KEYS, TIMES } from '../read/rewrites/spelling.ts';
import { UNITS } from '../read/rewrites/step-keys.ts';
import { LOOP_TAGS, STEP_TAGS, TRIGGER_TAGS } from '../read/rewrites/variants.ts';
import { AMOUNT, lightValue, ONE_STEP } from './light-values.ts';

export type ObjectSchema = JsonObject & { properties: { [key: string]: Json }; required?: string[] };

type Aliases = Readonly<Record<string, string>>;

/** Other name → canonical key; allowed wherever the canonical key is. */
const ALIASES_OF_STEPS: Aliases = {
  cmd: 'command',
  payload: 'data',
  pipeline: 'definition',
  systemPrompt: 'system',
  workingDir: 'cwd',
  label: 'name',
  id: 'name',
};

const CHECK: Aliases = { if: 'check', condition: 'check' };
const MAX: Aliases = { count: 'max' };

/** Other names of one kind of object only. */
const ALIASES_OF: Readonly<Record<string, Aliases>> = {
  Definition: { triggers: 'trigger' },
  ConditionStep: CHECK,
  ParallelStep: { concurrency: 'maxConcurrency' },
  SentinelStep: { $ref: 'definition' },
  LoopCount: { ...MAX, maxIterations: 'max', over: 'max' },
  LoopUntil: { ...CHECK, ...MAX, until: 'check' },
  LoopWhile: { ...CHECK, ...MAX, while: 'check' },
  LoopContinuous: MAX,
  LoopEvent: MAX,
  TriggerSchedule: {
    cron_expression: 'cronExpression',
    'cron-expression': 'cronExpression',
    cron: 'cronExpression',
    schedule: 'cronExpression',
    expression: 'cronExpression',
    timezone: 'timeZone',
    tz: 'timeZone',
  },
};

/** Keys that are read and mean something of their own, or nothing. */
const BESIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Definition: {
    ...Object.fromEntries(OF_THE_RECORD.map((key) => [key, 'Known of a stored definition; a run does not use it.'])),
    ...Object.fromEntries(OUTSIDE.map((key) => [key, `The same as "safety": {"${key}": …}.`])),
    workingDir: 'The folder of each shell step that states none.',
    ragTemplate: 'The recipe it was made from, or its sources.',
  },
  CommandStep: Object.fromEntries(
    OF_A_RUN.map((key) => [key, 'What "sentinel/run" is handed; the same as in "params".']),
  ),
  LlmStep: { provider: 'Whose model it is; the same as "model": "PROVIDER/…".', maxTokens: 'Has no effect.' },
  SleepStep: Object.fromEntries(
    ['ms', ...Object.keys(UNITS)].map((unit) => [unit, 'The same as "durationMs", in the unit of its name.']),
  ),
  SentinelStep: Object.fromEntries(OF_THE_DEFINITION.map((key) => [key, `The same as "definition": {"${key}": …}.`])),
  LoopStep: Object.fromEntries(
    FLAT.filter((key) => key !== 'type').map((key) => [key, `The same as "loop": {"${key}": …}.`]),
  ),
};

/** What a step without `type` is recognised by. */
const TELLING_KEYS = [
  'command',
  'cmd',
  'check',
  'if',
  'then',
  'else',
  'definition',
  'pipeline',
  '$ref',
  'branches',
  'failFast',
  'fail_fast',
  'loop',
  'mode',
  'prompt',
  'executionId',
  'execution_id',
  'rules',
  'message',
  'event',
  'count',
  'while',
  'until',
  'over',
  'maxIterations',
  'max_iterations',
  'max-iterations',
];
const TELLING_LOOP = [
  'check',
  'until',
  'while',
  'max',
  'count',
  'over',
  'maxIterations',
  'max_iterations',
  'intervalMs',
  'interval_ms',
  'interval',
  'event',
  'mode',
  'max-iterations',
  'interval-ms',
];
const TELLING_TRIGGER = [
  'event',
  'cron',
  'schedule',
  'expression',
  'cronExpression',
  'cron_expression',
  'cron-expression',
];

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
const tagsOf = (words: readonly string[]): string[] => words.flatMap((word) => [capital(word), word.toUpperCase()]);
const oneOf = (keys: readonly string[]): JsonObject => ({
  anyOf: [...new Set(keys)].map((key) => ({ required: [key] })),
});

/** How a type may be spelled. */
export const spellings = (type: string): string[] =>
  (type === 'schedule'
    ? ['cron']
    : type === 'loop'
      ? KINDS_AS_TYPES.flatMap((kind) => [kind, ...tagsOf([kind])])
      : []
  ).concat([type, ...tagsOf([type])]);

/** What is known of an object that does not say its type. */
export const UNTYPED: Readonly<Record<string, JsonObject>> = {
  Step: {
    description: 'A step without "type": its other keys say what it is.',
    ...oneOf([...TELLING_KEYS, ...Object.keys(STEP_TAGS), ...tagsOf(Object.keys(STEP_TAGS))]),
  },
  Loop: oneOf([...TELLING_LOOP, ...tagsOf(Object.keys(LOOP_TAGS))]),
  Trigger: oneOf([...TELLING_TRIGGER, ...tagsOf(Object.keys(TRIGGER_TAGS))]),
};

const STEPS: JsonObject = { type: 'array', items: { $ref: '#/$defs/Step' } };

/** A definition in a dialect that has its steps elsewhere, or that is one step. */
const OTHER_DIALECT: JsonObject = {
  description:
    'A payload of sentinel/run, a recipe, a dojo, or a single step: "sentinel normalize" shows how it is read.',
  type: 'object',
  properties: {
    type: { enum: [...PROGRAM_TYPES, ...Object.keys(STEP_TAGS)].flatMap((word) => [word, ...tagsOf([word])]) },
  },
  if: { properties: { steps: { type: 'array' } }, required: ['steps'] },
  then: { properties: { steps: STEPS } },
};

const isOtherDialect = oneOf([
  'type',
  'definition',
  'pipeline',
  'challenges',
  'command',
  'cmd',
  ...tagsOf(Object.keys(STEP_TAGS)),
]);

/** One step or one definition under its key alone. */
const ALONE: JsonObject = {
  maxProperties: 1,
  ...oneOf([...Object.keys(STEP_TAGS).filter((tag) => tag !== 'loop'), ...AROUND]),
};

export const OUTERMOST: JsonObject = {
  if: { anyOf: [isOtherDialect, { required: ['$ref'] }, ALONE] },
  then: OTHER_DIALECT,
  else: { allOf: [{ $ref: '#/$defs/Definition' }, { required: ['name'] }] },
};

const NESTED: readonly JsonObject[] = [
  { $ref: '#/$defs/DefinitionRef' },
  { if: isOtherDialect, then: OTHER_DIALECT, else: { $ref: '#/$defs/Definition' } },
  { type: 'string', minLength: 1 },
  STEPS,
];

/** A member of a parallel step: one step, a list of steps, or `{"steps": […]}`. */
const BRANCH: JsonObject = { anyOf: [STEPS, ...ONE_STEP] };
const MEMBERS: JsonObject = {
  anyOf: [
    { type: 'array', items: BRANCH },
    { type: 'object', additionalProperties: BRANCH },
    { $ref: '#/$defs/Step' },
    { type: 'string', pattern: '^\\s*\\[' },
  ],
};

/** Adds to one object of the schema what may be written in it besides the canonical form. */
export function withLightSpellings(id: string, schema: ObjectSchema): ObjectSchema {
  const isNeeded = (key: string): boolean => schema.required?.includes(key) === true && key !== 'loop';
  const properties = Object.fromEntries(
    Object.entries(schema.properties).map(([key, inner]): [string, Json] => [
      key,
      key === 'type' ? typeIn(inner) : lightValue(id, key, inner, isNeeded(key)),
    ]),
  );
  const light: ObjectSchema = { ...schema, properties };
  const isStep = id.endsWith('Step');
  if (id === 'Definition') light.required = ['steps'];
  if (id === 'SentinelStep')
    properties['definition'] = { description: descriptionOf(properties['definition']), anyOf: [...NESTED] };
  for (const [alias, key] of Object.entries({ ...(isStep ? ALIASES_OF_STEPS : {}), ...ALIASES_OF[id] }))
    addAlias(light, alias, key);
  for (const [key, description] of Object.entries(BESIDE[id] ?? {})) properties[key] ??= { description };
  if (isStep) properties['description'] = { description: 'Has no effect: what people read for a step is its "name".' };
  for (const key of isStep && id !== 'LoopStep' ? ['condition', 'if', 'when'] : [])
    properties[key] ??= { description: 'The step is performed only if it holds.' };
  if (id === 'SentinelStep') addAlias(light, 'steps', 'definition');
  if (id === 'SentinelStep')
    properties['steps'] = {
      description: 'The steps of the nested sentinel, in place of its definition.',
      anyOf: [STEPS, ...ONE_STEP],
    };
  for (const key of id === 'ParallelStep' ? ['branches', 'steps'] : [])
    properties[key] = { description: descriptionOf(properties[key]), ...MEMBERS };
  if (id === 'ParallelStep') needOneOf(light, ['branches', 'steps']);
  if (id === 'LoopStep') light.required = without(light.required, 'loop');
  if (id === 'LoopStep') needOneOf(light, ['loop', ...FLAT.filter((key) => key !== 'type'), 'max_iterations']);
  return { ...light, patternProperties: { ...otherWordings(Object.keys(properties), light), [COMMENT.source]: true } };
}

function typeIn(schema: Json): JsonObject {
  const { const: type, type: _text, ...rest } = schema as JsonObject;
  return typeof type === 'string' ? { ...rest, enum: spellings(type) } : (schema as JsonObject);
}

const without = (keys: readonly string[] | undefined, key: string): string[] =>
  (keys ?? []).filter((other) => other !== key);

const descriptionOf = (schema: Json | undefined): Json => (schema as JsonObject)['description'] ?? '';

function addAlias(schema: ObjectSchema, alias: string, key: string): void {
  const canonical = schema.properties[key];
  if (canonical === undefined) return;
  schema.properties[alias] ??= { ...(canonical as JsonObject), description: `The same as "${key}".` };
  if (schema.required?.includes(key) === true) {
    schema.required = without(schema.required, key);
    needOneOf(schema, [key, alias]);
  } else if (needed(schema).some((keys) => keys[0] === key)) {
    schema['allOf'] = needed(schema).map((keys) => oneOf(keys[0] === key ? [...keys, alias] : keys));
  }
}

/** The keys of which one has to be there. */
function needed(schema: ObjectSchema): string[][] {
  const allOf = Array.isArray(schema['allOf']) ? (schema['allOf'] as { anyOf: { required: [string] }[] }[]) : [];
  return allOf.map(({ anyOf }) => anyOf.map(({ required: [key] }) => key));
}

function needOneOf(schema: ObjectSchema, keys: readonly string[]): void {
  schema['allOf'] = [...needed(schema), keys].map((names) => oneOf(names));
}

/** `output_to` and `output-to` for `outputTo`; `timeout`, `timeoutSecs` and `timeout_minutes` for `timeoutMs`. */
function otherWordings(keys: readonly string[], { properties }: ObjectSchema): { [pattern: string]: Json } {
  const patterns: [string, Json][] = [];
  for (const key of keys) {
    const words = key
      .split(/(?=[A-Z])/)
      .map((word, index) =>
        index === 0 ? word : `[${word.charAt(0)}${word.charAt(0).toLowerCase()}]${word.slice(1)}`,
      );
    if (words.length > 1 && LONG_KEYS.has(key)) patterns.push([`^${words.join('[_-]+')}$`, properties[key] ?? {}]);
    const stem = key.replace(/Ms$/, '');
    if (stem !== key && TIMES.has(stem))
      patterns.push([
        `^${words.slice(0, -1).join('[_-]*')}(?:[_-]*(?:[Ss]ec(?:ond)?s?|[Mm]in(?:ute)?s?|[Hh]ours?))?$`,
        AMOUNT,
      ]);
  }
  return Object.fromEntries(patterns.filter(([pattern]) => !keys.some((key) => new RegExp(pattern).test(key))));
}
