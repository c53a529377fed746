/**
 * What becomes a memory by itself when a run has ended: each incident of it, and how the definition has served its
 * persona so far. The follower is given each end once, in one transaction with what it makes of it.
 */
import * as z from 'zod';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Definition } from '../../language/model.ts';
import { isPersonaId } from '../../language/persona-id.ts';
import { maskTokens } from '../../language/secrets.ts';
import { isBackgroundRun } from '../../operations/caller.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import type { Incident } from '../../prisma/store/contract/incident-contract.ts';
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { contentOf, type Origin, remember, renew, update } from './store.ts';

/** Of one run that are remembered, the latest. */
const incidentsMax = 50;
const definitionBytesMax = 200 * 1024;

/** Of a definition that has served. */
export const SENTINEL = 'sentinel';

const Ended = z.object({ handle: z.string(), isBrought: z.boolean().optional() });

const masked = <Value extends Json>(value: Value): Value => maskTokens(ownMasker().json(value));

export const following: Command = defineCommand({
  name: 'memory/follow',
  description: 'Remembers what went wrong in a run that has ended, and how its definition has served.',
  permission: 'write',
  speed: 'quick',
  doors: ['follower'],
  params: z.strictObject({ event: z.object({ data: z.unknown() }) }),
  result: z.strictObject({ remembered: z.number() }),
  async run({ event }, context) {
    const ended = Ended.safeParse(event.data);
    const run = ended.success ? await context.store.runs.find(ended.data.handle) : null;
    if (!ended.success || run === null || !isPersonaId(run.persona) || isBackgroundRun(run.handle))
      return { remembered: 0 };
    let remembered = 0;
    for (const incident of await context.store.incidents.find({ handle: run.handle, limit: incidentsMax }))
      if (incident.handle === run.handle && (await rememberIncident(context, run, incident))) remembered += 1;
    // A model's own definition is nothing for a person to run by its name.
    if (run.parent !== null || ended.data.isBrought === true) return { remembered };
    return { remembered: remembered + (await rememberDefinition(context, run)) };
  },
});

const originOf = ({ persona, handle, project }: Run): Origin => ({ by: persona, handle, byModel: false, project });

async function rememberIncident(context: Context, run: Run, incident: Incident): Promise<boolean> {
  const { kind, name, key, code, message, action, outcome, handle, seq } = incident;
  const content = masked({ sentinel: name, handle, step: key, code, message, action, outcome });
  const { isNew } = await remember(context, {
    persona: run.persona,
    type: kind,
    content,
    tags: [kind, name, code],
    source: `incident:${handle}:${seq}`,
    origin: originOf(run),
  });
  return isNew;
}

interface Service extends JsonObject {
  id: string;
  executions: number;
  successes: number;
  avgDurationMs: number;
  lastRefinedAt: number;
}

function serviceIn(content: Json): Service | null {
  if (!isJsonObject(content)) return null;
  const { id, executions, successes, avgDurationMs, lastRefinedAt } = content;
  const numbers = [executions, successes, avgDurationMs, lastRefinedAt];
  if (typeof id !== 'string' || numbers.some((one) => typeof one !== 'number')) return null;
  return content as Service;
}

async function rememberDefinition(context: Context, run: Run): Promise<number> {
  const { persona, name, definitionHash: id, outcome, startedAt, finishedAt } = run;
  if (finishedAt === null || (outcome !== 'completed' && outcome !== 'failed')) return 0;
  const source = `sentinel:${name}`;
  const before = serviceIn(await contentOf(context, persona, source));
  const executions = (before?.executions ?? 0) + 1;
  const successes = (before?.successes ?? 0) + (outcome === 'completed' ? 1 : 0);
  const durationMs = Math.max(0, finishedAt - startedAt);
  const avgDurationMs = ((before?.avgDurationMs ?? 0) * (executions - 1) + durationMs) / executions;
  const isSame = before?.id === id;
  const served = {
    ...(isSame ? before : await definedAs(context, name, id)),
    id,
    executions,
    successes,
    successRate: successes / executions,
    avgDurationMs: Math.round(avgDurationMs),
    lastRefinedAt: isSame ? before.lastRefinedAt : startedAt,
    lastRunAt: finishedAt,
    lastOutcome: outcome,
  };
  // One that has never ended well is no skill yet.
  const memory = { persona, source, isUseful: successes > 0, content: served, origin: originOf(run) };
  // What it is found by is that of the definition.
  if (isSame) await update(context, memory);
  else await renew(context, { ...memory, type: SENTINEL, tags: ['skill', 'automation', name] });
  return 1;
}

/** Empty where the definition is not kept. */
async function definedAs({ store }: Context, name: string, id: string): Promise<JsonObject> {
  const found = (await store.definitions.find(id))?.definition;
  if (found === undefined) return { name };
  const { description = null } = found;
  return masked({ name, description, definition: fits(found) ? (found as unknown as JsonObject) : null });
}

const fits = (definition: Definition): boolean => JSON.stringify(definition).length <= definitionBytesMax;
