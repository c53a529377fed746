/** What a command that asks a model has cost: its result, or its failure, says it. */
import { findCommand } from '../language/catalogue.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { Effect, Reply, Usage } from './effect.ts';
import type { Walk } from './walk-state.ts';

export function withCost(walk: Walk, effect: Effect, reply: Reply): Reply {
  if (effect.type !== 'command' || findCommand(walk.input.catalogue, effect.command)?.asksModel !== true) return reply;
  if (reply.usage !== undefined || (!reply.ok && 'cancelled' in reply)) return reply;
  const usage = reply.ok ? usageOf(reply.value, 'usage') : usageOf(reply.failure.details ?? null, 'spent');
  return usage === null ? reply : { ...reply, usage };
}

function usageOf(value: Json, field: string): Partial<Usage> | null {
  const said = isJsonObject(value) ? value[field] : undefined;
  return isJsonObject(said) ? { tokens: counted(said['tokens']), usd: counted(said['usd']) } : null;
}

/** Nothing that was used gives anything back. */
const counted = (value: Json | undefined): number => (typeof value === 'number' && value > 0 ? value : 0);
