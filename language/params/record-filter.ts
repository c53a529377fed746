/** What records of a collection are looked for by: fields with their values, or with operators. */
import * as z from 'zod';
import { isJsonObject } from '../json.ts';
import { Value } from '../model.ts';
import { spelledNearly } from '../read/remedies/meant-word.ts';

const Comparable = z.union([z.number(), z.string()]);
const Operators = z.strictObject({
  $eq: Value.optional(),
  $ne: Value.optional(),
  $gt: Comparable.optional(),
  $gte: Comparable.optional(),
  $lt: Comparable.optional(),
  $lte: Comparable.optional(),
  $in: z.array(Value).optional(),
  $contains: Value.optional(),
});
const OPERATORS = Object.keys(Operators.shape);

const hasOperator = (value: unknown): boolean =>
  isJsonObject(value) && Object.keys(value).some((name) => name.startsWith('$'));

/** A misspelt operator is refused here: the store would look for an object that has such a field. */
export const RecordFilter = z.record(z.string().min(1), Value).superRefine((filter, problems) => {
  for (const [field, expected] of Object.entries(filter)) {
    if (!hasOperator(expected)) continue;
    for (const issue of Operators.safeParse(expected).error?.issues ?? []) {
      problems.addIssue({ code: 'custom', path: [field, ...issue.path], message: wordsOf(issue) });
    }
  }
});

function wordsOf(issue: z.core.$ZodIssue): string {
  const near = issue.code === 'unrecognized_keys' ? spelledNearly(issue.keys[0] ?? '', OPERATORS) : undefined;
  return `${issue.message} (${near === undefined ? `operators: ${OPERATORS.join(', ')}` : `write ${near}`})`;
}
