/** What a project may set of an integration; the names and the defaults are those of the block `sentinel` of `dev-kid.yml`. */
import * as z from 'zod';

const Tier = (model: string, iterations: number) => ({
  model: z.string().min(1).default(model),
  maxIterations: z.number().int().min(1).max(100).default(iterations),
});

export const PLACEHOLDERS = [
  'TODO',
  'FIXME',
  'HACK',
  'NotImplementedError',
  String.raw`mock_\w+`,
  String.raw`stub_\w+`,
  'PLACEHOLDER',
  'pass  # implement',
];

const PATTERN_LENGTH_MAX = 200;

const Pattern = z
  .string()
  .min(1)
  .max(PATTERN_LENGTH_MAX)
  .refine((text) => isPattern(text), 'must be a regular expression');

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

export const Settings = z.strictObject({
  enabled: z.boolean().default(true),
  mode: z.enum(['auto', 'human-gated']).default('auto'),
  tier1: z.strictObject(Tier('ollama/qwen3-coder:30b', 5)).prefault({}),
  tier2: z
    .strictObject({
      ...Tier('anthropic/claude-sonnet-4-20250514', 10),
      maxBudgetUsd: z.number().nonnegative().default(2),
    })
    .prefault({}),
  changeRadius: z
    .strictObject({
      maxFiles: z.number().int().nonnegative().default(3),
      maxLines: z.number().int().nonnegative().default(150),
      allowInterfaceChanges: z.boolean().default(false),
    })
    .prefault({}),
  placeholder: z
    .strictObject({
      failOnDetect: z.boolean().default(true),
      patterns: z.array(Pattern).default(PLACEHOLDERS),
      excludePaths: z.array(z.string().min(1)).default(['tests/', '__mocks__/', '*.test.*', '*.spec.*']),
    })
    .prefault({}),
  /** Of one run of the tests. */
  testTimeoutMs: z.number().int().min(1000).default(600_000),
});
export type Settings = z.infer<typeof Settings>;
