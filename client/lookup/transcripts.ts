/** The conversations of a run with models, or that of one step. */
import type { JsonObject } from '../../language/json.ts';
import { readCompactionKey } from '../../language/models/turn-keys.ts';
import { ClientError } from '../../runs/client-error.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { StoredMessage, StoredTurn } from '../../prisma/store/contract/models/conversation-contract.ts';
import { runAt } from './run-at.ts';

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

/** `key` may lead through nested runs: `steps.0@1/steps.2@1`. Throws `STEP_NOT_FOUND` where the step has no conversation. */
export async function transcriptsOf(store: Store, handle: string, key: string | undefined): Promise<Transcript[]> {
  const at = key === undefined ? { handle, key } : ownRun(handle, key);
  const turns = await store.conversations.turns(at.handle);
  const keys = [...new Set(turns.map(({ conversation }) => conversation))].filter(
    (one) => readCompactionKey(one) === null,
  );
  const wanted = at.key === undefined ? keys : keys.filter((one) => one === at.key);
  if (key !== undefined && wanted.length === 0) {
    const known = keys.length === 0 ? 'it has asked no model' : `its conversations are ${keys.join(', ')}`;
    throw new ClientError('STEP_NOT_FOUND', `${at.handle} has no conversation "${at.key}"; ${known}.`);
  }
  return Promise.all(
    wanted.map(async (conversation) => ({
      key: conversation,
      messages: await store.conversations.read({ handle: at.handle, conversation }),
      turns: turns.filter((turn) => turn.conversation === conversation),
      compactions: turns.flatMap(({ conversation: one, answer, copiedOf }): Compaction[] => {
        const before = readCompactionKey(one);
        if (before?.conversation !== conversation || answer === null) return [];
        return [{ turn: before.turn, number: before.number, answer, copiedOf }];
      }),
    })),
  );
}

function ownRun(handle: string, key: string): { handle: string; key: string } {
  const last = key.lastIndexOf('/');
  return last === -1 ? { handle, key } : { handle: runAt(handle, key.slice(0, last)).handle, key: key.slice(last + 1) };
}
