/** References to definitions as they are written in habits of other formats: `{"ref": NAME}`, and what stands beside a `$ref`. */
import { Definition, SentinelStep } from '../../model.ts';
import type { Problem } from '../../problems.ts';
import type { Origins, Plain } from '../draft/draft.ts';
import { nearest } from '../remedies/meant-word.ts';

type Found = Pick<Problem, 'code' | 'path' | 'message' | 'fix'>;

/** A definition without steps that has a name in another word for `$ref`. */
export function meantReference(definition: Plain, path: string, origins: Origins): Found | undefined {
  if (Object.hasOwn(definition, 'steps')) return undefined;
  const key = Object.keys(definition).find(
    (each) =>
      !Object.hasOwn(Definition.shape, each) &&
      typeof definition[each] === 'string' &&
      nearest(each, ['$ref']) !== undefined,
  );
  if (key === undefined) return undefined;
  const fix = `write {"$ref": ${JSON.stringify(definition[key])}}`;
  return {
    code: 'UNKNOWN_KEY',
    path: origins.locate(definition, path, [key]),
    message: `"${key}" is not a key here; ${fix}`,
    fix,
  };
}

/** What is written beside `$ref` belongs to the step, or to what is referred to. */
export function beside(key: string, path: string, name: unknown): Found {
  const code = 'UNKNOWN_KEY';
  if (Object.hasOwn(SentinelStep.shape, key)) {
    const fix = 'write it beside "definition"';
    return { code, path, message: `"${key}" is not a key of a reference, but one of the step; ${fix}`, fix };
  }
  const reference = `{"type": "sentinel", "definition": {"$ref": ${JSON.stringify(name)}}}`;
  const message = Object.hasOwn(Definition.shape, key)
    ? `"${key}" is not a key of a reference: what it names says it itself; write a definition with "${key}" whose step is ${reference}`
    : `"${key}" is not a key here; a reference has "$ref" alone`;
  return { code, path, message };
}
