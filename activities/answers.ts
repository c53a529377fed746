/** What workflow code needs for questions and cannot do itself: a digest, and a JSON Schema. */
import { createHash } from 'node:crypto';
import { Ajv } from 'ajv';
import type { Json, JsonObject } from '../language/json.ts';

export function digestOf(text: string): Promise<string> {
  return Promise.resolve(createHash('sha256').update(text).digest('hex'));
}

/** What is wrong with the data, in words; null where it fits. */
export function checkForm(form: JsonObject, data: Json): Promise<string | null> {
  const ajv = new Ajv({ allErrors: true, strict: false });
  let validate;
  try {
    validate = ajv.compile(form);
  } catch (error) {
    return Promise.resolve(`the form is no JSON Schema (${error instanceof Error ? error.message : String(error)})`);
  }
  return Promise.resolve(validate(data) ? null : ajv.errorsText(validate.errors, { dataVar: 'data' }));
}
