/** What a definition declares: its inputs by a JSON Schema, what its nested steps hand to others that do, and its outputs. */
import { inputNames, neededInputs, startValues } from '../../inputs/declared-inputs.ts';
import { isJsonObject, type Json, type JsonObject } from '../../json.ts';
import type { SentinelStep } from '../../model.ts';
import { schemaFaults, schemaFlaw, type SchemaFaults, type SchemaFlaw } from '../../params/schema-faults.ts';
import type { Problem } from '../../problems.ts';
import { isTemplate } from '../../references/written-references.ts';
import { isPlain, join, type Origins, type Plain } from '../draft/draft.ts';
import type { DefinitionSite, Sites, StepSite } from '../inventory/sites.ts';
import { nearestFix } from '../remedies/meant-word.ts';
import type { KnownRefs } from './nesting.ts';
import { isSet, namesSet, type Names } from './references.ts';
import { END_FIELDS } from '../shapes/of-steps.ts';
import { badSchema } from './step-details.ts';
import { checkName } from './steps.ts';

export function checkDeclared(sites: Sites, origins: Origins, knownRefs: KnownRefs): Problem[] {
  const names = namesSet(sites);
  return [
    ...sites.definitions.flatMap((site) => [...checkSchema(site, origins), ...checkOutputs(site, origins)]),
    ...sites.steps.flatMap((site) => [
      ...checkHandedOn(site, origins, knownRefs),
      ...checkNeeded(site, origins, knownRefs, names),
    ]),
  ];
}

function checkSchema({ value, path }: DefinitionSite, origins: Origins): Problem[] {
  const { inputSchema: schema, inputs } = value;
  if (schema === undefined) return [];
  const at = origins.locate(value, path, ['inputSchema']);
  const problems = badSchema(schema, at, 'object');
  if (inputs !== undefined)
    problems.push({
      code: 'CONFLICTING_KEYS',
      severity: 'error',
      path: at,
      message:
        '"inputs" and "inputSchema" both say what a run is given; write the values of "inputs" as "default" there',
    });
  if (problems.length > 0 || !isPlain(schema)) return problems;
  const flaw = foreignKey(schema) ?? schemaFlaw(schema as JsonObject);
  if (flaw !== null) {
    const message = `this is not a JSON Schema: ${flaw.message}`;
    return [{ code: 'BAD_SCHEMA', severity: 'error', path: flaw.path.reduce<string>(join, at), message }];
  }
  return [...checkNames(schema, at), ...checkDefaults(schema, at)];
}

/** Keywords with which a schema says something of its properties without listing them, or nothing of them. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'type title description default examples required additionalProperties patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas dependencies unevaluatedProperties definitions allOf anyOf oneOf not if then else enum const deprecated readOnly writeOnly'.split(
    ' ',
  ),
);

/** The names of inputs, written beside "type" and not in "properties". */
function foreignKey(schema: Plain): SchemaFlaw | null {
  if (schema['properties'] !== undefined) return null;
  const key = Object.keys(schema).find((one) => !KEYWORDS.has(one) && !/^(?:\$|x-)/.test(one));
  if (key === undefined) return null;
  const message = `"${key}" is not a keyword of a JSON Schema; inputs are listed in "properties": {"properties": {"${key}": {…}}}`;
  return { path: [key], message };
}

function checkOutputs({ value, path }: DefinitionSite, origins: Origins): Problem[] {
  const { outputs } = value;
  if (!isPlain(outputs)) return [];
  return Object.keys(outputs).flatMap((name): Problem[] => {
    const at = origins.locate(value, path, ['outputs', name]);
    if (!END_FIELDS.has(name)) return checkName(name, at);
    const message = `every result of a run has a "${name}" of its own; choose another name`;
    return [{ code: 'RESERVED_NAME', severity: 'error', path: at, message }];
  });
}

/** Null where the schema is none, which is told of the definition that has it. */
function faultsOf(schema: JsonObject): SchemaFaults | null {
  try {
    return schemaFaults(schema);
  } catch {
    return null;
  }
}

function checkNames(schema: Plain, at: string): Problem[] {
  const names = inputNames({ inputSchema: schema });
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const undeclared = required.flatMap((name: unknown, index): Problem[] => {
    if (typeof name !== 'string' || names.includes(name)) return [];
    const near = nearestFix(name, names);
    const message = `"${name}" is needed and not declared; ${near.fix ?? `add "${name}" to "properties"`}`;
    return [{ code: 'WRONG_VALUE', severity: 'error', path: join(join(at, 'required'), index), message, ...near }];
  });
  return [...names.flatMap((name) => checkName(name, join(join(at, 'properties'), name))), ...undeclared];
}

function checkDefaults(schema: Plain, at: string): Problem[] {
  const properties = isPlain(schema['properties']) ? schema['properties'] : {};
  const defaults = Object.entries(properties).flatMap(([name, inner]): [string, Json][] =>
    isPlain(inner) && inner['default'] !== undefined ? [[name, inner['default'] as Json]] : [],
  );
  if (defaults.length === 0) return [];
  // Alone it may refer to what stands beside it.
  const { required: _required, ...whole } = schema as JsonObject;
  const faults = schemaFaults(whole);
  return defaults.flatMap(([name, value]): Problem[] => {
    const [fault] = faults({ [name]: value });
    if (fault === undefined || fault.path[0] !== name) return [];
    const message = `the default of "${name}" does not fit: it ${fault.message}`;
    return [
      { code: fault.code, severity: 'error', path: join(join(join(at, 'properties'), name), 'default'), message },
    ];
  });
}

/** What a step hands to the definition that it runs, as far as it is written out. */
function checkHandedOn({ step, path }: StepSite, origins: Origins, knownRefs: KnownRefs): Problem[] {
  if (step.type !== 'sentinel' || step.inputs === undefined) return [];
  const { name: childName, schema } = declaringChild(step, knownRefs);
  if (schema === undefined) return [];
  const { inputs } = step;
  const { required: _inherited, ...rest } = schema;
  const isClosed = (schema['additionalProperties'] ?? false) === false && schema['patternProperties'] === undefined;
  const faults = faultsOf(isClosed ? { ...rest, additionalProperties: false } : rest);
  if (faults === null) return [];
  const names = inputNames({ inputSchema: schema });
  return faults(inputs).flatMap((fault): Problem[] => {
    const [name = ''] = fault.path;
    if (fault.code !== 'UNKNOWN_KEY' && holdsReference(inputs[name] ?? null)) return [];
    const near = fault.code === 'UNKNOWN_KEY' && fault.path.length === 1 ? nearestFix(name, names) : {};
    const message =
      fault.code === 'UNKNOWN_KEY'
        ? `"${childName}" has no input "${fault.path.join('.')}"; ${near.fix ?? `there are ${names.join(', ')}`}`
        : `"${childName}" does not take this: it ${fault.message}`;
    return [
      {
        code: fault.code,
        severity: 'error',
        path: origins.locate(step, path, ['inputs', ...fault.path]),
        message,
        ...near,
      },
    ];
  });
}

/** What a definition needs, a step hands to it or a variable around the step has; a run may still be given it. */
function checkNeeded({ step, path, place }: StepSite, origins: Origins, knownRefs: KnownRefs, names: Names): Problem[] {
  if (step.type !== 'sentinel') return [];
  const { name: childName, schema } = declaringChild(step, knownRefs);
  if (schema === undefined) return [];
  const begins = startValues({ inputSchema: schema });
  const isThere = (name: string): boolean =>
    Object.hasOwn(step.inputs ?? {}, name) ||
    Object.hasOwn(begins, name) ||
    isSet(name, place.definition, names) ||
    place.loops.some(({ loop }) => 'as' in loop && loop.as === name);
  return neededInputs(schema)
    .filter((name) => !isThere(name))
    .map((name) => ({
      code: 'MISSING_KEY',
      severity: 'warning',
      path: origins.locate(step, path, ['inputs']),
      message: `"${childName}" needs "${name}", and nothing here sets it; add it to "inputs" of the step, or give it when the run starts`,
      fix: `add "${name}" to "inputs" of the step`,
    }));
}

function declaringChild(
  { definition }: SentinelStep,
  knownRefs: KnownRefs,
): { name: string; schema: JsonObject | undefined } {
  const child = '$ref' in definition ? knownRefs(definition.$ref) : definition;
  const schema: unknown = child?.inputSchema;
  return { name: child?.name ?? '', schema: isJsonObject(schema) ? schema : undefined };
}

/** Its value is known when a run reaches the step. */
function holdsReference(value: Json): boolean {
  if (typeof value === 'string') return isTemplate(value);
  return typeof value === 'object' && value !== null && Object.values(value).some((part) => holdsReference(part));
}
