/**
 * Keys in another spelling: `output_to` for `outputTo`, `if` for `check`, `cmd` for `command`; a time in
 * seconds or as text (`"30s"`); a number or a yes written as text; and `null` for a key that is absent.
 */
import { rename, type Draft, type Plain } from '../draft.ts';

/** Every key of the format that more than one word makes. */
const LONG_KEYS: ReadonlySet<string> = new Set([
  'outputTo', 'onError', 'timeoutMs', 'maxConcurrency', 'failFast', 'parseToolCalls', 'autoCompact', 'executionId', 'onTimeout',
  'maxIterations', 'intervalMs', 'backoffMs', 'maxBackoffMs', 'maxStepTimeoutMs', 'maxMemoryMb', 'maxNestingDepth', 'requireApproval',
  'wallMs', 'cronExpression', 'timeZone', 'catchupWindowMs', 'jitterMs', 'ragSources', 'escalateOn', 'reportTo', 'parentPersonaId',
  'inheritContext', 'workingDir', 'systemPrompt', 'maxTokens', 'ragTemplate', 'displayName', 'uniqueId', 'createdBy', 'createdAt',
  'updatedAt', 'isPublic', 'lastRunAt', 'runCount', 'averageDurationMs', 'successRate', 'trainOnFailures', 'loopUntil',
]);

/** A time in another unit: the key without its unit, and what one is in milliseconds. */
const UNIT = /^(.+?)_?(?:(secs?|seconds?)|(mins?|minutes?)|(hours?))$/i;
const TIMES: ReadonlySet<string> = new Set(['timeout', 'interval', 'backoff', 'maxBackoff', 'maxStepTimeout', 'wall', 'catchupWindow', 'jitter']);
const LENGTHS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const NUMBERS: ReadonlySet<string> = new Set(['max', 'count', 'maxIterations', 'temperature', 'maxConcurrency', 'attempts', 'factor', 'maxMemoryMb', 'maxNestingDepth', 'tokens', 'usd', 'threshold']);
const FLAGS: ReadonlySet<string> = new Set(['failFast', 'await', 'parseToolCalls', 'strict', 'inheritContext', 'trainOnFailures']);

/** Keys under which `null` is a value. */
const MAY_BE_NULL: ReadonlySet<string> = new Set(['data', 'payload', 'stdin', 'show', 'schema']);

export function rewriteSpelling(draft: Draft): void {
  for (const key of Object.keys(draft.value)) if (draft.value[key] === null && !MAY_BE_NULL.has(key)) delete draft.value[key];
  for (const key of Object.keys(draft.value)) rewriteKey(draft, key);
  rewriteValues(draft.value);
}

function rewriteKey(draft: Draft, key: string): void {
  const camel = key.replaceAll(/_+([a-zA-Z0-9])/g, (_all, letter: string) => letter.toUpperCase());
  if (camel !== key && LONG_KEYS.has(camel)) return rename(draft, key, camel);
  if (TIMES.has(camel)) return rename(draft, key, `${camel}Ms`);
  const [, stem, seconds, minutes] = UNIT.exec(camel) ?? [];
  if (stem === undefined || !TIMES.has(stem)) return;
  const amount = draft.value[key];
  const number = typeof amount === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(amount) ? Number(amount) : amount;
  if (typeof number === 'number') draft.value[key] = Math.round(number * (seconds !== undefined ? 1_000 : minutes !== undefined ? 60_000 : 3_600_000));
  rename(draft, key, `${stem}Ms`);
}

function rewriteValues(value: Plain): void {
  for (const [key, text] of Object.entries(value)) {
    if (typeof text !== 'string') continue;
    if (NUMBERS.has(key) || key.endsWith('Ms')) value[key] = numberIn(text, key.endsWith('Ms'));
    else if (FLAGS.has(key) && /^(?:true|false)$/i.test(text)) value[key] = text.toLowerCase() === 'true';
  }
}

/** A number may be text wherever a number is wanted. */
export function numberFor(value: unknown): unknown {
  return typeof value === 'string' ? numberIn(value, false) : value;
}

/** What is no number is left for the schema to refuse, or for an expression to compute. */
function numberIn(text: string, isTime: boolean): number | string {
  if (/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return Number(text);
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)(?:ecs?|econds?|ins?|inutes?|ours?|rs?|ays?)?\s*$/i.exec(text) ?? [];
  const length = isTime && unit !== undefined ? LENGTHS[unit.toLowerCase()] : undefined;
  return length === undefined ? text : Math.round(Number(amount) * length);
}

/** A condition that is always the same may be written as the value it is. */
export function rewriteCheck(draft: Draft): void {
  if (typeof draft.value['check'] === 'boolean') draft.value['check'] = String(draft.value['check']);
}

/** Gives `to` the first of the other names that is present. */
export function renameAll(draft: Draft, names: readonly string[], to: string): void {
  for (const name of names) rename(draft, name, to);
}
