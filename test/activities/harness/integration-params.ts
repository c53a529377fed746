/** Parameters that the commands of an integration take, with a text in each place that holds one. */
import type { JsonObject } from '../../../language/json.ts';

const begunWith = (text: string): JsonObject => ({
  task: 'T1',
  tree: text,
  framework: { name: text, command: text, check: text, folder: text },
  mode: 'auto',
  base: text,
  tier1: { model: text, maxIterations: 1, skip: text, maxBudgetUsd: 1 },
  tier2: { model: text, maxIterations: 1, skip: text, maxBudgetUsd: 1 },
  startedAt: 1,
  warnings: [text],
});
const testedWith = (text: string): JsonObject => ({
  ran: true,
  why: text,
  cases: [{ test: text, status: 'passed' }],
  failing: [text],
  flaky: [text],
  output: text,
});
const tierWith = (text: string): JsonObject => ({
  attempted: true,
  reason: text,
  iterations: 1,
  cost_usd: 0,
  duration_sec: 1,
  final_status: text,
});
const manifestWith = (text: string): JsonObject => ({
  task_id: text,
  sentinel_id: text,
  result: 'FAIL',
  reasons: [text],
  error: text,
  timestamp: '2026-01-01T00:00:00.000Z',
  agent: 'sentinel',
  tier_used: 1,
  tiers: { tier1: tierWith(text), tier2: tierWith(text) },
  placeholder_violations: [{ file: text, line: 1, pattern: text, text }],
  test_violations: [],
  files_changed: [{ path: text, lines_added: 1, lines_removed: 1 }],
  changes: 'kept',
  interface_changes: { breaking: [text], non_breaking: [], not_judged: [] },
  tests_run: text,
  tests_fixed: [text],
  tests_still_failing: [text],
  tests_lost: [text],
  tests_flaky: [text],
  fix_reason: text,
  cascade_triggered: false,
  radius: { files_changed: 1, lines_changed: 2, budget_exceeded: false },
  warnings: [text],
});
const judgedWith = (text: string): JsonObject => ({
  begun: begunWith(text),
  before: testedWith(text),
  after: testedWith(text),
  looked: {
    tree: text,
    files: [{ path: text, lines_added: 1, lines_removed: 1 }],
    testViolations: [{ file: text, line: 1, pattern: text, text }],
    placeholders: [{ file: text, line: 1, pattern: text, text }],
    interfaces: { breaking: [text], non_breaking: [text], not_judged: [text] },
    restores: [text],
    patch: text,
    warnings: [text],
  },
  tier1: tierWith(text),
  tier2: tierWith(text),
  said: text,
  permitted: null,
});

/** By the command. */
export const INTEGRATION: { readonly [command: string]: (text: string) => JsonObject[] } = {
  'integrate/judge': (text) => [judgedWith(text)],
  'integrate/record': (text) => [{ task: 'T1', manifest: manifestWith(text) }],
  'integrate/look': (text) => [{ begun: begunWith(text) }],
  'integrate/tally': (text) => [{ tier: tierWith(text), failing: [text], startedAt: 1, maxBudgetUsd: 1, error: text }],
  'integrate/test': (text) => [{ framework: { name: text, command: text, check: 'pytest', folder: text } }],
};
