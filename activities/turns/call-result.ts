/** What a command that a model called gave: it goes to the conversation, and word of it to the run. */
import type { CallPlace } from '../../interpreter/effect.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { Json } from '../../language/json.ts';
import { callResultLengthMax } from '../../language/limits.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlacedMessage } from '../../prisma/store/contract/conversation-contract.ts';
import { shortened } from './compaction/shortened.ts';
import { resultRow } from './conversation.ts';

export async function keepCallResult(
  store: Pick<Store, 'conversations'>,
  handle: string,
  place: CallPlace,
  value: Json,
): Promise<Json> {
  await store.conversations.add({ handle, conversation: place.conversation }, [callResult(place, value)]);
  return previewOf(value);
}

/** The row that the conversation gets. */
export function callResult({ turn, call, id }: CallPlace, value: Json): PlacedMessage {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [{ type: 'text' as const, text: shortened(text, callResultLengthMax) }];
  return resultRow(turn, call, { type: 'tool-result', callId: id, content, isError: false });
}
