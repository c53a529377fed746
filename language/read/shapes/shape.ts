/**
 * What is known of a value before a run has it: which fields it can have. Nothing is known of a text (one that
 * holds JSON is read as what it stands for) and of whatever may be one thing or another: that is `undefined`.
 */
import { defined } from '../../defined.ts';

export type Shape = { type: 'scalar'; what: string } | ListShape | ObjectShape | undefined;

export interface ListShape {
  type: 'list';
  item: Shape;
}

export interface ObjectShape {
  type: 'object';
  /** What has these fields, for messages: "the result of a shell step". */
  what?: string;
  fields: ReadonlyMap<string, Shape>;
  /** The fields that messages list; all of them where nothing else is said. */
  shown?: readonly string[];
  /** Fields besides those that somebody may have meant. */
  common?: readonly string[];
  /** It may have other fields. */
  isOpen?: boolean;
  /** It counts as the list of these, too. */
  item?: Shape;
}

export const scalar = (what: string): Shape => ({ type: 'scalar', what });

export const listOf = (item: Shape): ListShape => ({ type: 'list', item });

export const object = (
  fields: { readonly [name: string]: Shape } | readonly string[],
  more: Omit<ObjectShape, 'type' | 'fields'> = {},
): ObjectShape => ({
  type: 'object',
  fields: new Map(Array.isArray(fields) ? fields.map((name) => [name as string, undefined]) : Object.entries(fields)),
  ...more,
});

/** What is known of two shapes together: parts of them may stand in many places. */
const together = new WeakMap<object, WeakMap<object, Shape>>();

/** Of a value that has one shape or the other. */
export function either(a: Shape, b: Shape): Shape {
  if (a === undefined || b === undefined || a === b) return a === b ? a : undefined;
  const known = together.get(a) ?? new WeakMap<object, Shape>();
  together.set(a, known);
  if (!known.has(b)) known.set(b, merged(a, b));
  return known.get(b);
}

function merged(a: NonNullable<Shape>, b: NonNullable<Shape>): Shape {
  if (a.type === 'list' && b.type === 'list') return listOf(either(a.item, b.item));
  if (a.type === 'scalar' && b.type === 'scalar') return a.what === b.what ? a : scalar(`${a.what} or ${b.what}`);
  if (a.type !== 'object' || b.type !== 'object') return undefined;
  const fields = new Map(a.fields);
  for (const [name, shape] of b.fields)
    fields.set(name, a.fields.has(name) ? either(a.fields.get(name), shape) : shape);
  const { what = b.what } = a;
  const shown = [a, b].flatMap((shape) => shape.shown ?? [...shape.fields.keys()]);
  return {
    type: 'object',
    ...defined({ what }),
    fields,
    shown: [...new Set(shown)],
    common: [...(a.common ?? []), ...(b.common ?? [])],
    isOpen: a.isOpen === true || b.isOpen === true,
    ...('item' in a || 'item' in b ? { item: 'item' in a && 'item' in b ? either(a.item, b.item) : undefined } : {}),
  };
}

export function eitherOf(shapes: readonly Shape[]): Shape {
  const [first, ...others] = shapes;
  return others.reduce(either, first);
}

const NUMBERED = /^(?:0|[1-9]\d*)$/;

/** What a value of that shape has under a key; `false` where it has nothing of that name. */
export function fieldOf(shape: Shape, key: string): Shape | false {
  switch (shape?.type) {
    case undefined:
      return undefined;
    case 'scalar':
      return false;
    case 'list':
      return NUMBERED.test(key) ? shape.item : key === 'length' ? scalar('a number') : false;
    case 'object':
      if (shape.fields.has(key)) return shape.fields.get(key);
      return 'item' in shape && NUMBERED.test(key) ? shape.item : false;
    default:
      return shape satisfies never;
  }
}
