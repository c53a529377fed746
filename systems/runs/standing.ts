/**
 * `sentinel/result` waits until a run has ended, or asks something. It is woken through the store, and looks again from
 * time to time, so it does not matter which worker holds the run. An attempt after a lost one waits on.
 */
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { Json } from '../../language/json.ts';
import { watchTimeoutMs } from '../../language/limits.ts';
import { Value } from '../../language/model.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import type { RunQuestion, RunStanding } from '../../operations/words.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { endsStep } from '../../operations/step-over.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { findRun, Handle } from './commands.ts';

const Params = z.strictObject({
  handle: Handle,
  until: z.enum(['ended', 'asked']).default('ended'),
  timeoutMs: z.number().int().positive().optional(),
  cancels: z.boolean().default(false),
});
type Params = z.infer<typeof Params>;

const Question: z.ZodType<RunQuestion> = z.strictObject({
  id: z.string(),
  kind: z.string(),
  message: z.string(),
  choices: z.array(z.string()),
  show: Value,
  form: z.record(z.string(), Value).nullable(),
  assignee: z.string(),
  approvers: z.strictObject({ of: z.array(z.string()), atLeast: z.number() }).optional(),
  expiresAt: z.number().nullable(),
  digest: z.string(),
});

const Standing: z.ZodType<RunStanding> = z.strictObject({
  handle: z.string(),
  name: z.string(),
  status: z.string(),
  hasEnded: z.boolean(),
  outcome: z.string().nullable(),
  limit: z.string().nullable(),
  outputs: z.record(z.string(), Value).nullable(),
  failure: z
    .strictObject({ code: z.string(), message: z.string(), details: z.record(z.string(), Value).nullable() })
    .nullable(),
  questions: z.array(Question),
});

async function result(given: Params, context: CommandContext): Promise<RunStanding & { [field: string]: Json }> {
  const { handle, cancels } = given;
  refuseWaiting(given, context);
  const awaited = waitFor(given, context);
  if (!cancels) return standingOf(await awaited, context);
  return standingOf(await cancelledWith(handle, context, awaited), context);
}

/** What waits for itself waits until its time is over; and nobody cancels a run by waiting for it but who has started it. */
function refuseWaiting({ handle, cancels }: Params, context: CommandContext): void {
  const { run } = context;
  if (run.handle === handle || run.handle.startsWith(`${handle}/`))
    throw new Failure(
      'COMMAND_PARAMS_INVALID',
      `sentinel/result: the step is in the run "${handle}", which does not end before it; name another run`,
    );
  if (cancels && context.hasStarted?.(handle) !== true)
    throw new Failure(
      'RIGHTS_EXCEEDED',
      `sentinel/result: "cancels" is for a run that the same command has started, and it has not started "${handle}"; leave it out, or use sentinel/cancel`,
    );
}

async function waitFor({ handle, until, timeoutMs }: Params, context: CommandContext): Promise<Run> {
  const { store, signal } = context;
  const own = AbortSignal.timeout(Math.min(timeoutMs ?? context.timeoutMs, context.timeoutMs, watchTimeoutMs));
  const either = AbortSignal.any([signal, own]);
  const subscription = store.executions.listenToRun(handle);
  try {
    for (;;) {
      signal.throwIfAborted();
      const run = await findRun(handle, context);
      if (run.finishedAt !== null || (until === 'asked' && (await store.inbox.open(handle)).length > 0)) return run;
      if (own.aborted) {
        if (timeoutMs !== undefined) return run;
        throw new Failure(
          'STEP_TIMEOUT',
          `sentinel/result: "${handle}" had not ended within the time of the step; give the step more time, or state "timeoutMs" to be told how it stands`,
        );
      }
      await subscription.next(either);
    }
  } finally {
    subscription.close();
  }
}

async function cancelledWith(handle: string, context: CommandContext, awaited: Promise<Run>): Promise<Run> {
  try {
    return await awaited;
  } catch (error) {
    // The next attempt waits on.
    if (!isOver(error, context.signal)) throw error;
    const { run, key, runPort } = context;
    const reason = `step ${key} of ${run.handle}, which had started it, ended`;
    await runPort.control(handle, 'cancel', { reason, id: `cancel ${run.handle} ${key}` });
    throw error;
  }
}

const isOver = (error: unknown, { aborted, reason }: AbortSignal): boolean =>
  aborted ? endsStep(reason) : error instanceof Failure && error.code === 'STEP_TIMEOUT';

async function standingOf(run: Run, context: CommandContext): Promise<RunStanding & { [field: string]: Json }> {
  const { handle, name, status, outcome, limit, outputs, failure, finishedAt } = run;
  const hasEnded = finishedAt !== null;
  const questions = hasEnded ? [] : await questionsOf(handle, context);
  return {
    handle,
    name,
    status,
    hasEnded,
    outcome,
    limit,
    outputs,
    failure:
      failure === null ? null : { code: failure.code, message: failure.message, details: failure.details ?? null },
    questions,
  } as unknown as RunStanding & { [field: string]: Json };
}

async function questionsOf(handle: string, { store }: CommandContext): Promise<RunQuestion[]> {
  const items = await store.inbox.list({ handle });
  return items.flatMap(({ id, kind, message, choices, show, form, persona, approvers, expiresAt, digest, ...item }) =>
    item.handle === handle && item.state === 'open' && digest !== null
      ? [{ id, kind, message, choices, show, form, assignee: persona, expiresAt, digest, ...defined({ approvers }) }]
      : [],
  );
}

export const standingCommands: Command[] = [
  defineCommand({
    name: 'sentinel/result',
    word: 'result',
    description: 'Waits until a run has ended, or asks something, and says how it stands.',
    permission: 'read',
    speed: 'long',
    timeoutMs: watchTimeoutMs,
    runParams: ['handle'],
    params: Params,
    result: Standing as z.ZodType<RunStanding & { [field: string]: Json }>,
    run: result,
    predict: ({ handle }) => ({
      text: `waits for ${simulatedText(handle)}`,
      source: 'assumed',
      result: {
        handle: simulatedText(handle),
        name: simulatedText(handle),
        status: 'completed',
        hasEnded: true,
        outcome: 'completed',
        limit: null,
        outputs: {},
        failure: null,
        questions: [],
      },
    }),
  }),
];
