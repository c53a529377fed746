/** Parameters of a command with one text wherever its schema takes a text. */
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import type { Command } from '../../../operations/command.ts';

export interface Planted {
  /** Each is accepted by the command, and together they hold the text in every place that can hold it. */
  params: JsonObject[];
  /** Parameters that take the text by themselves, and that the command never accepted with it. */
  missed: string[];
}

export function planted(command: Command, text: string): Planted {
  const schema =
    command.parameters ??
    (z.toJSONSchema(command.params, { io: 'input', unrepresentable: 'any' }) as unknown as JsonObject);
  const candidates = formsOf(schema).flatMap((form) => HOW.flatMap((how) => candidatesOf(form, { text, ...how })));
  const accepted = candidates
    .filter((params) => command.params.safeParse(params).success)
    .toSorted((a, b) => Object.keys(b).length - Object.keys(a).length);
  const covered = new Set<string>();
  const params = accepted.filter((one) => {
    const fresh = Object.entries(one)
      .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
      .filter((place) => !covered.has(place));
    for (const place of fresh) covered.add(place);
    return fresh.length > 0;
  });
  const holding = (all: readonly JsonObject[]): Set<string> =>
    new Set(all.flatMap((one) => Object.keys(one).filter((name) => JSON.stringify(one[name]).includes(text))));
  const held = holding(params);
  return {
    params: params.length === 0 ? [{}] : params,
    missed: [...holding(candidates)].filter((name) => !held.has(name)),
  };
}

/** `flag`: of booleans, and which of two forms. `differs`: no two texts are the same. */
interface How {
  text: string;
  flag: boolean;
  differs: boolean;
}

const HOW = [
  { flag: true, differs: false },
  { flag: false, differs: false },
  { flag: true, differs: true },
];

function formsOf(schema: JsonObject): JsonObject[] {
  const forms = schema['anyOf'] ?? schema['oneOf'];
  return Array.isArray(forms) ? forms.filter(isJsonObject).flatMap(formsOf) : [schema];
}

/** All parameters, the needed ones, and these with one or two more, or all with one less. */
function candidatesOf(form: JsonObject, how: How): JsonObject[] {
  const all = sampleOf(form, how);
  if (!isJsonObject(all)) return [];
  const required = Array.isArray(form['required']) ? form['required'] : [];
  const more = Object.keys(all).filter((name) => !required.includes(name));
  const pairs = more.flatMap((first) => more.map((second) => [first, second]));
  const choices = [more, [], ...pairs, ...more.map((left) => more.filter((name) => name !== left))];
  return choices.map((chosen) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => required.includes(name) || chosen.includes(name))),
  );
}

function sampleOf(schema: Json | undefined, how: How): Json {
  const { text, flag } = how;
  if (!isJsonObject(schema ?? null)) return text;
  const { const: constant, enum: values, anyOf, oneOf = anyOf, type, pattern, items } = schema as JsonObject;
  if (constant !== undefined) return constant;
  if (Array.isArray(values)) return values[0] ?? null;
  if (Array.isArray(oneOf)) return sampleOf((flag ? oneOf : oneOf.toReversed())[0], how);
  if (type === 'boolean') return flag;
  if (type === 'integer' || type === 'number') return 1;
  if (type === 'null') return null;
  if (type === 'array') return [sampleOf(items, how)];
  if (type === 'object') return objectOf(schema as JsonObject, how);
  return typeof pattern === 'string' && !new RegExp(pattern).test(text) ? 'main' : text;
}

function objectOf({ properties = {}, additionalProperties }: JsonObject, how: How): JsonObject {
  const { text, differs } = how;
  const named = isJsonObject(properties) ? Object.entries(properties) : [];
  const own = Object.fromEntries(
    named.map(([name, property]) => [name, sampleOf(property, differs ? { ...how, text: `${name} ${text}` } : how)]),
  );
  if (!isJsonObject(additionalProperties ?? null)) return own;
  const more = sampleOf(additionalProperties, how);
  return { ...own, field: more, [text]: more };
}
