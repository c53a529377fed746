/** Parameters held against a JSON Schema that came from elsewhere, of whichever draft it says. */
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pathOfPointer, valueAt, type Json, type JsonObject } from '../json.ts';
import { boundedCheck } from './bounded-schema.ts';
import type { ParamFault } from './param-check.ts';

const options: Options = { allErrors: true, strict: false, logger: false, validateFormats: false, verbose: true };

/** What a schema finds in parameters. */
export type SchemaFaults = (params: JsonObject) => readonly ParamFault[];

/** Throws where the schema is none. */
export function schemaFaults({ $schema, $id: _id, ...schema }: JsonObject): SchemaFaults {
  const check = boundedCheck(draftOf($schema), options, schema);
  return (params) => {
    const errors = check(params) ?? [];
    if (typeof errors === 'string') return [{ code: 'WRONG_VALUE', path: [], message: errors }];
    return faultsIn(errors.filter(isFinding));
  };
}

export interface SchemaFlaw {
  path: readonly string[];
  message: string;
}

/** What keeps a schema from being one, and where in it. Null: it can be used. */
export function schemaFlaw({ $schema, $id: _id, ...schema }: JsonObject): SchemaFlaw | null {
  const draft = draftOf($schema);
  const ajv = new draft(options);
  if (ajv.validateSchema(schema) === false) {
    // The innermost place has the mistake; the places around it only repeat it.
    const [inmost] = (ajv.errors ?? []).toSorted((a, b) => pathOf(b).length - pathOf(a).length);
    if (inmost !== undefined) return { path: pathOf(inmost), message: flawWords(inmost, schema) };
  }
  try {
    boundedCheck(draft, options, schema);
    return null;
  } catch (error) {
    return { path: [], message: (error instanceof Error ? error.message : String(error)).slice(0, 300) };
  }
}

export const SCHEMA_TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;

export const noSuchType = (type: unknown): string =>
  `there is no type ${JSON.stringify(type)}; there are ${SCHEMA_TYPES.join(', ')}`;

function flawWords(error: ErrorObject, schema: JsonObject): string {
  const path = pathOf(error);
  const type = valueAt(schema, path);
  if (path.at(-1) === 'type' && typeof type === 'string') return noSuchType(type);
  const { message } = faultOf(error);
  return `"${path.join('.')}" ${message}`;
}

function draftOf(said: unknown): typeof Ajv | typeof Ajv2019 | typeof Ajv2020 {
  const draft = typeof said === 'string' ? said : '';
  if (/draft-0[4-7]/.test(draft)) return Ajv;
  return draft.includes('2019-09') ? Ajv2019 : Ajv2020;
}

/** That a rule applied is said by what it found. */
const isFinding = ({ keyword }: ErrorObject): boolean => keyword !== 'if';

/**
 * Of a value that may have one of several forms, each form says what keeps the value from it. What counts is said by
 * the one form that is of the value's kind; where there is none, or several are, one sentence speaks of all.
 */
function faultsIn(errors: readonly ErrorObject[]): ParamFault[] {
  let left = [...errors];
  const told = new Map<ErrorObject, Told>();
  // The choice around another comes behind it.
  for (const choice of errors.toReversed()) {
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || !left.includes(choice)) continue;
    const inside = left.filter(({ schemaPath }) => schemaPath.startsWith(`${choice.schemaPath}/`));
    const formOf = ({ schemaPath }: ErrorObject): string =>
      schemaPath.slice(choice.schemaPath.length + 1).split('/')[0] ?? '';
    const ofKind = inside.filter(
      ({ keyword, instancePath }) => keyword === 'type' && instancePath === choice.instancePath,
    );
    const others = new Set(ofKind.map(formOf));
    const forms = new Set(inside.map(formOf).filter((form) => !others.has(form)));
    const isMeant = forms.size === 1 && !fitsSeveral(choice);
    const dropped = new Set(isMeant ? [choice, ...inside.filter((error) => others.has(formOf(error)))] : inside);
    if (!isMeant) told.set(choice, ofChoice(choice, inside, forms.size === 0 ? ofKind : [], formOf));
    left = left.filter((error) => !dropped.has(error));
  }
  return left.map((error) => faultOf(error, told.get(error)));
}

type Told = Pick<ParamFault, 'code' | 'message'>;

/** `kinds`: the errors of the forms, where all of them are of another kind than the value. */
function ofChoice(
  choice: ErrorObject,
  inside: readonly ErrorObject[],
  kinds: readonly ErrorObject[],
  formOf: (error: ErrorObject) => string,
): Told {
  if (!fitsSeveral(choice)) {
    const types = new Set(kinds.flatMap(({ params }) => params['type'] as string | string[]));
    if (types.size > 0) return { code: 'WRONG_TYPE', message: `must be ${[...types].join(' or ')}` };
    const groups = needed(inside, formOf);
    if (groups.length > 0) return { code: 'MISSING_KEY', message: `must hold ${groups.join(' or ')}` };
  }
  const many = choice.keyword === 'anyOf' ? 'one' : 'exactly one';
  return { code: 'WRONG_VALUE', message: `must fit ${many} of the alternatives` };
}

/** Of a value that fits more forms than it may, those it does not fit say nothing. */
const fitsSeveral = ({ params }: ErrorObject): boolean => Array.isArray(params['passingSchemas']);

/** Where all that the forms lack are parameters: those that each needs. */
function needed(inside: readonly ErrorObject[], formOf: (error: ErrorObject) => string): string[] {
  if (!inside.every(({ keyword }) => keyword === 'required')) return [];
  const forms = new Map(
    inside.map((error) => [formOf(error), (error.parentSchema as { required?: readonly string[] }).required ?? []]),
  );
  return Array.from(forms.values(), (names) => names.map((name) => `"${name}"`).join(' and '));
}

const pathOf = ({ instancePath }: ErrorObject): string[] => pathOfPointer(instancePath);

function faultOf(error: ErrorObject, told?: Told): ParamFault {
  const { keyword, params, parentSchema, message = 'does not fit' } = error;
  const path = pathOf(error);
  if (told !== undefined) return { ...told, path };
  const { missingProperty, additionalProperty, allowedValues } = params as {
    missingProperty?: string;
    additionalProperty?: string;
    allowedValues?: readonly Json[];
  };
  if (keyword === 'required' && missingProperty !== undefined)
    return { code: 'MISSING_KEY', path: [...path, missingProperty], message: 'is needed' };
  if (keyword === 'additionalProperties' && additionalProperty !== undefined)
    return {
      code: 'UNKNOWN_KEY',
      path: [...path, additionalProperty],
      message: 'is not taken',
      taken: Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {}),
    };
  if ((keyword === 'minLength' || keyword === 'minItems') && params['limit'] === 1)
    return { code: 'WRONG_VALUE', path, message: 'must not be empty' };
  if (keyword === 'false schema') return { code: 'UNKNOWN_KEY', path, message: 'is not taken beside the others' };
  if (allowedValues !== undefined) {
    const allowed = allowedValues.map((value) => JSON.stringify(value)).join(', ');
    return { code: 'WRONG_VALUE', path, message: `must be one of ${allowed}` };
  }
  if (keyword === 'type' && Array.isArray(params['type']))
    return { code: 'WRONG_TYPE', path, message: `must be ${params['type'].join(' or ')}` };
  return { code: keyword === 'type' ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message };
}
