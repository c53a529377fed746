/**
 * Control of runs from inside a run: the same verbs that a person has. Without a handle they are said
 * to the run that the step is in. It goes on to the end of the step and obeys then (a cancellation
 * interrupts the step too), so a run that holds or ends itself never waits for itself.
 */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { modelOf, refuseResume } from '../../operations/brought.ts';
import { type Command, type CommandContext, defineCommand, type RunVerb, type Told } from '../../operations/command.ts';

const Id = z.string().min(1);
const Handle = { handle: Id.optional(), sentinelId: Id.optional() };
const Bare = z.strictObject(Handle);
const WithReason = z.strictObject({ ...Handle, reason: z.string().min(1).max(1_000).optional() });
const Result = z.strictObject({
  handle: z.string(),
  status: z.string(),
  reason: z.string().nullable(),
  ending: z.boolean(),
});

async function tell(verb: RunVerb, given: z.infer<typeof WithReason>, context: CommandContext): Promise<JsonObject> {
  const { run, key, runPort, store } = context;
  const handle = given.handle ?? given.sentinelId ?? run.handle;
  if (verb === 'resume') refuseResume(handle, context);
  const found = await store.runs.find(handle);
  if (found === null)
    throw new Failure('RUN_NOT_FOUND', `there is no run "${handle}"; sentinel/list names the runs there are`);
  if (found.finishedAt !== null) return { handle, ...afterEnd(verb, found) };
  const reason = given.reason ?? `step ${key} of ${run.handle} paused it`;
  const byModelOf = modelOf(context);
  const id = `${verb} ${run.handle} ${key}`;
  const told = await runPort.control(handle, verb, { reason, id, ...defined({ byModelOf }) });
  if (told !== null) return { handle, ...told };
  const ended = (await store.runs.find(handle)) ?? found;
  return { handle, ...(ended.finishedAt === null ? beforeNews(verb, ended) : afterEnd(verb, ended)) };
}

/** Who wants a run to end has what they want; a run that has ended cannot be held or let go on. */
function afterEnd(verb: RunVerb, { handle, status, outcome }: Run): Told {
  if (verb === 'stop' || verb === 'cancel') return { status, reason: null, ending: false };
  throw new Failure('RUN_ENDED', `${handle} has ended (${outcome ?? status}); there is nothing to ${verb}`);
}

/** Temporal says that it has ended, and how is still on its way to the store: ended from outside, it takes some seconds. */
function beforeNews(verb: RunVerb, { handle, status }: Run): Told {
  if (verb === 'stop' || verb === 'cancel') return { status, reason: null, ending: true };
  throw new Failure(
    'RUN_ENDED',
    `${handle} has ended, so there is nothing to ${verb}; "sentinel/status" says in a few seconds how it ended`,
  );
}

export const controlCommands: Command[] = [
  defineCommand({
    name: 'sentinel/pause',
    word: 'pause',
    description: 'Holds a run before its next step; this run where no handle is given.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle', 'sentinelId'],
    params: WithReason,
    result: Result,
    run: (given, context) => tell('pause', given, context),
  }),
  defineCommand({
    name: 'sentinel/resume',
    word: 'resume',
    description: 'Lets a run that is held go on.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle', 'sentinelId'],
    params: Bare,
    result: Result,
    run: (given, context) => tell('resume', given, context),
  }),
  defineCommand({
    name: 'sentinel/stop',
    word: 'stop',
    description: 'Ends a run before its next step; this run where no handle is given.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle', 'sentinelId'],
    params: Bare,
    result: Result,
    run: (given, context) => tell('stop', given, context),
  }),
  defineCommand({
    name: 'sentinel/cancel',
    word: 'cancel',
    description: 'Ends a run at once, and interrupts what is under way.',
    permission: 'write',
    speed: 'long',
    otherRuns: 'controls',
    runParams: ['handle', 'sentinelId'],
    params: Bare,
    result: Result,
    run: (given, context) => tell('cancel', given, context),
  }),
];
