/** Holding data against a form, which is a JSON Schema. */
import { Ajv, type ErrorObject } from 'ajv';
import type { Json, JsonObject } from '../json.ts';
import { boundedCheck, type Check } from './bounded-schema.ts';

const options = { allErrors: true, strict: false, logger: false as const };
/** Of those who read the words. */
const errorsMax = 20;
const checksKeptMax = 50;
const checks = new Map<string, Check>();

/** What is wrong with the data, in words; null where it fits. */
export function formFault(form: JsonObject, data: Json): string | null {
  let check;
  try {
    check = checkOf(form);
  } catch (error) {
    return `the form is no JSON Schema (${error instanceof Error ? error.message : String(error)})`;
  }
  const found = check(data);
  if (found === null) return null;
  return typeof found === 'string' ? `data ${found}` : wordsOf(found);
}

/** Compiling takes longer than checking, and a step asks with the same form again and again. */
function checkOf(form: JsonObject): Check {
  const text = JSON.stringify(form);
  const check = checks.get(text) ?? boundedCheck(Ajv, options, form);
  if (checks.size >= checksKeptMax) checks.clear();
  checks.set(text, check);
  return check;
}

function wordsOf(errors: readonly ErrorObject[]): string {
  const words = errors.slice(0, errorsMax).map(({ instancePath, message }) => `data${instancePath} ${message ?? ''}`);
  return [...words, ...(errors.length > errorsMax ? [`and ${errors.length - errorsMax} more`] : [])].join(', ');
}
