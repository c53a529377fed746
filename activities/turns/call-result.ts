/** What a command that a model called gave: it goes to the conversation, and word of it to the run. */
import type { CallPlace } from '../../interpreter/effect.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { CommandEntry } from '../../language/catalogue.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { callResultLengthMax } from '../../language/limits.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlacedMessage } from '../../prisma/store/contract/conversation-contract.ts';
import { shortenedText } from '../../language/models/shortened-text.ts';
import { resultRow } from './conversation.ts';

export async function keepCallResult(
  store: Pick<Store, 'conversations'>,
  handle: string,
  place: CallPlace,
  value: Json,
  word: Json = previewOf(value),
): Promise<Json> {
  await store.conversations.add({ handle, conversation: place.conversation }, [callResult(place, value)]);
  return word;
}

/** What the run hears of a result; of a command that asks a model also what it cost, which is the run's to count. */
export function wordOf(entry: CommandEntry | undefined, value: Json): Json {
  const said = previewOf(value);
  return entry?.asksModel === true && isJsonObject(value) ? { said, usage: value['usage'] ?? null } : said;
}

/** The row that the conversation gets. */
export function callResult({ turn, call, id }: CallPlace, value: Json): PlacedMessage {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const content = [{ type: 'text' as const, text: shortenedText(text, callResultLengthMax) }];
  return resultRow(turn, call, { type: 'tool-result', callId: id, content, isError: false });
}
