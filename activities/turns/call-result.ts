/** What a command that a model called gave: it goes to the conversation, and word of it to the run. */
import type { CallPlace } from '../../interpreter/effect.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { CommandEntry } from '../../language/catalogue.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { callResultLengthMax, picturesMax } from '../../language/limits.ts';
import { withoutPictures } from '../../language/models/pictures.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlacedMessage } from '../../prisma/store/contract/models/conversation-contract.ts';
import { shortenedText } from '../../language/models/shortened-text.ts';
import type { ImageBlock } from '../models/port/message.ts';
import { resultRow } from './conversation.ts';
import { isImageType } from './images.ts';

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

/** The row that the conversation gets: pictures in the result go to the model as pictures. */
export function callResult({ turn, call, id }: CallPlace, value: Json): PlacedMessage {
  const pictures: ImageBlock[] = [];
  const told = withoutPictures(value, ({ mediaType, data }) => {
    if (pictures.length < picturesMax && isImageType(mediaType)) pictures.push({ type: 'image', mediaType, data });
  });
  const text = typeof told === 'string' ? told : JSON.stringify(told);
  const content = [{ type: 'text' as const, text: shortenedText(text, callResultLengthMax) }, ...pictures];
  return resultRow(turn, call, { type: 'tool-result', callId: id, content, isError: false });
}
