/** The keys of the format and what may stand under each, as the schemas of the canonical form say. */
import * as z from 'zod';
import { Definition } from '../../model.ts';

/** Kinds of values by key, wherever in a definition the key stands. */
const KINDS = kindsIn(Definition, new Map(), new Set());

/** Every key that more than one word makes. */
export const longKeys: readonly string[] = [...KINDS.keys()].filter((key) => /[A-Z]/.test(key));

/** Keys of times, without the unit behind them. */
export const timeKeys: readonly string[] = longKeys.flatMap((key) => /^(.+)Ms$/.exec(key)?.[1] ?? []);

/** Keys under which a number stands, or a text from which one is computed. */
export const numberKeys: readonly string[] = keysOf('number', ['string']);

/** Keys under which `true` or `false` stands. */
export const flagKeys: readonly string[] = keysOf('boolean', []);

function keysOf(kind: string, besides: readonly string[]): string[] {
  return [...KINDS].flatMap(([key, kinds]) =>
    kinds.has(kind) && [...kinds].every((each) => each === kind || besides.includes(each)) ? [key] : [],
  );
}

function kindsIn(
  schema: z.core.$ZodType,
  found: Map<string, Set<string>>,
  seen: Set<unknown>,
): Map<string, Set<string>> {
  if (seen.has(schema)) return found;
  seen.add(schema);
  if (schema instanceof z.ZodObject)
    for (const [key, field] of Object.entries<z.core.$ZodType>(schema.shape)) {
      const kinds = found.get(key) ?? new Set();
      found.set(key, kinds);
      for (const kind of kindsOf(field)) kinds.add(kind);
    }
  for (const inner of within(schema)) kindsIn(inner, found, seen);
  return found;
}

function within(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return Object.values<z.core.$ZodType>(schema.shape);
  if (schema instanceof z.ZodArray) return [schema.element];
  if (schema instanceof z.ZodRecord) return [schema.valueType];
  return alternativesOf(schema) ?? [];
}

/** What a schema stands for; null where that is itself. */
function alternativesOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] | null {
  if (schema instanceof z.ZodUnion) return schema.options;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodLazy || schema instanceof z.ZodReadonly)
    return [schema.unwrap()];
  return schema instanceof z.ZodPipe ? [schema.in] : null;
}

/** Of a value that may be anything, more than one. */
function kindsOf(schema: z.core.$ZodType, seen: ReadonlySet<unknown> = new Set()): string[] {
  if (seen.has(schema)) return [];
  const inner = alternativesOf(schema);
  if (inner === null) return schema instanceof z.ZodType ? [schema.def.type] : [];
  return inner.flatMap((each) => kindsOf(each, new Set([...seen, schema])));
}
