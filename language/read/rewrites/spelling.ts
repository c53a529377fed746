/**
 * Keys in another spelling: `output_to` and `output-to` for `outputTo`, `if` for `check`, `cmd` for `command`; a time in
 * seconds or as text (`"30s"`); a number or a yes written as text; and `null` for a key that is absent.
 */
import { lengthIn } from '../../references/times.ts';
import { infer, rename, standIn, type Draft, type Plain } from '../draft/draft.ts';
import { flagKeys, longKeys, numberKeys, timeKeys } from './format-keys.ts';

/** Keys of more than one word that are none of the canonical form, and are read all the same. */
const OF_OTHER_SPELLINGS = [
  'parentPersonaId',
  'inheritContext',
  'workingDir',
  'systemPrompt',
  'ragTemplate',
  'displayName',
  'uniqueId',
  'createdBy',
  'createdAt',
  'updatedAt',
  'isPublic',
  'lastRunAt',
  'runCount',
  'averageDurationMs',
  'successRate',
  'trainOnFailures',
  'loopUntil',
];
export const LONG_KEYS: ReadonlySet<string> = new Set([...longKeys, ...OF_OTHER_SPELLINGS]);

/** A time in another unit: the key without its unit, and what one is in milliseconds. */
const UNIT = /^(.+?)_?(?:(secs?|seconds?)|(mins?|minutes?)|(hours?))$/i;
export const TIMES: ReadonlySet<string> = new Set(timeKeys);
export const NUMBERS: ReadonlySet<string> = new Set([...numberKeys, 'count']);
export const FLAGS: ReadonlySet<string> = new Set([...flagKeys, 'inheritContext', 'trainOnFailures']);

const YES = /^\s*(?:true|yes|on)\s*$/i;
const YES_OR_NO = /^\s*(?:true|yes|on|false|no|off)\s*$/i;

/** Keys under which `null` is a value. */
export const MAY_BE_NULL: ReadonlySet<string> = new Set(['data', 'payload', 'stdin', 'show', 'schema']);

/** What is written for readers alone, in a format that has no comments; and what only holds anchors of YAML. */
export const COMMENT = /^(?:\/\/|#|x-|_?\$?[Cc]omment$|_note$)/;

export function rewriteSpelling(draft: Draft): void {
  for (const key of Object.keys(draft.value)) if (COMMENT.test(key)) delete draft.value[key];
  for (const key of Object.keys(draft.value))
    if (draft.value[key] === null && !MAY_BE_NULL.has(key)) delete draft.value[key];
  for (const key of Object.keys(draft.value)) rewriteKey(draft, key);
  rewriteValues(draft.value);
}

function rewriteKey(draft: Draft, key: string): void {
  const camel = key.replaceAll(/[_-]+([a-zA-Z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  if (camel !== key && LONG_KEYS.has(camel)) return rename(draft, key, camel);
  if (TIMES.has(camel)) {
    inferUnit(draft, key);
    return rename(draft, key, `${camel}Ms`);
  }
  const [, stem, seconds, minutes] = UNIT.exec(camel) ?? [];
  if (stem === undefined || !TIMES.has(stem)) return;
  const amount = draft.value[key];
  const number = typeof amount === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(amount) ? Number(amount) : amount;
  if (typeof number === 'number')
    draft.value[key] = Math.round(
      number * (seconds !== undefined ? 1_000 : minutes !== undefined ? 60_000 : 3_600_000),
    );
  rename(draft, key, `${stem}Ms`);
}

/** Elsewhere a time without a unit is often one in seconds. */
function inferUnit(draft: Draft, key: string): void {
  const amount = numberFor(draft.value[key]);
  if (typeof amount === 'number' && amount > 0 && amount < 1_000)
    infer(draft, `has a "${key}" of ${amount} milliseconds: "${amount}s" is in seconds`);
}

function rewriteValues(value: Plain): void {
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') continue;
    if (NUMBERS.has(key) || key.endsWith('Ms')) value[key] = numberIn(text, key.endsWith('Ms'));
    else if (FLAGS.has(key) && YES_OR_NO.test(text)) value[key] = YES.test(text);
  }
}

/** A number may be text wherever a number is wanted. */
export function numberFor(value: unknown): unknown {
  return typeof value === 'string' ? numberIn(value, false) : value;
}

/** What is no number is left for the schema to refuse, or for an expression to compute. */
function numberIn(text: string, isTime: boolean): number | string {
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return Number(text);
  return (isTime ? lengthIn(text.trim()) : undefined) ?? text;
}

/** Times among the parameters of a command. */
export function rewriteTimes(params: Plain): void {
  for (const [key, text] of Object.entries(params))
    if (key.endsWith('Ms') && typeof text === 'string') params[key] = numberIn(text, true);
}

/** A condition that is always the same may be written as the value it is. */
export function rewriteCheck(draft: Draft): void {
  if (typeof draft.value['check'] === 'boolean') draft.value['check'] = String(draft.value['check']);
}

/** One text is a list of one. */
export function rewriteWordList(draft: Draft, keys: readonly string[]): void {
  for (const key of keys) {
    const text = draft.value[key];
    if (typeof text === 'string' && /^\s*[^\s[]/.test(text))
      standIn(
        draft,
        key,
        text.split(',').map((word) => word.trim()),
      );
  }
}

/** Gives `to` the first of the other names that is present. */
export function renameAll(draft: Draft, names: readonly string[], to: string): void {
  for (const name of names) rename(draft, name, to);
}
