/**
 * Where the schema takes a word or an object, what is wrong with the one that was written: a word is held
 * against the words, and an object against the object.
 */
import type * as z from 'zod';
import { isPlain } from '../draft/draft.ts';

/** The issue itself where the value could have been meant for several members, or for none. */
export function narrowed(issue: z.core.$ZodIssue, value: unknown): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const meant = issue.errors.filter((issues) =>
    isPlain(value)
      ? issues.every((inner) => inner.path.length > 0 || inner.code === 'unrecognized_keys')
      : typeof value === 'string' && issues.every((inner) => inner.code === 'invalid_value' && inner.path.length === 0),
  );
  const [only, ...others] = meant;
  if (only === undefined || others.length > 0) return [issue];
  return only.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }));
}
