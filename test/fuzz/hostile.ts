/** What the fuzz is made of: names, texts, values, expressions, templates and definitions that nobody would write. */
import type { Json, JsonObject } from '../../language/json.ts';
import type { Random } from './random.ts';

/** Inherited by everything while a fuzz runs (inherited.ts); whoever reads it has left the data. */
export const CANARY = 'canary_inherited';

export const NAMES = ['a', 'b', 'rows', 'text', 'steps', 'named', 'input', 'x'] as const;
const FIELDS = [
  'a',
  'b',
  'c',
  '0',
  '1',
  '99999999999',
  'length',
  'output',
  'data',
  CANARY,
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '__defineGetter__',
  'then',
  'toJSON',
  'e\u0301',
  '\u202E',
  '\uE000',
  '\uE0FF0',
  'ﬀ',
] as const;
const TEXTS = [
  '',
  ' ',
  'a',
  '0',
  '-1',
  '1e999',
  'NaN',
  '[1,{"a":2}]',
  '{"a":{"b":[1]}}',
  '{"__proto__":{"a":1}}',
  '[[[[[[',
  '{"a":',
  '$a',
  '{{a}}',
  '}}',
  '\\',
  '\0',
  '\uD800',
  '🙂',
  'e\u0301',
  '\u2028',
  '%s',
  '..',
  '(a+)+$',
] as const;
const NUMBERS = [
  '0',
  '1',
  '-0',
  '0.1',
  '1e308',
  '9007199254740993',
  '5e-324',
  '1e21',
  '.5',
  '00',
  '1.',
  '0x10',
  '1_0',
  '1e999',
] as const;
const METHODS = [
  'includes',
  'startsWith',
  'endsWith',
  'indexOf',
  'some',
  'every',
  'filter',
  'map',
  'find',
  'findIndex',
  'replace',
  'replaceAll',
  'split',
  'join',
  'trim',
  'slice',
  'concat',
  'at',
  'toFixed',
  'reduce',
  'flat',
  'flatMap',
  'reverse',
  'toUpperCase',
  'repeat',
  'call',
  'constructor',
  'toString',
  '__lookupGetter__',
  CANARY,
] as const;
const FUNCTIONS = [
  'Number',
  'String',
  'Object.keys',
  'Object.entries',
  'JSON.stringify',
  'JSON.parse',
  'Math.max',
  'Math.pow',
  'Math.log',
  'Math.sin',
  'Math.random',
  'Math.constructor',
  'Function',
  'eval',
  'parseInt',
  'Object.assign',
] as const;
const OPERATORS = [
  '===',
  '!==',
  '==',
  '!=',
  '<',
  '>',
  '<=',
  '>=',
  '&&',
  '||',
  '??',
  '+',
  '-',
  '*',
  '/',
  '%',
  ',',
  '=',
  '=>',
  '**',
  'in',
  '|',
] as const;
const SCRAPS = [
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '`',
  '${',
  '"',
  "'",
  '?',
  ':',
  '.',
  '...',
  '?.',
  '{{',
  '}}',
  '$',
  '\\',
  '\n',
  ';',
  '//',
  '/*',
  '#',
  '@',
  '=>',
  '!',
  '-',
  '~',
  'new ',
  'this',
  'await ',
  '\u00A0',
] as const;

export function value(random: Random, depth = 0): Json {
  switch (random.below(depth > 3 ? 6 : 9)) {
    case 0:
      return null;
    case 1:
      return random.chance(2);
    case 2:
      return random.pick([0, 1, -1, 0.1, 1e308, 5e-324, Number.MAX_SAFE_INTEGER, 42]);
    case 3:
    case 4:
      return random.pick(TEXTS);
    case 5:
      return random.chance(50) ? 'ab{{ [1]$'.repeat(random.below(5_000)) : random.pick(FIELDS);
    case 6:
      return random.list(5, () => value(random, depth + 1));
    case 7:
      return random.chance(40)
        ? Array.from({ length: random.below(2_000) }, (_, index) => index)
        : random.list(8, () => random.pick(TEXTS));
    default:
      return JSON.parse(
        `{${random.list(5, () => `${JSON.stringify(random.pick(FIELDS))}:${JSON.stringify(value(random, depth + 1))}`).join(',')}}`,
      ) as Json;
  }
}

export function scope(random: Random): JsonObject {
  const variables = Object.fromEntries(NAMES.map((name) => [name, value(random)]));
  return {
    ...variables,
    text: random.chance(100) ? 'ab'.repeat(random.below(200_000)) : random.pick(TEXTS),
    ...(random.chance(100) ? { deep: deepValue(random.below(5_000)) } : {}),
  };
}

function deepValue(depth: number): Json {
  let inner: Json = 1;
  for (let level = 0; level < depth; level += 1) inner = level % 2 === 0 ? [inner] : { a: inner };
  return inner;
}

/** Mostly something that parses; now and then broken, very long or very deep. */
export function expression(random: Random): string {
  switch (random.below(40)) {
    case 0:
      return random.list(30, () => scrap(random)).join('');
    case 1:
      return random
        .pick(['(', '!', 'a[', 'a.', '`${', '{{', 'a?b:', 'x=>', '[', '{a:', '-', 'a??', '...', 'a.map(x=>'])
        .repeat(random.below(3_000));
    case 2:
      return chain(random);
    case 3:
      return broken(random, term(random, 0));
    default:
      return term(random, 0);
  }
}

function scrap(random: Random): string {
  return random.chance(3) ? random.pick(SCRAPS) : random.chance(2) ? random.pick(FIELDS) : random.pick(OPERATORS);
}

function broken(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  return random.chance(2)
    ? text.slice(0, at) + random.pick(SCRAPS) + text.slice(at)
    : text.slice(0, at) + text.slice(at + 1 + random.below(3));
}

/** Texts and lists that grow with every link. */
function chain(random: Random): string {
  const link = random.pick([
    '.map(x => rows)',
    '.map(x => text + text)',
    ".replaceAll('a', text)",
    ".split('')",
    '.concat(rows)',
    '.flatMap(x => rows)',
    '.join(text)',
    '.reduce((s, x) => s + s + x, text)',
    '.filter(x => rows.some(y => rows.every(z => z < 0)))',
    '[0]',
    '.a',
    ' + text',
    ' === rows',
  ]);
  return `${random.pick(['$rows', '$text', '$deep', '$steps'])}${link.repeat(1 + random.below(60))}`;
}

function term(random: Random, depth: number): string {
  const inner = (): string => term(random, depth + 1);
  switch (random.below(depth > 4 ? 5 : 16)) {
    case 0:
      return `$${random.pick(NAMES)}`;
    case 1:
      return random.pick([...NAMES, 'deep', 'y']);
    case 2:
      return random.pick(NUMBERS);
    case 3:
      return JSON.stringify(random.pick(TEXTS));
    case 4:
      return `{{${path(random, depth)}}}`;
    case 5:
    case 6:
      return `${inner()}.${random.pick(FIELDS)}`;
    case 7:
      return `${inner()}[${random.chance(2) ? JSON.stringify(random.pick(FIELDS)) : inner()}]`;
    case 8:
    case 9:
      return `${inner()}.${random.pick(METHODS)}(${random.chance(2) ? `x => ${inner()}` : random.list(2, inner).join(', ')})`;
    case 10:
      return `${random.pick(FUNCTIONS)}(${random.list(3, inner).join(', ')})`;
    case 11:
      return `${random.pick(['!', '-', '+', '~', 'typeof '])}${inner()}`;
    case 12:
      return `(${inner()} ? ${inner()} : ${inner()})`;
    case 13:
      return `\`${random.pick(FIELDS)}\${${inner()}}\``;
    case 14:
      return random.chance(2)
        ? `[${random.list(3, inner).join(', ')}, ...${inner()}]`
        : `{${random.pick(FIELDS)}: ${inner()}, [${inner()}]: 1}`;
    default:
      return `${inner()} ${random.pick(OPERATORS)} ${inner()}`;
  }
}

function path(random: Random, depth: number): string {
  if (random.chance(8) && depth < 5) return term(random, depth + 2);
  const parts = random.list(3, () =>
    random.chance(6) && depth < 5 ? `{{${path(random, depth + 1)}}}` : random.pick(FIELDS),
  );
  return [random.pick(NAMES), ...parts].join('.');
}

/** Text with references in it, whole, halved and nested. */
export function template(random: Random): string {
  const piece = (): string => {
    switch (random.below(8)) {
      case 0:
        return `{{${path(random, 0)}}}`;
      case 1:
        return `$${random.pick(NAMES)}.${random.pick(FIELDS)}`;
      case 2:
        return `$${random.pick(NAMES)}.${random.pick(METHODS)}(${random.pick(["'a', 'b'", 'x => x', 'text', ')', "'"])})`;
      case 3:
        return random.pick(SCRAPS);
      case 4:
        return random.chance(60)
          ? random
              .pick(['{{', '{', '$a', '{{a', '{{a}}', '$a.at($', '{{a.{{', '}}', '{{a - '])
              .repeat(random.below(4_000))
          : '{{';
      case 5:
        return `{"k": "{{${path(random, 0)}}}"}`;
      default:
        return random.pick(TEXTS);
    }
  };
  return random.list(8, piece).join('');
}

const KEYS = [
  'type',
  'command',
  'cmd',
  'params',
  'check',
  'if',
  'condition',
  'then',
  'else',
  'always',
  'steps',
  'branches',
  'parallel',
  'loop',
  'mode',
  'max',
  'maxIterations',
  'definition',
  'outputTo',
  'name',
  'event',
  'data',
  'args',
  '$ref',
  'as',
  'over',
  'safety',
  'budget',
  'retry',
  'trigger',
  'env',
  'inputs',
  'shell',
  'llm',
  'prompt',
  'emit',
  'watch',
  'rules',
  'until',
  'timeoutMs',
  'escalateOn',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  CANARY,
] as const;
const TYPES = [
  'shell',
  'command',
  'condition',
  'loop',
  'parallel',
  'sentinel',
  'emit',
  'llm',
  'watch',
  'approval',
  'once',
  'count',
  'until',
  'while',
  'continuous',
  'event',
  'pipeline',
  'code/read',
  'data/create',
] as const;

/** A definition with a few right things in it, so that more than its outside is read. */
export function definition(random: Random): Json {
  if (random.chance(20)) return value(random);
  const steps = random.list(3, () => step(random, 0));
  const loop = random.chance(3)
    ? part(random, 0)
    : {
        type: random.pick(TYPES),
        max: random.chance(2) ? 3 : expression(random),
        check: expression(random),
        maxIterations: 2,
      };
  return object([
    ['name', random.pick(TEXTS)],
    ['steps', random.chance(20) ? part(random, 0) : steps],
    ['loop', loop],
    ...extra(random, 0),
  ]);
}

function step(random: Random, depth: number): Json {
  if (random.chance(15)) return part(random, depth);
  const inner = (): Json => (depth > 2 ? [] : random.list(2, () => step(random, depth + 1)));
  const entries: [string, Json][] = [
    ['type', random.pick(TYPES)],
    ['command', random.chance(2) ? template(random).slice(0, 300) : random.pick(TYPES)],
    ['check', expression(random).slice(0, 300)],
    ['then', inner()],
    ['steps', inner()],
    ['branches', random.list(2, inner)],
    ['params', part(random, depth)],
    ['outputTo', random.pick(FIELDS)],
  ];
  return object([...entries.filter((_, index) => index === 0 || random.chance(3)), ...extra(random, depth)]);
}

function extra(random: Random, depth: number): [string, Json][] {
  return random.list(2, (): [string, Json] => [random.pick(KEYS), part(random, depth)]);
}

function part(random: Random, depth: number): Json {
  switch (random.below(depth > 2 ? 4 : 7)) {
    case 0:
      return template(random).slice(0, 200);
    case 1:
      return random.pick(TYPES);
    case 2:
      return random.pick([0, 1, -1, 1e308, 3.5, null, true, false]);
    case 3:
      return value(random, 3);
    case 4:
      return random.list(4, () => part(random, depth + 1));
    default:
      return object(random.list(4, (): [string, Json] => [random.pick(KEYS), part(random, depth + 1)]));
  }
}

/** Through text, so that a key called __proto__ is a key. */
function object(entries: [string, Json][]): Json {
  return JSON.parse(
    `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${JSON.stringify(item)}`).join(',')}}`,
  ) as Json;
}

/** The text of a definition, sometimes damaged, very deep or very long. */
export function definitionText(random: Random): string {
  if (random.chance(200))
    return random.pick(['[', '{"a":', '{"steps":[', '"\\u', '[1,', '{"a":[{"b":']).repeat(random.below(50_000));
  if (random.chance(500)) {
    const depth = random.below(20_000);
    return `{"name":"x","loop":{"type":"once"},"steps":${'[{"steps":'.repeat(depth)}1${'}]'.repeat(depth)}}`;
  }
  const text = JSON.stringify(definition(random));
  return random.chance(3) ? broken(random, text) : text;
}
