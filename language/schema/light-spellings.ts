/**
 * What editors accept besides the canonical form: the light spellings of the `$` dialect, which the
 * reader rewrites. The other dialects are for programs and are not described; `sentinel normalize`
 * turns them into what the schema knows.
 */
import type { Json, JsonObject } from '../json.ts';

/** Lighter name → canonical key; allowed wherever the canonical key is. */
const ALIASES: Readonly<Record<string, string>> = {
  cmd: 'command',
  fail_fast: 'failFast',
  timeout: 'timeoutMs',
  timeout_ms: 'timeoutMs',
  output_to: 'outputTo',
  on_error: 'onError',
};

/** Lighter names of one kind of object only. */
const ALIASES_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = { ConditionStep: { if: 'check' }, ParallelStep: { steps: 'branches' } };

const NUMBERS: ReadonlySet<string> = new Set(['timeoutMs', 'max', 'maxIterations', 'intervalMs', 'temperature', 'maxConcurrency']);

/** Keys of a loop that may stand beside the steps of a loop step, in place of `loop`. */
const FLAT_LOOP: Readonly<Record<string, string>> = {
  mode: 'How often the steps run; the same as "loop": {"type": …}.',
  count: 'How many passes; the same as "loop": {"max": …}.',
  max: 'How many passes.',
  check: 'An expression over the variables.',
  intervalMs: 'The pause between two passes, in milliseconds.',
  maxIterations: 'The most passes.',
  over: 'The array that the loop walks.',
  as: 'The variable that holds the current item.',
};

/** What a step without `type` is recognised by. */
const TELLING_KEYS = ['command', 'cmd', 'check', 'if', 'then', 'else', 'definition', 'branches', 'failFast', 'fail_fast', 'loop', 'mode', 'prompt', 'executionId', 'rules', 'event'];

export const untypedStep: JsonObject = {
  description: 'A step without "type": its other keys say what it is.',
  anyOf: TELLING_KEYS.map((key) => ({ required: [key] })),
};

export type ObjectSchema = JsonObject & { properties: { [key: string]: Json }; required?: string[] };

/** Adds to one object of the schema what may be written in it besides the canonical keys. */
export function withLightSpellings(id: string, schema: ObjectSchema): ObjectSchema {
  const properties = { ...schema.properties };
  for (const key of NUMBERS) if (properties[key] !== undefined) properties[key] = orText(properties[key]);
  const light = { ...schema, properties };
  if (id === 'Definition') light.required = without(light.required, 'loop');
  const isStep = id.endsWith('Step');
  for (const [alias, key] of Object.entries({ ...(isStep ? ALIASES : {}), ...ALIASES_OF[id] })) addAlias(light, alias, key);
  if (id === 'SentinelStep') properties['definition'] = orReference(properties['definition']);
  if (id === 'ParallelStep') properties['steps'] = memberList(properties['branches']);
  if (id === 'LoopStep') addFlatLoop(light);
  return light;
}

const without = (keys: readonly string[] | undefined, key: string): string[] => (keys ?? []).filter((other) => other !== key);

function orText(schema: Json): JsonObject {
  const { description, ...rest } = schema as JsonObject;
  const text = { type: 'string', pattern: '^\\s*\\d+(\\.\\d+)?\\s*$' };
  const members = Array.isArray(rest['anyOf']) ? rest['anyOf'] : [rest];
  return { ...(description === undefined ? {} : { description }), anyOf: [...members, text] };
}

/** The name of a definition, or a reference to one. */
function orReference(schema: Json | undefined): JsonObject {
  const { description, ...rest } = schema as JsonObject;
  const members = Array.isArray(rest['anyOf']) ? rest['anyOf'] : [rest];
  return { ...(description === undefined ? {} : { description }), anyOf: [...members, { type: 'string', minLength: 1 }] };
}

function addAlias(schema: ObjectSchema, alias: string, key: string): void {
  const canonical = schema.properties[key];
  if (canonical === undefined) return;
  schema.properties[alias] = { ...(canonical as JsonObject), description: `The same as "${key}".` };
  if (schema.required?.includes(key) !== true) return;
  schema.required = without(schema.required, key);
  require(schema, [key, alias]);
}

/** One of the keys has to be there. */
function require(schema: ObjectSchema, keys: readonly string[]): void {
  const allOf = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
  schema['allOf'] = [...allOf, { anyOf: keys.map((key) => ({ required: [key] })) }];
}

/** A member of a parallel step's `steps` is a branch: one step, a list of steps, or `{"steps": […]}`. */
function memberList(branches: Json | undefined): JsonObject {
  const branch = (branches as JsonObject)['items'] ?? {};
  const step = (branch as JsonObject)['items'] ?? {};
  const bare = { type: 'object', properties: { steps: branch }, required: ['steps'], additionalProperties: false };
  return { description: 'The branches: each member is a step, or a list of steps.', type: 'array', items: { anyOf: [branch, bare, step] } };
}

function addFlatLoop(schema: ObjectSchema): void {
  for (const [key, description] of Object.entries(FLAT_LOOP)) schema.properties[key] ??= { description };
  schema.required = without(schema.required, 'loop');
  require(schema, ['loop', 'mode']);
}
