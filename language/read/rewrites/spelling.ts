/**
 * Keys and values that have a lighter or an older spelling: `if` for `check`, `cmd` for `command`,
 * `fail_fast`, `timeout`, and numbers written as text.
 */
import { rename, type Draft } from '../draft.ts';

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
  rewriteNumbers(draft);
}

export function rewriteNumbers(draft: Draft): void {
  for (const key of NUMBERS) {
    const value = draft.value[key];
    if (typeof value === 'string' && /^\s*\d+(?:\.\d+)?\s*$/.test(value)) draft.value[key] = Number(value);
  }
}
