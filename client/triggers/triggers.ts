/**
 * Registering definitions by their own `trigger`: events start runs of them from then on, a schedule
 * is made, or one run starts at once.
 */
import { createHash } from 'node:crypto';
import { inputFault } from '../../language/inputs/refused-inputs.ts';
import type { JsonObject } from '../../language/json.ts';
import type { Definition, Trigger as DefinitionTrigger } from '../../language/model.ts';
import { withFiles } from '../../operations/named-definitions.ts';
import { personaFault } from '../../language/persona-id.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import type { Trigger } from '../../prisma/store/contract/trigger-contract.ts';
import { isWithinStep, starterHere } from '../rights/within-step.ts';
import { ClientError, refuseFault } from '../../runs/client-error.ts';
import { createSchedule, type ScheduleReport } from '../../runs/schedules.ts';
import { pollUntil } from '../follow/poll-until.ts';
import {
  collectLibrary,
  faultOfInputs,
  startRun,
  type StartedRun,
  type RunServices,
  type StartRequest,
} from '../../runs/start-run.ts';

const WATCHED_MAX_MS = 15_000;

export interface TriggerRequest extends Pick<
  StartRequest,
  'definition' | 'inputs' | 'project' | 'persona' | 'known' | 'policies'
> {
  /** In place of what the definition says. */
  event?: string;
}

export type Registered =
  /** `isWatched`, of a trigger for files: whether what changes from now on is seen. */
  | { type: 'event'; trigger: Trigger; isNew: boolean; isWatched?: boolean }
  | { type: 'schedule'; schedule: ScheduleReport }
  | { type: 'immediate'; run: StartedRun };

export async function addTrigger(parts: RunServices, request: TriggerRequest): Promise<Registered> {
  const { definition, project } = request;
  refuseFault(faultOfInputs(request.inputs));
  const own: DefinitionTrigger =
    request.event === undefined ? (definition.trigger ?? { type: 'manual' }) : { type: 'event', event: request.event };
  switch (own.type) {
    case 'event':
      return { type: 'event', ...(await addEventTrigger(parts, request, own)) };
    case 'schedule': {
      const { cronExpression: cron, type: _, ...rest } = own;
      return {
        type: 'schedule',
        schedule: await createSchedule(parts, {
          ...request,
          ...rest,
          cron,
          id: scheduleIdOf(definition),
          replace: !(await isWithinStep()),
        }),
      };
    }
    case 'immediate':
      return {
        type: 'immediate',
        run: await startRun(parts, {
          ...request,
          handle: onceHandle(definition, project, request.inputs),
          startedBy: await starterHere(),
        }),
      };
    case 'manual':
      throw new ClientError(
        'USAGE',
        `"${definition.name}" starts by hand: start it with "sentinel run", or say with --event or in its "trigger" what else starts it.`,
      );
    default:
      return own satisfies never;
  }
}

async function addEventTrigger(
  parts: RunServices,
  request: TriggerRequest,
  { event, filter, debounceMs }: Extract<DefinitionTrigger, { type: 'event' }>,
): Promise<{ trigger: Trigger; isNew: boolean; isWatched?: boolean }> {
  const { store, taskQueue } = parts;
  const { definition, inputs, project, persona, policies = [] } = request;
  refuseFault(personaFault(persona));
  // What it refers to is looked up when a run starts. Files beside the definition, and of other projects, are out of reach then.
  const library = await collectLibrary(withFiles(store, parts.catalogue), request);
  refuseFault(inputFault(definition, inputs, Object.values(library)));
  const by = { project, persona, isPerson: true };
  for (const referenced of Object.values(library)) await store.definitions.publish(referenced, by);
  const { hash: definitionHash } = await store.definitions.save(definition, by);
  const added = await store.triggers.add({
    name: definition.name,
    event,
    definitionHash,
    project,
    persona,
    inputs,
    taskQueue,
    filter: filter ?? null,
    debounceMs: debounceMs ?? null,
    policies,
  });
  return isOfFiles(event) ? { ...added, isWatched: await whenWatched(store, project) } : added;
}

const isOfFiles = (event: string): boolean => event.startsWith('file:');

/** A worker looks through the project before it sees what changes in it; false where none does within the time. */
export async function whenWatched({ triggers }: RunServices['store'], project: string): Promise<boolean> {
  return (await pollUntil(WATCHED_MAX_MS, async () => (await triggers.isWatched(project)) || undefined)) === true;
}

/** Also how `sentinel schedule create` names a schedule that was given no name. */
export function scheduleIdOf({ id, name }: Pick<Definition, 'id' | 'name'>): string {
  return (
    (id ?? name)
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 150) || 'schedule'
  );
}

/** The same definition, project and inputs registered again are the same run: it starts once. */
function onceHandle(definition: Definition, project: string, inputs: JsonObject): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([contentHash(definition), project, inputs]))
    .digest('hex')
    .slice(0, 16);
  return `${scheduleIdOf(definition)}-${digest}`;
}

export type Steering = 'pause' | 'resume' | 'remove';

/** `isWatched`, of a trigger for files that starts runs again: whether what changes from now on is seen. */
export async function steerTrigger(
  { store }: Pick<RunServices, 'store'>,
  { id, event, project }: Trigger,
  verb: Steering,
): Promise<{ isWatched?: boolean }> {
  if (verb === 'remove') await store.triggers.remove(id);
  else await store.triggers.pause(id, verb === 'pause');
  return verb === 'resume' && isOfFiles(event) ? { isWatched: await whenWatched(store, project) } : {};
}

/** By id, or by the definition's name; with a project where the name alone does not tell. */
export async function findTrigger(parts: Pick<RunServices, 'store'>, given: string, project: string): Promise<Trigger> {
  const all = (await parts.store.triggers.list()).filter(({ id, name }) => id === given || name === given);
  const found = all.length > 1 ? all.filter((trigger) => trigger.project === project) : all;
  const [trigger] = found;
  if (trigger !== undefined && found.length === 1) return trigger;
  if (all.length === 0)
    throw new ClientError(
      'NOT_FOUND',
      `There is no trigger "${given}": "sentinel trigger list" shows those there are.`,
    );
  throw new ClientError(
    'USAGE',
    `"${given}" is registered for ${all.length} projects: say which with --project, or give its id.`,
  );
}
