/**
 * Runs, seen and started from inside a run. A run that a step starts has a handle derived from the
 * step, so that trying the step again starts nothing twice.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { choiceParams } from '../../language/policy/start-choices.ts';
import { handedIn } from '../../language/read/started-program.ts';
import { Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { inheritedFor } from '../../operations/brought.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import type { Secrets } from '../../operations/secrets/secrets.ts';

const Fields = z.record(z.string(), Value);
export const Handle = z.string().min(1);
const Row = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

const Choices = choiceParams('sentinel/run');
const RunParams = z.union(
  [
    z.strictObject({ definition: z.union([z.string().min(1), Fields]), ...Choices }),
    z.strictObject({
      type: z.literal('pipeline'),
      steps: z.array(Fields).min(1),
      name: z.string().min(1).optional(),
      ...Choices,
    }),
    z.strictObject({ name: z.string().min(1), ...Choices }),
    z.strictObject({ sentinelId: z.string().min(1), ...Choices }),
    z.strictObject({ command: z.string().min(1), args: z.array(Value).optional(), ...Choices }),
  ],
  'must hold one of: definition; name (or sentinelId); type "pipeline" with steps; command; each with optional inputs and policy',
);
type RunParams = z.infer<typeof RunParams>;

/** The same in every attempt. */
export const startedHandle = (handle: string, key: string): string =>
  `run-${createHash('sha256').update(`${handle}:${key}`).digest('hex').slice(0, 16)}`;

async function start(params: RunParams, context: CommandContext): Promise<JsonObject> {
  const { run, key, starts } = context;
  const handed = handedIn(params as JsonObject);
  if (handed === null || starts === undefined) throw new Error(`bug: ${key} was asked for without what it starts`);
  const { library, ...inherited } = starts;
  const started = await context.runPort.start({
    handed,
    ...defined({ library }),
    inputs: params.inputs ?? {},
    project: run.project,
    persona: run.persona,
    handle: startedHandle(run.handle, key),
    inherited: inheritedFor(handed, inherited, context),
    ...(context.reach?.tools === undefined ? {} : { offered: context.reach.tools }),
    ...(params.policy === undefined ? {} : { policies: [params.policy] }),
    secrets: tokensIn(params as JsonObject, context.secrets),
    by: run.handle,
  });
  return { handle: started.handle, workflowId: started.workflowId };
}

/** Those whose values the step could have used itself. */
function tokensIn(params: JsonObject, secrets: Secrets | undefined): { [name: string]: string } {
  if (secrets === undefined) return {};
  const text = JSON.stringify(params);
  return Object.fromEntries(
    Object.entries(secrets.env).filter(([, token]) => text.includes(token) && secrets.unseal(token) !== token),
  );
}

function summary(run: Run): JsonObject {
  const { handle, name, status, outcome, limit, persona, parent, iterations, startedAt, finishedAt } = run;
  return { handle, name, status, outcome, limit, persona, parent, iterations, startedAt, finishedAt };
}

export async function findRun(handle: string, context: CommandContext): Promise<Run> {
  const run = await context.store.runs.find(handle);
  if (run !== null) return run;
  throw new Failure('RUN_NOT_FOUND', `there is no run "${handle}"; sentinel/list names the runs there are`);
}

async function readStatus({ handle }: { handle: string }, context: CommandContext): Promise<JsonObject> {
  const run = await findRun(handle, context);
  const { failure } = run;
  const told = failure === null ? null : { ...failure, details: failure.details ?? null };
  return { ...summary(run), inputs: run.inputs, outputs: run.outputs, failure: told };
}

const ListParams = z
  .strictObject({
    kind: z.enum(['definition', 'run']).optional(),
    status: z.enum(['running', 'paused', 'completed', 'failed', 'cancelled']).optional(),
    limit: z.number().int().positive().max(COMMAND_BOUNDS.rowsMax).default(100).describe('of each kind'),
    personaId: z.string().min(1).optional(),
  })
  .refine(
    ({ kind, status }) => kind !== 'definition' || status === undefined,
    'a saved definition has no status: leave out "status", or list the kind "run"',
  );
type ListParams = z.infer<typeof ListParams>;

/** Saved definitions by name, then runs with the newest first. What is said of a status is said of runs. */
async function list(params: ListParams, context: CommandContext): Promise<JsonObject[]> {
  const { kind, status } = params;
  const definitions = kind === 'run' || status !== undefined ? [] : await savedRows(params, context);
  return kind === 'definition' ? definitions : [...definitions, ...(await runRows(params, context))];
}

/** Names are those of all projects, and a model has to do with its own alone. */
async function savedRows({ limit, personaId }: ListParams, context: CommandContext): Promise<JsonObject[]> {
  const { store, session, confinement, run } = context;
  const project = confinement?.byModel === true ? run.project : undefined;
  const found = await store.sentinels.list(session, { limit, ...defined({ persona: personaId, project }) });
  return found.map(({ name, version, hash, savedAt, definition, persona }) => ({
    kind: 'definition',
    name,
    version,
    id: hash,
    description: definition.description ?? null,
    savedAt,
    persona,
  }));
}

async function runRows({ limit, status, personaId }: ListParams, context: CommandContext): Promise<JsonObject[]> {
  const query = {
    limit,
    ...(context.confinement?.byModel === true ? { project: context.run.project } : {}),
    ...defined({ status, persona: personaId }),
  };
  return (await context.store.runs.list(query)).map((run) => ({ kind: 'run', ...summary(run) }));
}

const Stream = z.string().min(1).default('combined');
const Lines = z.number().int().positive().max(COMMAND_BOUNDS.rowsMax);
const LogSlice = z.strictObject({
  handle: z.string(),
  stream: z.string(),
  lines: z.array(z.string()),
  text: z.string(),
});

const slice = (handle: string, stream: string, lines: string[]) => ({ handle, stream, lines, text: lines.join('\n') });

const logCommands: Command[] = [
  defineCommand({
    name: 'sentinel/logs/list',
    description: 'Lists the output streams of a run.',
    permission: 'read',
    speed: 'quick',
    runParams: ['handle'],
    params: z.strictObject({ handle: Handle }),
    result: z.array(z.strictObject({ stream: z.string(), bytes: z.number() })),
    run: async ({ handle }, context) => context.store.logs.streams((await findRun(handle, context)).handle),
  }),
  defineCommand({
    name: 'sentinel/logs/read',
    description: 'Reads lines of an output stream of a run.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    runParams: ['handle'],
    params: z.strictObject({
      handle: Handle,
      stream: Stream,
      offset: z.number().int().nonnegative().default(0),
      limit: Lines.default(1000),
    }),
    result: LogSlice,
    async run({ handle, stream, offset, limit }, context) {
      await findRun(handle, context);
      return slice(handle, stream, await context.store.logs.read(handle, stream, offset, limit));
    },
  }),
  defineCommand({
    name: 'sentinel/logs/tail',
    description: 'Reads the last lines of an output stream of a run.',
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    runParams: ['handle'],
    params: z.strictObject({ handle: Handle, stream: Stream, lines: Lines.default(50) }),
    result: LogSlice,
    async run({ handle, stream, lines }, context) {
      await findRun(handle, context);
      const tail = await context.store.logs.tail(handle, { stream }, lines);
      return slice(
        handle,
        stream,
        tail.map(({ text }) => text),
      );
    },
  }),
];

export const sentinelCommands: Command[] = [
  defineCommand({
    name: 'sentinel/run',
    word: 'start',
    description: 'Starts a run of a definition.',
    permission: 'shell',
    speed: 'long',
    otherRuns: 'starts',
    takesShellLine: true,
    programParams: ['definition', 'steps'],
    params: RunParams,
    result: Row,
    run: start,
  }),
  defineCommand({
    name: 'sentinel/start',
    description: 'Starts a run of a definition.',
    permission: 'shell',
    speed: 'long',
    otherRuns: 'starts',
    takesShellLine: true,
    programParams: ['definition', 'steps'],
    params: RunParams,
    result: Row,
    run: start,
  }),
  defineCommand({
    name: 'sentinel/status',
    word: 'status',
    description: 'Says how a run stands.',
    permission: 'read',
    speed: 'quick',
    runParams: ['handle'],
    params: z.strictObject({ handle: Handle }),
    result: Row,
    run: readStatus,
  }),
  defineCommand({
    name: 'sentinel/list',
    description: 'Lists saved definitions and runs; each row says its kind.',
    permission: 'read',
    speed: 'quick',
    params: ListParams,
    result: z.array(Row),
    run: list,
  }),
  ...logCommands,
];
