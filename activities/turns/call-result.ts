/** What a command that a model called gave: it goes to the conversation, and word of it to the run. */
import type { CallPlace } from '../../interpreter/effect.ts';
import { previewOf } from '../../language/events/preview.ts';
import type { CommandEntry } from '../../language/catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { callResultLengthMax, picturesMax } from '../../language/limits.ts';
import { withoutPictures } from '../../language/models/pictures.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { PlacedMessage } from '../../prisma/store/contract/models/conversation-contract.ts';
import { shortenedText } from '../../language/models/left-out.ts';
import type { ImageBlock } from '../../world/models/port/message.ts';
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
export function wordOf(entry: CommandEntry | undefined, value: Json, spent?: Json): Json {
  const said = previewOf(value);
  const usage = entry?.asksModel === true && isJsonObject(value) ? (value['usage'] ?? null) : spent;
  return usage === undefined ? said : { said, usage };
}

/** Of a shorter text, a second time costs less than to say where it stands. */
const repeatedLengthMin = 40;

/** What a model reads of a result: each text once, in the shortest form that says all. */
export function toldText(value: Json): string {
  if (typeof value === 'string') return value;
  return JSON.stringify(isJsonObject(value) ? (shellTold(value) ?? toldOnce(value)) : value);
}

/** `output` is both streams as one, and of two spellings of the exit code one is enough. */
function shellTold(value: JsonObject): JsonObject | null {
  const { exitCode, exit_code: again, stdout, stderr, output, success: _success, ...rest } = value;
  const isShell = typeof stdout === 'string' && typeof stderr === 'string' && typeof output === 'string';
  if (!isShell || typeof exitCode !== 'number' || again !== exitCode) return null;
  return { exitCode, ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }), ...rest };
}

/** A text that stands in two fields stands in the first of them. */
function toldOnce(value: JsonObject): JsonObject {
  const said = new Set<string>();
  return Object.fromEntries(
    Object.entries(value).filter(([, field]) => {
      if (typeof field !== 'string' || field.length < repeatedLengthMin) return true;
      const isNew = !said.has(field);
      said.add(field);
      return isNew;
    }),
  );
}

/** The row that the conversation gets: pictures in the result go to the model as pictures. */
export function callResult({ turn, call, id }: CallPlace, value: Json): PlacedMessage {
  const pictures: ImageBlock[] = [];
  const told = withoutPictures(value, ({ mediaType, data }) => {
    if (pictures.length < picturesMax && isImageType(mediaType)) pictures.push({ type: 'image', mediaType, data });
  });
  const text = toldText(told);
  const content = [{ type: 'text' as const, text: shortenedText(text, callResultLengthMax) }, ...pictures];
  return resultRow(turn, call, { type: 'tool-result', callId: id, content, isError: false });
}
