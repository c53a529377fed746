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
  return (params) => (validate(params) ? [] : (validate.errors ?? []).map(faultOf));
}

function ajvFor(draft: string): Pick<Ajv, 'compile'> {
  if (/draft-0[4-7]/.test(draft)) return new Ajv(options);
  return draft.includes('2019-09') ? new Ajv2019(options) : new Ajv2020(options);
}

function faultOf({ keyword, instancePath, params, message = 'does not fit' }: ErrorObject): ParamFault {
  const path = instancePath
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
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
  return { code: keyword === 'type' ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message };
}
