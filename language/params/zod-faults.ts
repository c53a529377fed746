/** Parameters held against a zod schema. */
import type * as z from 'zod';
import { valueAt, type JsonObject } from '../json.ts';
import type { ParamFault } from './param-check.ts';

/** None where the schema can only say so later, asking the world. */
export function zodFaults(schema: z.ZodType, params: JsonObject): ParamFault[] {
  try {
    const read = schema.safeParse(params);
    return read.success ? [] : read.error.issues.flatMap((issue) => faultsOf(issue, params));
  } catch {
    // A check that is asynchronous, or throws, is the performing step's to run.
    return [];
  }
}

function faultsOf(issue: z.core.$ZodIssue, params: JsonObject): ParamFault[] {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ code: 'UNKNOWN_KEY', path: [...path, key], message: 'is not taken' }));
  if (path.length > 0 && valueAt(params, path) === undefined)
    return [{ code: 'MISSING_KEY', path, message: neededText(issue) }];
  return [{ code: issue.code === 'invalid_type' ? 'WRONG_TYPE' : 'WRONG_VALUE', path, message: issue.message }];
}

/** What zod finds where nothing is says no more than that, unless the schema has words of its own. */
const neededText = ({ code, message }: z.core.$ZodIssue): string =>
  code === 'invalid_type' && message.endsWith('received undefined') ? 'is needed' : `is needed: ${message}`;
