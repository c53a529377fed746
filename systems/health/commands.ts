/** How this worker is: whether what it needs answers, and how its commands have been doing. */
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';

const Check = z.strictObject({
  name: z.string(),
  ok: z.boolean(),
  durationMs: z.number(),
  message: z.string().exactOptional(),
});
const Health = z.strictObject({ status: z.enum(['healthy', 'degraded']), checks: z.array(Check) });
const Metric = z.strictObject({
  command: z.string(),
  count: z.number(),
  errors: z.number(),
  p50_ms: z.number(),
  p99_ms: z.number(),
});

const round = (ms: number): number => Math.round(ms * 1000) / 1000;

async function check(name: string, ping: () => Promise<void>): Promise<z.infer<typeof Check>> {
  const startedAt = performance.now();
  try {
    const isLate = await Promise.race([ping().then(() => false), sleep(COMMAND_BOUNDS.healthMs, true, { ref: false })]);
    if (isLate) throw new Error(`no answer within ${COMMAND_BOUNDS.healthMs} ms`);
    return { name, ok: true, durationMs: round(performance.now() - startedAt) };
  } catch (error) {
    // A part that does not answer is this command's finding, not its failure.
    const message = error instanceof Error ? error.message : String(error);
    return { name, ok: false, durationMs: round(performance.now() - startedAt), message };
  }
}

async function health(_params: unknown, context: CommandContext): Promise<z.infer<typeof Health>> {
  const checks = [await check('store', () => context.store.ping())];
  return { status: checks.every(({ ok }) => ok) ? 'healthy' : 'degraded', checks };
}

export const healthCommands: Command[] = [
  defineCommand({
    name: 'health-check',
    description: 'Says how the services of this installation are.',
    permission: 'read',
    speed: 'quick',
    textField: 'status',
    params: z.strictObject({}),
    result: Health,
    run: health,
    predict: () => ({ text: 'asks how the services are', source: 'assumed', result: { status: 'healthy' } }),
  }),
  defineCommand({
    name: 'runtime/metrics/all',
    description: 'Lists how often each command was run, how long it took, and how often it failed.',
    permission: 'read',
    speed: 'quick',
    ofWorker: true,
    params: z.strictObject({}),
    result: z.array(Metric),
    run: async (_params, { worker }) => worker.metrics.all(),
  }),
];
