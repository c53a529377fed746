/** What of `sentinel.config` holds back: rate limits and circuit breakers of providers and tools, and who is told of runs. */
import * as z from 'zod';

const count = z.number().int().min(1);

const Rate = z
  .strictObject({ perMinute: count.max(1_000_000).optional(), concurrent: count.max(100_000).optional() })
  .refine(({ perMinute, concurrent }) => perMinute !== undefined || concurrent !== undefined, {
    message: 'must hold perMinute, concurrent, or both',
  });

const Breaker = z.strictObject({
  failures: count.default(5),
  windowMs: count.default(60_000),
  restMs: count.default(30_000),
});

/** By the name of a provider, or of a command. Without `breaker` nothing is held back for its failures. */
export const LimitsConfig = z.strictObject({
  providers: z.record(z.string().min(1), Rate).default({}),
  tools: z.record(z.string().min(1), Rate).default({}),
  breaker: Breaker.optional(),
  /** Of each trigger: the runs that it starts. */
  triggers: z.strictObject({ perMinute: count.max(1_000_000).default(120) }).prefault({}),
});
export type LimitsConfig = z.infer<typeof LimitsConfig>;

export const NotifyConfig = z.array(
  z.strictObject({
    url: z.url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' }),
    on: z.array(z.enum(['failed', 'stopped', 'asked', 'reminded', 'stuck'])).min(1),
    /** Signs what is sent. */
    secret: z.string().min(16).optional(),
    /** Patterns of names of definitions; all where there are none. */
    names: z.array(z.string().min(1)).min(1).optional(),
  }),
);
export type NotifyConfig = z.infer<typeof NotifyConfig>;
