/** Parameters held against a JSON Schema that came from elsewhere, of whichever draft it says. */
import { Ajv, type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, JsonObject } from '../json.ts';
import type { ParamFault } from './param-check.ts';

const options: Options = { allErrors: true, strict: false, logger: false, validateFormats: false };

/** What a schema finds in parameters. */
export type SchemaFaults = (params: JsonObject) => readonly ParamFault[];

/** Throws where the schema is none. */
export function schemaFaults({ $schema, $id: _id, ...schema }: JsonObject): SchemaFaults {
  const validate = ajvFor(typeof $schema === 'string' ? $schema : '').compile(schema);
  return (params) => (validate(params) ? [] : withoutChoices(validate.errors ?? []).map(faultOf));
}

/** Of a value that fits none of several schemas, one finding, and not what each of them misses. */
function withoutChoices(errors: readonly ErrorObject[]): ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  return errors.filter(
    (error) =>
      !choices.some(
        (choice) => error.schemaPath.startsWith(`${choice.schemaPath}/`) && error.instancePath === choice.instancePath,
      ),
  );
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

function pathOf({ instancePath }: ErrorObject): string[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function faultOf(error: ErrorObject): ParamFault {
  const { keyword, params, message = 'does not fit' } = error;
  const path = pathOf(error);
  const { missingProperty, additionalProperty, allowedValues } = params as {
    missingProperty?: string;
    additionalProperty?: string;
    allowedValues?: readonly Json[];
  };
  if (keyword === 'required' && missingProperty !== undefined)
    return { code: 'MISSING_KEY', path: [...path, missingProperty], message: 'is needed' };
  if (keyword === 'additionalProperties' && additionalProperty !== undefined)
    return { code: 'UNKNOWN_KEY', path: [...path, additionalProperty], message: 'is not taken' };
  if (allowedValues !== undefined) {
    const allowed = allowedValues.map((value) => JSON.stringify(value)).join(', ');
    return { code: 'WRONG_VALUE', path, message: `must be one of ${allowed}` };
  }
  if (keyword === 'type' && Array.isArray(params['type']))
    return { code: 'WRONG_TYPE', path, message: `must be ${params['type'].join(' or ')}` };
  if (keyword === 'anyOf' || keyword === 'oneOf')
    return {
      code: 'WRONG_VALUE',
      path,
      message: `must fit ${keyword === 'anyOf' ? 'one' : 'exactly one'} of the alternatives`,
    };
  return { code: keyword === 'type' ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message };
}
