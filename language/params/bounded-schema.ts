/**
 * A JSON Schema that somebody else wrote, held against a value that somebody else sent. Ajv compiles the schema,
 * and what it then does is bounded: the size of the schema, the steps of one check (choices within choices double
 * with each level, also where a schema refers to itself), and the time of each pattern.
 */
import type { Ajv, ErrorObject, Options } from 'ajv';
import { canonicalText } from '../canonical.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { nestingDepthMax } from '../limits.ts';
import { linearPattern, PatternCost } from './linear-pattern.ts';

type Draft = new (options: Options) => Pick<Ajv, 'compile' | 'addKeyword' | 'removeKeyword'>;

/** The errors; a sentence where the schema and the value together are more than is checked; null where it fits. */
export type Check = (value: Json) => ErrorObject[] | string | null;

/** Places of a schema that hold a schema. */
const schemasMax = 2_000;
/** All that a schema holds, lists of values included. */
const partsMax = 50_000;
/** Of one check, for the schema and for each part of the value. */
const stepsMax = 100_000;
const stepsPerPart = 16;
const charactersPerStep = 64;

/** Stands in each schema, and counts when it is applied. */
const COUNTED = 'x-sentinel-steps';

class TooManySteps extends Error {}

/** Throws where the schema is none, or too large. */
export function boundedCheck(draft: Draft, options: Options, schema: JsonObject): Check {
  let stepsLeft = 0;
  const spend = (steps: number): void => {
    stepsLeft -= steps;
    if (stepsLeft < 0) throw new TooManySteps();
  };
  const ajv = new draft({
    ...options,
    inlineRefs: false,
    code: { optimize: false, regExp: Object.assign((source: string) => linearPattern(source), { code: 'linear' }) },
  });
  // Its own compares each item with each other one.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({ keyword: 'uniqueItems', type: 'array', schemaType: 'boolean', compile: uniqueItems });
  ajv.addKeyword({
    keyword: COUNTED,
    before: 'not',
    errors: false,
    validate: (weight: number, data: Json) => {
      spend(weight * sizeOf(data));
      return true;
    },
  });
  const validate = ajv.compile(counted(schema));
  return (value) => {
    stepsLeft = stepsMax + stepsPerPart * partsOf(value);
    try {
      return validate(value) ? null : (validate.errors ?? []);
    } catch (error) {
      if (error instanceof PatternCost) return error.message;
      if (error instanceof TooManySteps || error instanceof RangeError)
        return 'needs too many steps to be held against its schema; write the schema with fewer choices within each other, and without one that refers to itself';
      throw error;
    }
  };
}

type Unique = ((data: Json[]) => boolean) & { errors?: Partial<ErrorObject>[] };

function uniqueItems(isWanted: boolean): Unique {
  const check: Unique = (data) => {
    if (!isWanted || new Set(data.map(canonicalText)).size === data.length) return true;
    check.errors = [{ keyword: 'uniqueItems', message: 'must NOT have duplicate items', params: {} }];
    return false;
  };
  return check;
}

function sizeOf(data: Json): number {
  if (typeof data === 'string') return 1 + data.length / charactersPerStep;
  return isJsonObject(data) ? 1 + Object.keys(data).length : 1;
}

/** Values within a value; iterative, as it may be deep. */
function partsOf(value: Json): number {
  let parts = 0;
  const pending: Json[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    parts += typeof next === 'string' ? 1 + next.length / charactersPerStep : 1;
    if (typeof next === 'object' && next !== null) for (const inner of Object.values(next)) pending.push(inner);
  }
  return parts;
}

/** Their members are schemas, whatever their names. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies']);
/** What they hold is compared as it stands. */
const VALUES = new Set(['const', 'enum']);

/** The same schema, with a count in every place that a reference may lead to. */
function counted(whole: JsonObject): JsonObject {
  let [schemas, parts] = [0, 0];
  const part = (depth: number): void => {
    parts += 1;
    if (parts > partsMax) throw new Error(`a schema holds at most ${partsMax} values`);
    if (depth > nestingDepthMax) throw new Error(`a schema is nested at most ${nestingDepthMax} deep`);
  };
  const inner = (value: Json, depth: number): Json => {
    part(depth);
    if (Array.isArray(value)) return value.map((item) => inner(item, depth + 1));
    return isJsonObject(value) ? schemaIn(value, depth) : value;
  };
  const schemaIn = (schema: JsonObject, depth: number): JsonObject => {
    schemas += 1;
    if (schemas > schemasMax) throw new Error(`a schema holds at most ${schemasMax} schemas`);
    refuseHidden(schema);
    const entries = Object.entries(schema).map(([keyword, value]): [string, Json] => {
      if (VALUES.has(keyword)) return [keyword, value];
      if (!MAPS.has(keyword) || !isJsonObject(value)) return [keyword, inner(value, depth + 1)];
      const members = Object.entries(value);
      return [keyword, Object.fromEntries(members.map(([name, one]) => [name, inner(one, depth + 2)]))];
    });
    return Object.fromEntries([...entries, [COUNTED, weightOf(schema)]]);
  };
  return schemaIn(whole, 1);
}

/** A reference into a value would lead to what is not counted. */
function refuseHidden({ $ref: reference }: JsonObject): void {
  if (typeof reference === 'string' && /\/(?:const|enum)(?:\/|$)/.test(reference) && !isNamed(reference))
    throw new Error(`the reference ${JSON.stringify(reference.slice(0, 200))} leads to a value, and not to a schema`);
}

/** A property or a definition may have such a name. */
const isNamed = (reference: string): boolean => /^#(?:\/(?:properties|\$defs|definitions)\/[^/]+)+$/.test(reference);

/** What applying it once costs beside the schemas in it. */
function weightOf({ enum: list, const: value, patternProperties }: JsonObject): number {
  const compared = partsOf(list ?? null) + partsOf(value ?? null);
  return 1 + compared / 8 + (isJsonObject(patternProperties) ? Object.keys(patternProperties).length : 0);
}
