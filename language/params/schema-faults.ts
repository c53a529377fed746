/** Parameters held against a JSON Schema that came from elsewhere, of whichever draft it says. */
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../json.ts';
import type { ParamFault } from './param-check.ts';

const options: Options = { allErrors: true, strict: false, logger: false, validateFormats: false, verbose: true };

/** What a schema finds in parameters. */
export type SchemaFaults = (params: JsonObject) => readonly ParamFault[];

/** Throws where the schema is none. */
export function schemaFaults({ $schema, $id: _id, ...schema }: JsonObject): SchemaFaults {
  const validate = ajvFor(typeof $schema === 'string' ? $schema : '').compile(schema);
  return (params) => (validate(params) ? [] : oneOfEachChoice(validate.errors ?? []).map(faultOf));
}

export interface SchemaFlaw {
  path: readonly string[];
  message: string;
}

/** What keeps a schema from being one, and where in it. Null: it can be used. */
export function schemaFlaw({ $schema, $id: _id, ...schema }: JsonObject): SchemaFlaw | null {
  const ajv = ajvFor(typeof $schema === 'string' ? $schema : '');
  if (ajv.validateSchema(schema) === false) {
    // The innermost place has the mistake; the places around it only repeat it.
    const [inmost] = (ajv.errors ?? []).toSorted((a, b) => pathOf(b).length - pathOf(a).length);
    if (inmost !== undefined) return { path: pathOf(inmost), message: flawWords(inmost, schema) };
  }
  try {
    ajv.compile(schema);
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
  const type = path.reduce<Json | undefined>(
    (value, part) => (typeof value === 'object' && value !== null ? (value as JsonObject)[part] : undefined),
    schema,
  );
  if (path.at(-1) === 'type' && typeof type === 'string') return noSuchType(type);
  const { message } = faultOf(error);
  return `"${path.join('.')}" ${message}`;
}

function ajvFor(draft: string): Pick<Ajv, 'compile' | 'validateSchema' | 'errors'> {
  if (/draft-0[4-7]/.test(draft)) return new Ajv(options);
  return draft.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options);
}

/**
 * Of a value that may have one of several forms, each form says what keeps the value from it. What counts is said by
 * the one form that is of the value's kind; where there is none, or several are, the kinds are said once.
 */
function oneOfEachChoice(errors: readonly ErrorObject[]): ErrorObject[] {
  let left = [...errors];
  // The choice around another comes behind it.
  for (const choice of errors.toReversed()) {
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || !left.includes(choice)) continue;
    const inside = left.filter(({ schemaPath }) => schemaPath.startsWith(`${choice.schemaPath}/`));
    const isOtherKind = ({ keyword, instancePath }: ErrorObject): boolean =>
      keyword === 'type' && instancePath === choice.instancePath;
    const formOf = ({ schemaPath }: ErrorObject): string =>
      schemaPath.slice(choice.schemaPath.length + 1).split('/')[0] ?? '';
    const others = new Set(inside.filter(isOtherKind).map(formOf));
    const forms = new Set(inside.map(formOf).filter((form) => !others.has(form)));
    const dropped = new Set(
      forms.size === 1 ? [choice, ...inside.filter((error) => others.has(formOf(error)))] : inside,
    );
    const kinds = inside.filter(isOtherKind).flatMap(({ params }) => params['type'] as string | string[]);
    if (forms.size === 0) choice.message = `must be ${[...new Set(kinds)].join(' or ')}`;
    left = left.filter((error) => !dropped.has(error));
  }
  return left;
}

function pathOf({ instancePath }: ErrorObject): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function faultOf(error: ErrorObject): ParamFault {
  const { keyword, params, parentSchema, message = 'does not fit' } = error;
  const path = pathOf(error);
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
  if (allowedValues !== undefined) {
    const allowed = allowedValues.map((value) => JSON.stringify(value)).join(', ');
    return { code: 'WRONG_VALUE', path, message: `must be one of ${allowed}` };
  }
  if (keyword === 'type' && Array.isArray(params['type']))
    return { code: 'WRONG_TYPE', path, message: `must be ${params['type'].join(' or ')}` };
  const isChoice = keyword === 'anyOf' || keyword === 'oneOf';
  if (isChoice && !message.startsWith('must be '))
    return {
      code: 'WRONG_VALUE',
      path,
      message: `must fit ${keyword === 'anyOf' ? 'one' : 'exactly one'} of the alternatives`,
    };
  return { code: keyword === 'type' || isChoice ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message };
}
