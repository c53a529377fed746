/**
 * Keys and values that have a lighter or an older spelling: `if` for `check`, `cmd` for `command`,
 * `fail_fast`, `timeout`, and numbers written as text.
 */
import { rename, type Draft, type Plain } from '../draft.ts';

const SPELLINGS: ReadonlyArray<readonly [string, string]> = [
  ['cmd', 'command'],
  ['fail_fast', 'failFast'],
  ['timeout', 'timeoutMs'],
  ['timeout_ms', 'timeoutMs'],
  ['output_to', 'outputTo'],
  ['on_error', 'onError'],
];

const NUMBERS = ['timeoutMs', 'max', 'maxIterations', 'intervalMs', 'temperature', 'maxConcurrency'];

export function rewriteSpelling(draft: Draft): void {
  for (const [from, to] of SPELLINGS) rename(draft, from, to);
  if (draft.value['type'] === 'condition' || draft.value['type'] === undefined) rename(draft, 'if', 'check');
  readNumbers(draft.value);
}

/** Numbers written as text; a text that is no number is left for the schema to refuse. */
export function readNumbers(value: Plain): void {
  for (const key of NUMBERS) {
    const text = value[key];
    if (typeof text === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(text)) value[key] = Number(text);
  }
}
