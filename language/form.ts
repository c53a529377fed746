/** Holding data against a form, which is a JSON Schema. */
import { Ajv } from 'ajv';
import type { Json, JsonObject } from './json.ts';

/** What is wrong with the data, in words; null where it fits. */
export function formFault(form: JsonObject, data: Json): string | null {
  const ajv = new Ajv({ allErrors: true, strict: false });
  let validate;
  try {
    validate = ajv.compile(form);
  } catch (error) {
    return `the form is no JSON Schema (${error instanceof Error ? error.message : String(error)})`;
  }
  return validate(data) ? null : ajv.errorsText(validate.errors, { dataVar: 'data' });
}
