/**
 * Runs on a clock: Temporal Schedules, each with everything its runs start with. So they start whether
 * or not anything of ours is up then, and a changed definition takes effect when it is scheduled anew.
 *
 * A run's handle is the schedule's id and the time it was due (`nightly-2026-01-31T03:00:00Z`); its row
 * is written by the worker with its first event.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleDescription,
  type ScheduleHandle,
  type ScheduleOptions,
} from '@temporalio/client';
import { entriesFor } from '../language/catalogue.ts';
import { withFiles } from '../operations/named-definitions.ts';
import { givenHandleFault } from './handles.ts';
import { personaFault } from '../language/persona-id.ts';
import { startValues } from '../language/inputs/declared-inputs.ts';
import { inputFault } from '../language/inputs/refused-inputs.ts';
import type { JsonObject } from '../language/json.ts';
import type { Trigger } from '../language/model.ts';
import { spelledNearly } from '../language/read/remedies/meant-word.ts';
import { zoneIn } from '../language/references/times.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import { scheduleOwner } from '../prisma/store/values/secrets.ts';
import { handleOf, workflowIdOf, WORKFLOW_TYPE } from '../workflows/messages/messages.ts';
import { memoOf, searchAttributesOf } from '../workflows/messages/search-attributes.ts';
import { START_LEVEL, withoutEmpty, type StartInput } from '../workflows/messages/start-input.ts';
import { ClientError, refuseFault } from './client-error.ts';
import { clockChanges, type ClockChange } from './calendar/clock-changes.ts';
import { readCron } from './calendar/cron.ts';
import { sealEnvironment } from './seal-environment.ts';
import {
  collectLibrary,
  environmentFor,
  faultOfInputs,
  placesFor,
  policiesFor,
  summaryOf,
  type RunServices,
  type StartRequest,
} from './start-run.ts';
import { namespaceId } from './temporal-connection.ts';

/** How late a run may start that was missed while the server was away, where the definition does not say. */
export const CATCHUP_WINDOW_MS = 10 * 60_000;
/** Temporal's own bound. */
const CATCHUP_WINDOW_MIN_MS = 10_000;
const LISTED_MAX = 10_000;

export type Overlap = NonNullable<Extract<Trigger, { type: 'schedule' }>['overlap']>;
export const OVERLAPS = ['skip', 'buffer', 'cancel', 'all'] as const satisfies readonly Overlap[];

const POLICIES: Record<Overlap, ScheduleOverlapPolicy> = {
  skip: ScheduleOverlapPolicy.SKIP,
  buffer: ScheduleOverlapPolicy.BUFFER_ONE,
  cancel: ScheduleOverlapPolicy.CANCEL_OTHER,
  all: ScheduleOverlapPolicy.ALLOW_ALL,
};

export interface ScheduleRequest extends Pick<
  StartRequest,
  'definition' | 'inputs' | 'project' | 'persona' | 'known' | 'policies'
> {
  id: string;
  cron: string;
  timeZone?: string | undefined;
  overlap?: Overlap | undefined;
  catchupWindowMs?: number | undefined;
  jitterMs?: number | undefined;
  isPaused?: boolean;
  /** Replaces the schedule of that id, if there is one. */
  replace?: boolean;
}

export interface ScheduleReport {
  id: string;
  name: string;
  cron: string;
  timeZone: string;
  overlap: Overlap;
  catchupWindowMs: number;
  jitterMs: number;
  project: string;
  persona: string;
  isPaused: boolean;
  note: string | null;
  /** Milliseconds since the epoch. */
  next: number[];
  runs: { handle: string; at: number }[];
  /** Where it is shown alone: starts of the coming year that a change of the clock leaves out or doubles. */
  clockChanges?: ClockChange[];
}

/** What a schedule keeps about itself, for people: Temporal gives back a calendar, not the text it was made of. */
interface ScheduleMemo {
  sentinel: Pick<
    ScheduleReport,
    'name' | 'cron' | 'timeZone' | 'overlap' | 'catchupWindowMs' | 'jitterMs' | 'project' | 'persona'
  >;
}

export async function createSchedule(parts: RunServices, request: ScheduleRequest): Promise<ScheduleReport> {
  const { id } = request;
  const { secrets } = parts.store;
  refuseFault(faultOfInputs(request.inputs) ?? givenHandleFault(id));
  const before = await secrets.tokensOf(scheduleOwner(id));
  // Asked first: a schedule that is made anew has started nothing.
  const mayBeHeld = before.length > 0 && (await hasRunsUnderWay(parts.client, id));
  const after = async (): Promise<string[]> =>
    (await secrets.tokensOf(scheduleOwner(id))).filter((token) => !before.includes(token));
  try {
    await put(parts, request, await optionsOf(parts, request));
  } catch (error) {
    const refusal = refusalOf(error, request);
    // After any other failure nobody can tell whether the server made it all the same: sweepSchedules asks it later.
    if (refusal instanceof ClientError) await secrets.retire(await after(), { mayBeHeld: false });
    throw refusal;
  }
  await secrets.retire(before, { mayBeHeld });
  return describeSchedule(parts.client, id);
}

/** Makes the schedule, or, where that was asked for, another out of the one of its id. */
async function put(parts: RunServices, request: ScheduleRequest, options: ScheduleOptions): Promise<void> {
  const { id } = request;
  await saveDefinitions(parts, request);
  try {
    await parts.client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    if (request.replace !== true) {
      throw new ClientError(
        'HANDLE_TAKEN',
        `There is a schedule "${id}" already: replace it with --replace, or give this one a name of its own with --id.`,
      );
    }
    await replace(parts.client, id, options);
  }
}

/** Changed first, which the server may refuse; made anew where its memo says something else, because that stays as it is. */
async function replace({ schedule }: RunServices['client'], id: string, options: ScheduleOptions): Promise<void> {
  const handle = schedule.getHandle(id);
  const { memo } = await handle.describe();
  const { spec, action, policies = {}, state } = options;
  await handle.update(() => ({ spec, action, policies, state: { paused: state?.paused ?? false } }));
  if (isDeepStrictEqual(memo, options.memo)) return;
  await handle.delete();
  await schedule.create(options);
}

function zoneOf(written: string): string {
  const zone = zoneIn(written);
  if (zone !== undefined) return zone;
  const near = spelledNearly(written, Intl.supportedValuesOf('timeZone'));
  const remedy = near === undefined ? 'write a name such as "Europe/Zurich" or "UTC"' : `write "${near}"`;
  throw new ClientError('USAGE', `The schedule cannot be made: "${written}" is not a time zone; ${remedy}.`);
}

async function optionsOf(parts: RunServices, request: ScheduleRequest): Promise<ScheduleOptions> {
  const { definition, id, cron, overlap = 'skip', jitterMs = 0 } = request;
  const timeZone = zoneOf(request.timeZone ?? 'UTC');
  const { project, persona } = request;
  const catchupWindowMs = Math.max(CATCHUP_WINDOW_MIN_MS, request.catchupWindowMs ?? CATCHUP_WINDOW_MS);
  const read = readCron(cron, timeZone);
  if (!read.ok) throw new ClientError('USAGE', `The schedule cannot be made: ${read.finding}.`);
  refuseFault(personaFault(persona));
  const library = await collectLibrary(withFiles(parts.store, parts.catalogue), request);
  refuseFault(inputFault(definition, request.inputs, Object.values(library)));
  const inputs: JsonObject = { ...startValues(definition), ...request.inputs };
  // No run has this handle: the values stay for as long as the schedule may need them.
  const env = await sealEnvironment(
    parts.store,
    scheduleOwner(id),
    environmentFor(definition, library),
    await namespaceId(parts.client),
  );
  const start: StartInput = withoutEmpty({
    definition,
    definitionHash: contentHash(definition),
    project,
    persona,
    inputs,
    library,
    catalogue: entriesFor(parts.catalogue, [definition, ...Object.values(library)]),
    policies: policiesFor(parts, request),
    env,
    places: await placesFor(parts.store, persona),
    origin: { type: 'schedule', schedule: id },
    level: START_LEVEL,
  });
  const memo: ScheduleMemo = {
    sentinel: { name: definition.name, cron, timeZone, overlap, catchupWindowMs, jitterMs, project, persona },
  };
  return {
    scheduleId: id,
    spec: { cronExpressions: read.expressions, timezone: timeZone, jitter: jitterMs },
    policies: { overlap: POLICIES[overlap], catchupWindow: catchupWindowMs, pauseOnFailure: false },
    state: { paused: request.isPaused ?? false },
    memo: { ...memo },
    action: {
      type: 'startWorkflow',
      workflowType: WORKFLOW_TYPE,
      // Temporal adds the time it was due.
      workflowId: workflowIdOf(id),
      taskQueue: parts.taskQueue,
      args: [start],
      typedSearchAttributes: searchAttributesOf({ definition, persona }),
      memo: memoOf(definition, project),
      ...summaryOf(definition),
    },
  };
}

/** The rows of the runs name them. */
async function saveDefinitions(
  { store }: RunServices,
  { definition, project, persona }: ScheduleRequest,
): Promise<void> {
  await store.definitions.save(definition, { project, persona, isPerson: true });
}

export async function listSchedules({ schedule }: RunServices['client']): Promise<ScheduleReport[]> {
  const reports: ScheduleReport[] = [];
  for await (const { scheduleId, memo, state, info } of schedule.list()) {
    const own = ownMemo(memo);
    if (own === null) continue;
    reports.push({ id: scheduleId, ...own.sentinel, isPaused: state.paused, note: state.note ?? null, ...times(info) });
    if (reports.length >= LISTED_MAX) break;
  }
  return reports.toSorted((a, b) => a.id.localeCompare(b.id));
}

export async function describeSchedule({ schedule }: RunServices['client'], id: string): Promise<ScheduleReport> {
  return found(id, async () => {
    const { memo, state, info } = await schedule.getHandle(id).describe();
    const own = ownMemo(memo);
    if (own === null)
      throw new ClientError('NOT_FOUND', `The schedule "${id}" starts no sentinel; it was made by something else.`);
    const { cron, timeZone } = own.sentinel;
    const read = readCron(cron, timeZone);
    return {
      id,
      ...own.sentinel,
      isPaused: state.paused,
      note: state.note ?? null,
      ...times(info),
      clockChanges: read.ok ? clockChanges(read.expressions, timeZone, Date.now()) : [],
    };
  });
}

/** What can be done with a schedule, each said as Temporal takes it. */
export async function steerSchedule(
  { client, store }: Pick<RunServices, 'client' | 'store'>,
  id: string,
  verb: 'pause' | 'resume' | 'trigger' | 'delete',
  note?: string,
): Promise<void> {
  // Also refuses schedules that are not ours.
  await describeSchedule(client, id);
  const handle = client.schedule.getHandle(id);
  const tokens = verb === 'delete' ? await store.secrets.tokensOf(scheduleOwner(id)) : [];
  const mayBeHeld = tokens.length > 0 && (await hasRunsUnderWay(client, id));
  await found(id, () => steps[verb](handle, note));
  await store.secrets.retire(tokens, { mayBeHeld });
}

/**
 * A run that waits for its first worker has no row in the store yet, and only Temporal knows of it: its
 * index of all, which may lag, and the schedule itself of its latest.
 */
export async function hasRunsUnderWay({ schedule, workflow }: RunServices['client'], id: string): Promise<boolean> {
  const { count } = await workflow.count(
    `TemporalScheduledById = ${JSON.stringify(id)} AND ExecutionStatus = "Running"`,
  );
  if (count > 0) return true;
  const described = await schedule
    .getHandle(id)
    .describe()
    .catch(() => null);
  const statuses = (described?.info.recentActions ?? []).map(
    async ({
      action: {
        workflow: { workflowId },
      },
    }) => {
      const { status } = await workflow.getHandle(workflowId).describe();
      return status.name;
    },
  );
  // One that Temporal has forgotten has ended long ago.
  return (await Promise.allSettled(statuses)).some(
    (asked) => asked.status === 'fulfilled' && (asked.value === 'RUNNING' || asked.value === 'PAUSED'),
  );
}

const steps: Record<Parameters<typeof steerSchedule>[2], (handle: ScheduleHandle, note?: string) => Promise<void>> = {
  // Without a note of ours Temporal's own names its SDK.
  pause: (handle, note = 'by hand') => handle.pause(note),
  resume: (handle, note = 'by hand') => handle.unpause(note),
  // Asked for by a person, so it starts now, whatever else of the schedule is under way.
  trigger: (handle) => handle.trigger(ScheduleOverlapPolicy.ALLOW_ALL),
  delete: (handle) => handle.delete(),
};

async function found<Result>(id: string, ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw new ClientError('NOT_FOUND', `There is no schedule "${id}": "sentinel schedule list" shows those there are.`);
  }
}

function ownMemo(memo: Record<string, unknown> | undefined): ScheduleMemo | null {
  const own = memo?.['sentinel'];
  return typeof own === 'object' && own !== null ? { sentinel: own as ScheduleMemo['sentinel'] } : null;
}

function times(
  info: Pick<ScheduleDescription['info'], 'nextActionTimes' | 'recentActions'>,
): Pick<ScheduleReport, 'next' | 'runs'> {
  return {
    next: info.nextActionTimes.map((time) => time.getTime()),
    runs: info.recentActions.map(({ takenAt, action }) => ({
      handle: handleOf(action.workflow.workflowId),
      at: takenAt.getTime(),
    })),
  };
}

/** The server has the last word on what a calendar may be. */
function refusalOf(error: unknown, { cron }: ScheduleRequest): unknown {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  const isInvalid = cause instanceof Error && 'code' in cause && cause.code === 3;
  return isInvalid
    ? new ClientError('USAGE', `Temporal does not take the schedule "${cron}" (${cause.message}); write another.`, {
        cause: error,
      })
    : error;
}
