/**
 * Turns of models that followed one another in one activity (agent segments) have no place of their own in
 * history: the history has where each such stretch began, and the store what its turns and calls came to.
 */
import type { History } from '@temporalio/common/lib/proto-utils.js';
import { AGENT } from '../../interpreter/contract.ts';
import type { Reply } from '../../interpreter/effect.ts';
import { openModels } from '../../interpreter/models/open-models.ts';
import type { Position } from '../../interpreter/position.ts';
import type { Json } from '../../language/json.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { ModelRecords } from '../../workflows/history/kept-host.ts';

export interface TurnTarget {
  conversation: string;
  number: number;
}

/** Turns with which stretches of a conversation begin, in order. */
function beginningsIn({ events }: History, conversation: string): number[] {
  const before = `${conversation}/turn.`;
  const begun = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) => {
    const id = scheduled?.activityId ?? '';
    return scheduled?.activityType?.name === AGENT && id.startsWith(before)
      ? [Number.parseInt(id.slice(before.length), 10)]
      : [];
  });
  return [...new Set(begun)].toSorted((a, b) => a - b);
}

/** Where the workflow itself stood last before a turn: at the turn, or at the beginning of the stretch that holds it. */
export function beginningBefore(history: History, { conversation, number }: TurnTarget): number {
  return beginningsIn(history, conversation).findLast((turn) => turn <= number) ?? number;
}

/**
 * What the models of a position had come to: that of the target up to its turn, and others to the end of the
 * stretch that was under way.
 */
export async function modelRecords(
  store: Pick<Store, 'conversations'>,
  handle: string,
  at: { history: History; position: Position; target: TurnTarget | undefined; events: readonly RunEvent[] },
): Promise<ModelRecords> {
  const { history, position, target, events } = at;
  const turns = new Map<string, Json | null>();
  for (const { conversation, turn, answer } of await store.conversations.turns(handle))
    turns.set(`${conversation}/turn.${turn}`, answer?.['outcome'] ?? null);
  const until = new Map<string, number>();
  for (const { key, turn } of openModels(position)) {
    const beginnings = beginningsIn(history, key);
    if (beginnings.includes(turn)) until.set(key, beginnings.find((one) => one > turn) ?? Infinity);
  }
  if (target !== undefined) until.set(target.conversation, target.number);
  const ended = new Map(
    events.flatMap((event) => (event.type === 'step-finished' ? [[event.key, event] as const] : [])),
  );
  return {
    until,
    turns,
    callReply(key): Reply {
      const failure = ended.get(key)?.failure;
      return failure === undefined ? { ok: true, value: null } : { ok: false, failure };
    },
  };
}
