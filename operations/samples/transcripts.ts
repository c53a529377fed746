/** The conversations of a run with models. */
import type { JsonObject } from '../../language/json.ts';
import { readCompactionKey } from '../../language/models/turn-keys.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { StoredMessage, StoredTurn } from '../../prisma/store/contract/models/conversation-contract.ts';

/** One conversation of a run: its messages in order, and what each turn came to. */
export interface Transcript {
  /** Of the step. */
  key: string;
  messages: StoredMessage[];
  turns: StoredTurn[];
  /** What the model was shown from a turn on, where the conversation had grown too long; the messages are all there. */
  compactions: Compaction[];
}

export interface Compaction {
  turn: number;
  /** Of those before the turn, from 1. */
  number: number;
  answer: JsonObject;
  /** The run that made it and paid for it, where this one is a fork. */
  copiedOf: string | null;
}

export interface Conversations {
  /** Of their steps, in the order of their first turns. */
  keys: string[];
  read: (key: string) => Promise<Transcript>;
}

export async function conversationsOf(store: Store, handle: string): Promise<Conversations> {
  const turns = await store.conversations.turns(handle);
  const keys = [...new Set(turns.map(({ conversation }) => conversation))].filter(
    (one) => readCompactionKey(one) === null,
  );
  return {
    keys,
    read: async (key) => ({
      key,
      messages: await store.conversations.read({ handle, conversation: key }),
      turns: turns.filter((turn) => turn.conversation === key),
      compactions: turns.flatMap(({ conversation: one, answer, copiedOf }): Compaction[] => {
        const before = readCompactionKey(one);
        if (before?.conversation !== key || answer === null) return [];
        return [{ turn: before.turn, number: before.number, answer, copiedOf }];
      }),
    }),
  };
}
