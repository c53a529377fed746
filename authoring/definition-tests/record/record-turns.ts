/** What a model answered a step that ended, turn by turn, as a test says it. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { defined } from '../../../language/defined.ts';
import type { StoredTurn } from '../../../prisma/store/contract/models/conversation-contract.ts';

/** A reply for each turn that was answered, in order; none where the step's turns are not kept. */
export function turnReplies(turns: readonly StoredTurn[], key: string): JsonObject[] {
  return turns
    .filter(({ conversation }) => conversation === key)
    .toSorted((a, b) => a.turn - b.turn)
    .flatMap(({ answer }) => {
      const outcome = answer?.['outcome'];
      return isJsonObject(outcome) ? [replyOf(outcome)] : [];
    });
}

function replyOf({ calls, text = '', stopReason, fault, usage, usd }: JsonObject): JsonObject {
  const called = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
  const value: Json =
    called.length > 0
      ? { calls: called.map(({ id: _id, ...call }) => call) }
      : fault !== undefined || stopReason !== 'end'
        ? { text, stopReason: stopReason ?? 'end', ...defined({ fault }) }
        : text;
  return { ok: true, value, ...costOf(usage, usd) };
}

function costOf(usage: Json | undefined, usd: Json | undefined): JsonObject {
  if (!isJsonObject(usage)) return {};
  const tokens = ['input', 'output', 'cacheRead', 'cacheWrite'].reduce(
    (sum, name) => sum + Number(usage[name] ?? 0),
    0,
  );
  return { usage: { tokens, ...(typeof usd === 'number' && usd > 0 ? { usd } : {}) } };
}
