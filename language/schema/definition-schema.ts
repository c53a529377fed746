/**
 * The format as a JSON Schema (draft 2020-12), generated from the model, for editors and other
 * programs. It accepts the canonical form and its light spellings, and it says what every key means.
 * What needs more than one place of the file (bounds, references, nesting) only the reader can say.
 */
import * as z from 'zod';
import { findCommand, type Catalogue } from '../catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import * as model from '../model.ts';
import { Defaults, Thinking } from '../settings.ts';
import { commandRules, type ParamSchemas } from './command-params.ts';
import { DESCRIPTIONS, EVERYWHERE } from './descriptions.ts';
import { OUTERMOST, spellings, UNTYPED, withLightSpellings, type ObjectSchema } from './light-spellings.ts';
import { defined } from '../defined.ts';

/** Where the generated file lies, from the root of the package. */
export const SCHEMA_FILE = 'sentinels/sentinel.schema.json';

type Named = ReadonlyArray<{ id: string; schema: z.ZodType; type?: string }>;

type Typed = z.ZodType & { shape: { type: { value: string } } };

const capitalised = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function membersOf(union: { options: readonly Typed[] }, idOf: (type: string) => string): Named {
  return union.options.map((schema) => ({
    id: idOf(capitalised(schema.shape.type.value)),
    schema,
    type: schema.shape.type.value,
  }));
}

/** Every object of the model by the name it has in the schema. */
const NAMED: Named = [
  { id: 'Definition', schema: model.Definition },
  { id: 'DefinitionRef', schema: model.DefinitionRef },
  { id: 'Step', schema: model.Step },
  ...membersOf(model.Step, (type) => `${type}Step`),
  { id: 'Loop', schema: model.LoopConfig },
  ...membersOf(model.LoopConfig, (type) => `Loop${type}`),
  { id: 'Trigger', schema: model.Trigger },
  ...membersOf(model.Trigger, (type) => `Trigger${type}`),
  { id: 'Concurrency', schema: model.Concurrency },
  { id: 'Safety', schema: model.Safety },
  { id: 'Budget', schema: model.Budget },
  { id: 'Retry', schema: model.Retry },
  { id: 'Approvers', schema: model.Approvers },
  { id: 'EscalationRule', schema: model.EscalationRule },
  { id: 'Rule', schema: model.Rule },
  { id: 'Defaults', schema: Defaults },
  { id: 'ShellDefaults', schema: Defaults.shape.shell.unwrap() },
  { id: 'LlmMessage', schema: model.LlmStep.shape.messages.unwrap().element },
  { id: 'AutoCompact', schema: model.AutoCompact },
  { id: 'Verification', schema: model.Verification },
  { id: 'ThinkingDepth', schema: Thinking.options[1] },
  { id: 'SafetyBoost', schema: Thinking.options[1].shape.safetyBoost.unwrap() },
  { id: 'Value', schema: model.Value },
];

/** The commands of the catalogue are examples; a project may have others. `params`: what those take that are known. */
export function definitionSchema(catalogue: Catalogue, params: ParamSchemas): JsonObject {
  const ids = z.registry<{ id: string }>();
  for (const { id, schema } of NAMED) ids.add(schema, { id });
  const generated = z.toJSONSchema(model.Definition, {
    target: 'draft-2020-12',
    io: 'input',
    metadata: ids,
    override: ({ jsonSchema }) => forget(jsonSchema, 'id'),
  });
  const { $schema, $defs = {}, ...root } = generated as unknown as JsonObject & { $defs?: JsonObject };
  const named = { Definition: root, ...$defs };
  const entries = Object.entries(named).map(([id, schema]) => [id, finished(id, schema, catalogue)] as const);
  const definitions = Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  withRules(definitions['CommandStep'], withoutPrograms(params, catalogue));
  return {
    $schema: $schema ?? null,
    title: 'Sentinel definition',
    description: 'Generated from the model; print it with "sentinel schema".',
    ...OUTERMOST,
    $defs: pointedAtDefinition(definitions),
  };
}

/** A definition or a step that is handed over may be in any spelling, which only the reader knows. */
function withoutPrograms(params: ParamSchemas, catalogue: Catalogue): ParamSchemas {
  const takesNone = (command: string): boolean => (findCommand(catalogue, command)?.programParams ?? []).length === 0;
  return Object.fromEntries(Object.entries(params).filter(([command]) => takesNone(command)));
}

/** Beside what holds for every step that calls a command. */
function withRules(step: JsonObject | undefined, params: ParamSchemas): void {
  if (step === undefined) throw new Error('bug: the schema has no CommandStep');
  const rules = step['allOf'] ?? [];
  step['allOf'] = [...(Array.isArray(rules) ? rules : []), ...commandRules(params)];
}

/** The text of the published file. */
export function schemaText(catalogue: Catalogue, params: ParamSchemas): string {
  return `${JSON.stringify(definitionSchema(catalogue, params), null, 2)}\n`;
}

function forget(schema: object, key: string): void {
  Reflect.deleteProperty(schema, key);
}

/** zod refers to the outermost schema as `#`; here it is one of the named ones. */
function pointedAtDefinition(value: Json): Json {
  if (Array.isArray(value)) return value.map(pointedAtDefinition);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, inner]): [string, Json] => [
    key,
    key === '$ref' && inner === '#' ? '#/$defs/Definition' : pointedAtDefinition(inner),
  ]);
  return Object.fromEntries(entries);
}

function finished(id: string, schema: JsonObject, catalogue: Catalogue): JsonObject {
  const clean = withoutNoise(schema) as JsonObject;
  const members = clean['oneOf'];
  if (Array.isArray(members)) return byType(id, members as JsonObject[]);
  return isJsonObject(clean['properties'])
    ? described(id, withLightSpellings(id, described(id, clean as ObjectSchema, catalogue)), catalogue)
    : clean;
}

/** That a number is no greater than a program can hold, and a key a text, says nothing to a reader. */
function withoutNoise(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNoise);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, inner]) => key !== 'propertyNames' && !(key === 'maximum' && inner === Number.MAX_SAFE_INTEGER),
  );
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutNoise(inner)]));
}

/** One member is chosen by `type`, so that an editor reports what is wrong with that one alone. */
function byType(id: string, members: readonly JsonObject[]): JsonObject {
  const named = members.map((member) => {
    const reference = typeof member['$ref'] === 'string' ? member['$ref'] : '';
    const type = NAMED.find((known) => reference.endsWith(`/${known.id}`))?.type ?? '';
    return { reference, type };
  });
  const choices: JsonObject[] = named.map(({ reference, type }) => ({
    if: { properties: { type: { enum: spellings(type) } }, required: ['type'] },
    then: { $ref: reference },
  }));
  return {
    type: 'object',
    properties: { type: { description: EVERYWHERE['type'] ?? '', enum: named.flatMap(({ type }) => spellings(type)) } },
    allOf: [...choices, { if: { required: ['type'] }, else: UNTYPED[id] ?? {} }],
  };
}

function described(id: string, schema: ObjectSchema, catalogue: Catalogue): ObjectSchema {
  const lines = DESCRIPTIONS[id] ?? {};
  const properties = Object.entries(schema.properties).map(([key, inner]): [string, Json] => {
    const description = lines[key] ?? EVERYWHERE[key];
    const known = isJsonObject(inner) ? inner : {};
    return [
      key,
      {
        ...defined({ description }),
        ...known,
        ...(id === 'CommandStep' && key === 'command' ? { examples: Object.keys(catalogue) } : {}),
      },
    ];
  });
  return {
    ...defined({ description: lines[''] }),
    ...schema,
    properties: Object.fromEntries(properties),
  };
}
