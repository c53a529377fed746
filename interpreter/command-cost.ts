/** What a command that asks models has cost: its result, its failure, or what comes beside its result says it. */
import { asksModels, findCommand } from '../language/catalogue.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { Effect, Reply, Usage } from './effect.ts';
import type { Walk } from './walk-state.ts';

export function withCost(walk: Walk, effect: Effect, reply: Reply): Reply {
  if (effect.type !== 'command' || reply.usage !== undefined || (!reply.ok && 'cancelled' in reply)) return reply;
  const entry = findCommand(walk.input.catalogue, effect.command);
  if (entry === undefined || !asksModels(entry)) return reply;
  // A result is its command's own, and word of a call is ours.
  const isSaid = entry.asksModel === true || effect.call !== undefined;
  const usage = reply.ok ? (isSaid ? usageIn(reply.value, 'usage') : null) : usageIn(reply.failure.details, 'spent');
  return usage === null ? reply : { ...reply, usage };
}

/** What the activity of a command that `uses` models gives beside its result. */
export function withUsageApart(reply: Reply): Reply {
  if (!reply.ok || !isJsonObject(reply.value)) return reply;
  const { value = null } = reply.value;
  return { ...reply, value, usage: usageIn(reply.value, 'usage') ?? {} };
}

function usageIn(value: Json | undefined, field: string): Partial<Usage> | null {
  const said = value !== undefined && isJsonObject(value) ? value[field] : undefined;
  return isJsonObject(said) ? { tokens: counted(said['tokens']), usd: counted(said['usd']) } : null;
}

/** Nothing that was used gives anything back. */
const counted = (value: Json | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);
