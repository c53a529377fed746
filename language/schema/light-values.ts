/** Values that the reader takes besides those of the canonical form: numbers and times as text, words in capitals, JSON text, `null`. */
import type { Json, JsonObject } from '../json.ts';
import { DEFINITION_KEYS, STEP_KEYS } from '../read/rewrites/json-values.ts';
import { FLAGS, MAY_BE_NULL, NUMBERS } from '../read/rewrites/spelling.ts';
import { defined } from '../defined.ts';

const text = (pattern: string): JsonObject => ({ type: 'string', pattern });

export const NUMBER_TEXT = text('^\\s*\\d+(\\.\\d+)?\\s*$');
const TIME_TEXT = text(
  '^\\s*(?:\\d+(?:\\.\\d+)?|(?:\\d+(?:\\.\\d+)?\\s*[a-zA-Z]{1,12}\\s*)+|[Pp][0-9.DTHMSWdthmsw]+)\\s*$',
);
const FLAG_TEXT = text(anyCase(['true', 'yes', 'on', 'false', 'no', 'off']));
const JSON_TEXT = text('^\\s*[\\[{]');
const NOTHING: JsonObject = { type: 'null' };

function listOfOne(items: JsonObject): JsonObject {
  return { type: 'array', items, minItems: 1, maxItems: 1 };
}

/** A time in a unit of its own, and any other that is written as a number. */
export const AMOUNT: JsonObject = { anyOf: [{ type: 'number' }, TIME_TEXT] };

/** Keys that may be one value where the canonical form has an object or a list. */
const SHORT: Readonly<Record<string, readonly JsonObject[]>> = {
  loop: [{ type: 'number' }, NUMBER_TEXT, text('^[A-Za-z]+$')],
  trigger: [text('\\S'), listOfOne({ anyOf: [{ $ref: '#/$defs/Trigger' }, text('\\S')] })],
  retry: [{ type: 'number' }, NUMBER_TEXT],
  requireApproval: [{ type: 'boolean' }, text(anyCase(['write', 'shell', 'delete', 'network']))],
  check: [{ type: 'boolean' }],
  over: [{ type: 'array' }],
  tools: [text('\\S')],
  ragSources: [text('\\S')],
  images: [text('\\S')],
};

const CRON_OBJECT: JsonObject = {
  type: 'object',
  properties: { cron: { type: 'string' } },
  required: ['cron'],
  additionalProperties: false,
};

/** One step for a list of steps, or an object that only holds steps. */
export const ONE_STEP: readonly JsonObject[] = [
  { $ref: '#/$defs/Step' },
  { type: 'object', required: ['steps'], not: { required: ['type'] } },
];
const LISTS: ReadonlySet<string> = new Set(['steps', 'then', 'else', 'always']);

/** As it may be written under a key of an object. */
export function lightValue(id: string, key: string, schema: Json, isNeeded: boolean): JsonObject {
  const { description, ...rest } = schema as JsonObject;
  const canonical = Array.isArray(rest['anyOf']) ? (rest['anyOf'] as JsonObject[]) : [rest];
  const words = canonical.flatMap(({ enum: choices }) => (Array.isArray(choices) ? choices.map(String) : []));
  const members = [
    ...canonical,
    ...(key.endsWith('Ms') ? [TIME_TEXT] : []),
    ...(NUMBERS.has(key) || (id === 'Budget' && key === 'steps') ? [NUMBER_TEXT] : []),
    ...(FLAGS.has(key) ? [FLAG_TEXT] : []),
    ...(words.length > 0 ? [text(inCapitals(words))] : []),
    ...(isJsonText(id, key) ? [JSON_TEXT] : []),
    ...(SHORT[key] ?? []),
    ...(id === 'TriggerEvent' && key === 'event' ? [listOfOne({ type: 'string' })] : []),
    ...(id === 'TriggerSchedule' && key === 'cronExpression'
      ? [CRON_OBJECT, listOfOne({ anyOf: [{ type: 'string' }, CRON_OBJECT] })]
      : []),
    ...(key === 'name' && id.endsWith('Step') ? [{ type: 'number' }] : []),
    ...(LISTS.has(key) && rest['type'] === 'array' ? ONE_STEP : []),
    ...(id === 'Definition' && (key === 'env' || key === 'concurrency') ? [text('\\S')] : []),
    ...(isNeeded || MAY_BE_NULL.has(key) ? [] : [NOTHING]),
  ];
  const [only] = members;
  return {
    ...defined({ description }),
    ...(members.length === 1 ? only : { anyOf: members }),
  };
}

function isJsonText(id: string, key: string): boolean {
  return id === 'Definition' ? DEFINITION_KEYS.includes(key) : id.endsWith('Step') && STEP_KEYS.includes(key);
}

function letterOf(letter: string): string {
  return /[a-z]/i.test(letter) ? `[${letter.toUpperCase()}${letter.toLowerCase()}]` : letter;
}

function anyCase(words: readonly string[]): string {
  return `^(?:${words.map((word) => Array.from(word, letterOf).join('')).join('|')})$`;
}

/** `ApprovalNeeded` and `APPROVAL_NEEDED` for `approval_needed`. */
function inCapitals(words: readonly string[]): string {
  return `^(?=[A-Z])(?:${words.map((word) => Array.from(word.replaceAll('_', ''), letterOf).join('_*')).join('|')})$`;
}
