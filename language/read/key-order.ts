/**
 * A definition with its keys in one order: what a thing is, then what it is called, then what it does,
 * then what bounds it. Values that are the author's own (parameters, data, inputs, schemas) keep theirs.
 */
import type { Definition } from '../model.ts';
import { isPlain } from './draft/draft.ts';

const ORDER = [
  '$schema',
  '$ref',
  'id',
  'type',
  'name',
  'description',
  'recipe',
  'ragSources',
  'tools',
  'inputs',
  'defaults',
  'env',
  'trigger',
  'concurrency',
  'group',
  'onConflict',
  'check',
  'command',
  'args',
  'params',
  'cwd',
  'stdin',
  'failOn',
  'executionId',
  'event',
  'filter',
  'debounceMs',
  'rules',
  'until',
  'data',
  'system',
  'messages',
  'prompt',
  'images',
  'model',
  'temperature',
  'maxTokens',
  'maxTurns',
  'thinking',
  'parseToolCalls',
  'onUnknown',
  'verify',
  'schema',
  'autoCompact',
  'stopWhen',
  'onStuck',
  'unchangedTurns',
  'message',
  'code',
  'values',
  'durationMs',
  'handles',
  'show',
  'form',
  'assignee',
  'approvers',
  'definition',
  'await',
  'max',
  'over',
  'as',
  'intervalMs',
  'maxIterations',
  'steps',
  'then',
  'else',
  'branches',
  'always',
  'loop',
  'failFast',
  'maxConcurrency',
  'outputTo',
  'onError',
  'retry',
  'timeoutMs',
  'onTimeout',
  'remindAfterMs',
  'safety',
  'mode',
  'durability',
  'strict',
  'trustDrafts',
  'escalateOn',
  'reportTo',
];
const PLACE: ReadonlyMap<string, number> = new Map(ORDER.map((key, index) => [key, index]));

/** What stands under these is the author's own. */
const FREE: ReadonlySet<string> = new Set([
  'params',
  'data',
  'inputs',
  'env',
  'stdin',
  'args',
  'show',
  'form',
  'schema',
  'values',
]);

export function inOrder(definition: Definition): Definition {
  return ordered(definition) as Definition;
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (!isPlain(value)) return value;
  const keys = Object.keys(value).toSorted((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1));
  return Object.fromEntries(keys.map((key) => [key, FREE.has(key) ? value[key] : ordered(value[key])]));
}

function placeOf(key: string): number {
  return PLACE.get(key) ?? ORDER.length;
}
