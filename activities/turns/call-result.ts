/** What a command that a model called gave: it goes to the conversation, and word of it to the run. */
import type { CallPlace } from '../../interpreter/effect.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { Json } from '../../language/json.ts';
import { callResultLengthMax } from '../../language/limits.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { shortened } from './compaction/shortened.ts';
import { resultRow } from './conversation.ts';

export async function keepCallResult(store: Store, handle: string, place: CallPlace, value: Json): Promise<Json> {
  const { conversation, turn, call, id } = place;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [{ type: 'text' as const, text: shortened(text, callResultLengthMax) }];
  await store.conversations.add({ handle, conversation }, [
    resultRow(turn, call, { type: 'tool-result', callId: id, content, isError: false }),
  ]);
  return previewOf(value);
}
