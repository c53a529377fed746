/** What an integration leaves for whoever comes next: `manifest.json`. */
import * as z from 'zod';

export const Violation = z.strictObject({
  file: z.string(),
  line: z.number().int(),
  pattern: z.string(),
  text: z.string(),
});
export type Violation = z.infer<typeof Violation>;

export const Tier = z.strictObject({
  attempted: z.boolean(),
  /** Why it was not; null where it was. */
  reason: z.string().nullable(),
  iterations: z.number().int(),
  cost_usd: z.number(),
  duration_sec: z.number(),
  final_status: z.string(),
});
export type Tier = z.infer<typeof Tier>;

export const skippedTier = (reason: string): Tier => ({
  attempted: false,
  reason,
  iterations: 0,
  cost_usd: 0,
  duration_sec: 0,
  final_status: 'skipped',
});

export const ChangedFile = z.strictObject({
  path: z.string(),
  lines_added: z.number().int(),
  lines_removed: z.number().int(),
});
export type ChangedFile = z.infer<typeof ChangedFile>;

export const Interfaces = z.strictObject({
  breaking: z.array(z.string()),
  non_breaking: z.array(z.string()),
  /** Files of which only added and removed names are known, or nothing. */
  not_judged: z.array(z.string()),
});

export const Manifest = z.strictObject({
  task_id: z.string(),
  sentinel_id: z.string(),
  result: z.enum(['PASS', 'FAIL', 'ERROR']),
  /** Of a FAIL, each reason as a sentence. */
  reasons: z.array(z.string()),
  /** Why nothing could be judged; null where it could. */
  error: z.string().nullable(),
  timestamp: z.iso.datetime(),
  agent: z.literal('sentinel').nullable(),
  /** 0: no model was asked. */
  tier_used: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  tiers: z.strictObject({ tier1: Tier, tier2: Tier }),
  placeholder_violations: z.array(Violation),
  /** What gaming of tests was found. */
  test_violations: z.array(Violation),
  /** What the models changed, also where it was taken back. */
  files_changed: z.array(ChangedFile),
  changes: z.enum(['none', 'kept', 'taken_back']),
  interface_changes: Interfaces,
  tests_run: z.string().nullable(),
  tests_fixed: z.array(z.string()),
  tests_still_failing: z.array(z.string()),
  /** Passed before, and fail, are skipped or are gone. */
  tests_lost: z.array(z.string()),
  /** Failed once and passed once; they are not counted. */
  tests_flaky: z.array(z.string()),
  fix_reason: z.string(),
  cascade_triggered: z.boolean(),
  radius: z.strictObject({
    files_changed: z.number().int(),
    lines_changed: z.number().int(),
    budget_exceeded: z.boolean(),
  }),
  warnings: z.array(z.string()),
});
export type Manifest = z.infer<typeof Manifest>;
