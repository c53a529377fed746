/** What records of a collection are looked for by: fields with their values or with operators, and filters of filters. */
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { filterConditionsMax, filterDepthMax } from '../limits.ts';
import { Value } from '../model.ts';
import { FIELD_OPERATORS, FILTER_OPERATORS, hasOperator, type FieldOperator } from './record-operators.ts';
import { spelledNearly } from '../read/remedies/meant-word.ts';

const Comparable = z.union([z.number(), z.string()], 'compares with a number or a text');
const Values = z.array(Value, 'needs a list of values');
/** A backslash at its end would have nothing to stand for. */
const Pattern = z
  .string('needs a text, in which % stands for any text and _ for one character')
  .refine((pattern) => !/(?<!\\)(?:\\\\)*\\$/.test(pattern), 'ends with a single backslash; write \\\\ for one');

/** Of a field; `$not` is checked by itself. */
const Operators = z.strictObject({
  $eq: Value.optional(),
  $ne: Value.optional(),
  $gt: Comparable.optional(),
  $gte: Comparable.optional(),
  $lt: Comparable.optional(),
  $lte: Comparable.optional(),
  $in: Values.optional(),
  $nin: Values.optional(),
  $like: Pattern.optional(),
  $contains: Value.optional(),
  $exists: z.boolean('needs true or false').optional(),
  $not: Value.optional(),
} satisfies { [operator in FieldOperator]: z.ZodType });
type Problem = (path: (string | number)[], message: string) => void;

/** A misspelt operator is refused here: the store would look for an object that has such a field. */
export const RecordFilter = z.record(z.string(), Value).superRefine((filter, problems) => {
  const check = new FilterCheck((path, message) => problems.addIssue({ code: 'custom', path, message }));
  check.filter(filter, [], 1);
});

class FilterCheck {
  readonly #problem: Problem;
  #conditions = 0;

  constructor(problem: Problem) {
    this.#problem = problem;
  }

  filter(filter: JsonObject, path: (string | number)[], depth: number): void {
    if (this.#isBeyond(path, depth)) return;
    for (const [name, expected] of Object.entries(filter)) {
      const at = [...path, name];
      if (name === '$and' || name === '$or') this.#filters(name, expected, at, depth);
      else if (name === '$not') this.#filterOf(name, expected, at, depth);
      else if (name.startsWith('$')) this.#problem(at, strayOperator(name));
      else if (name === '') this.#problem(at, 'a field has a name of one character at least');
      else if (hasOperator(expected)) this.#operators(expected, at, depth);
      else this.#count(at);
    }
  }

  #filters(name: string, given: Json, path: (string | number)[], depth: number): void {
    if (!Array.isArray(given) || given.length === 0)
      return this.#problem(path, `${name} needs a list of filters: {"${name}": [{"name": "a"}, {"size": {"$gt": 3}}]}`);
    given.forEach((one, index) => this.#filterOf(name, one, [...path, index], depth));
  }

  #filterOf(name: string, given: Json, path: (string | number)[], depth: number): void {
    if (isJsonObject(given)) return this.filter(given, path, depth + 1);
    this.#problem(path, `${name} needs ${name === '$not' ? 'a filter' : 'filters'}, which are objects: {"name": "a"}`);
  }

  #operators(operators: JsonObject, path: (string | number)[], depth: number): void {
    if (this.#isBeyond(path, depth)) return;
    for (const issue of Operators.safeParse(operators).error?.issues ?? [])
      this.#problem([...path, ...issue.path.map(asKey)], wordsOf(issue));
    for (const name of Object.keys(operators)) this.#count([...path, name]);
    const { $not: negated } = operators;
    if (negated === undefined) return;
    if (hasOperator(negated)) this.#operators(negated, [...path, '$not'], depth + 1);
    else this.#problem([...path, '$not'], '$not of a field needs operators: {"size": {"$not": {"$gt": 3}}}');
  }

  #isBeyond(path: (string | number)[], depth: number): boolean {
    if (depth <= filterDepthMax) return false;
    this.#problem(path, `filters stand more than ${filterDepthMax} levels inside one another; make it flatter`);
    return true;
  }

  #count(path: (string | number)[]): void {
    this.#conditions += 1;
    if (this.#conditions === filterConditionsMax + 1)
      this.#problem(path, `the filter has more than ${filterConditionsMax} conditions; use $in, or several lists`);
  }
}

const asKey = (key: PropertyKey): string | number => (typeof key === 'symbol' ? String(key) : key);

function strayOperator(name: string): string {
  if (FIELD_OPERATORS.some((operator) => operator === name))
    return `${name} stands below the field that it looks at: {"size": {"${name}": …}}`;
  const near = spelledNearly(name, [...FILTER_OPERATORS, ...FIELD_OPERATORS]);
  return `there is no operator ${name} (${near === undefined ? `operators: ${[...FILTER_OPERATORS, ...FIELD_OPERATORS].join(', ')}` : `write ${near}`}), and no field of a filter begins with $`;
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'unrecognized_keys') return `${String(issue.path[0] ?? '')} ${issue.message}`.trim();
  const near = spelledNearly(issue.keys[0] ?? '', FIELD_OPERATORS);
  return `${issue.message} (${near === undefined ? `operators: ${FIELD_OPERATORS.join(', ')}` : `write ${near}`})`;
}
