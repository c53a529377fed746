/**
 * The array that a loop's `max` counts, as an expression that gives the array itself: `$plan.files.length`
 * and `{{plan.files.length}}` count what stands before `.length`, a filtered list the filtered one, and a
 * list counts its own items. What reads otherwise inside the loop than before it is never taken.
 */
import type { FunctionName, Method, Node } from '../../expression/expression.ts';
import { parseExpression, referencesOf, type FoundReference } from '../../expression/parse.ts';
import { isPlain } from '../draft/draft.ts';
import type { DefinitionSite } from '../inventory/sites.ts';

export interface CountedArray {
  over: string;
  /** The last name on the way to it, where there is one. */
  field: string | undefined;
  /** Whether it can only be a list: a bare `$todo` may be a number as well. */
  sure: boolean;
}

const LIST_METHODS: readonly Method[] = [
  'filter',
  'map',
  'flatMap',
  'flat',
  'slice',
  'concat',
  'reverse',
  'sort',
  'split',
];
const LIST_FUNCTIONS: readonly FunctionName[] = ['Object.keys', 'Object.values', 'Object.entries'];
const PICKED = new RegExp(`\\.\\s*(?:${LIST_METHODS.join('|')})\\s*\\(`);
/** A name that says of itself that it is a number. */
const NUMBER_NAME = /(?:count|length|size|total|number|limit|max|passes|times|rounds|iterations|attempts)$/i;

/** `item`: the variable that would hold the item; an array that is read from it is gone after one pass. */
export function countedArray(max: unknown, item: string, definition: DefinitionSite): CountedArray | undefined {
  const root = typeof max === 'string' ? rootOf(max) : undefined;
  if (typeof max !== 'string' || root === undefined) return undefined;
  const over = withoutLength(max, root);
  const array =
    over === undefined ? listIn(max.trim(), root, definition) : { over, field: fieldOf(rootOf(over)), sure: true };
  return array !== undefined && isSameInside(array.over, item) ? array : undefined;
}

/** Of what it counts, `max` picks or changes some: no array of a name is known to have these items. */
export function countsPickedItems(max: unknown): boolean {
  return typeof max === 'string' && PICKED.test(max);
}

function rootOf(text: string): Node | undefined {
  const parsed = parseExpression(text);
  return parsed.ok ? parsed.expression.root : undefined;
}

/** The expression before `.length`; undefined where `max` is no length of one value. */
function withoutLength(max: string, root: Node): string | undefined {
  const braces = /^\{\{(.*)\}\}$/s.exec(max.trim())?.[1];
  if (root.type === 'path') {
    const array = typeof root.pieces.at(-1) === 'string' && braces !== undefined ? before(braces) : undefined;
    return array === undefined ? undefined : readable(`{{${array}}}`);
  }
  if (root.type !== 'braces')
    return root.type === 'member' && root.name === 'length' ? readable(before(max)) : undefined;
  const array =
    root.body.type === 'member' && root.body.name === 'length' && braces !== undefined ? before(braces) : undefined;
  return array === undefined ? undefined : readable(`{{ ${array} }}`);
}

function before(text: string): string | undefined {
  const array = text
    .trim()
    .replace(/\??\.\s*length$/, '')
    .trim();
  return array === text.trim() || array === '' ? undefined : array;
}

function readable(text: string | undefined): string | undefined {
  return text === undefined || rootOf(text) === undefined ? undefined : text;
}

/** `max` is the list itself. */
function listIn(max: string, root: Node, definition: DefinitionSite): CountedArray | undefined {
  const node = root.type === 'braces' ? root.body : root;
  const field = fieldOf(node);
  const isList =
    node.type === 'array' ||
    (node.type === 'method' && LIST_METHODS.includes(node.name)) ||
    (node.type === 'function' && LIST_FUNCTIONS.includes(node.name));
  if (isList) return { over: max, field, sure: true };
  if (node.type !== 'variable' && node.type !== 'member' && node.type !== 'index' && node.type !== 'path')
    return undefined;
  const given = givenFor(referencesOf({ text: max, root })[0], definition);
  const isNumber =
    given === undefined
      ? field === undefined || NUMBER_NAME.test(field)
      : typeof given !== 'string' && !Array.isArray(given);
  return isNumber ? undefined : { over: max, field, sure: Array.isArray(given) };
}

/** What the inputs around say it is. */
function givenFor(reference: FoundReference | undefined, definition: DefinitionSite): unknown {
  if (reference === undefined) return undefined;
  const [name, ...path] = reference.name === 'input' ? reference.path : [reference.name, ...reference.path];
  if (name === undefined) return undefined;
  for (let at: DefinitionSite | undefined = definition; at !== undefined; at = at.parent?.definition) {
    const inputs = at.value['inputs'];
    if (!isPlain(inputs) || !Object.hasOwn(inputs, name)) continue;
    return path.reduce<unknown>(
      (value, key) => (isPlain(value) && Object.hasOwn(value, key) ? value[key] : undefined),
      inputs[name],
    );
  }
  return undefined;
}

function fieldOf(node: Node | undefined): string | undefined {
  if (node?.type === 'variable' || node?.type === 'member') return node.name;
  if (node?.type === 'index')
    return node.index.type === 'literal' && typeof node.index.value === 'string'
      ? node.index.value
      : fieldOf(node.object);
  if (node?.type === 'method') return fieldOf(node.object);
  if (node?.type === 'braces') return fieldOf(node.body);
  const last = node?.type === 'path' ? node.pieces.at(-1) : undefined;
  return typeof last === 'string' ? /[^.[\]]+(?=\]?$)/.exec(last)?.[0] : undefined;
}

/** `{{loop.0}}` and the number of the pass are those of the loop around, where `max` is read. */
function isSameInside(over: string, item: string): boolean {
  const parsed = parseExpression(over);
  if (!parsed.ok) return false;
  const names = referencesOf(parsed.expression).flatMap(({ name, path: [field = ''] }) =>
    name === 'input' ? [name, field] : [name],
  );
  return !names.some((name) => name === 'loop' || name === 'iteration' || name === item);
}
