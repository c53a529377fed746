/** What workflow code needs for questions and cannot do itself: a digest, and a JSON Schema. */
import { createHash } from 'node:crypto';
import { formFault } from '../../language/params/form.ts';
import type { Json, JsonObject } from '../../language/json.ts';

export function digestOf(text: string): Promise<string> {
  return Promise.resolve(createHash('sha256').update(text).digest('hex'));
}

/** What is wrong with the data, in words; null where it fits. */
export const checkForm = (form: JsonObject, data: Json): Promise<string | null> =>
  Promise.resolve(formFault(form, data));
