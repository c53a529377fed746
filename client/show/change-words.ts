/** What an edit changed, in a few words for a line of a trace: `command "a" → "b"`. */
import { isDeepStrictEqual } from 'node:util';
import { labelOfStep } from '../../language/graph/step-label.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Edited } from '../../language/events/run-event.ts';

const fieldsShownMax = 3;
const valueShownMax = 60;

export function editWords({ op, before, after }: Pick<Edited, 'op' | 'before' | 'after'>): string {
  if (op === 'update' && before !== null && after !== null)
    return fieldWords(before as unknown as JsonObject, after as unknown as JsonObject);
  const step = op === 'add' ? after : before;
  return step === null ? '' : brief(`${step.type} ${labelOfStep(step)}`);
}

/** What an answer `edit` makes of the action that was shown with the question, as far as that is known. */
export function answeredWords(shown: Json | undefined, data: Json): string {
  if (!isJsonObject(data)) return '';
  const action = isJsonObject(shown) && isJsonObject(shown['action']) ? shown['action'] : {};
  return fieldWords(Object.fromEntries(Object.entries(action).filter(([field]) => Object.hasOwn(data, field))), data);
}

function fieldWords(before: JsonObject, after: JsonObject): string {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );
  const words = fields.slice(0, fieldsShownMax).map((field) => {
    const [old, now] = [before[field], after[field]];
    if (now === undefined) return `without ${field}`;
    return `${field} ${old === undefined ? '' : `${brief(JSON.stringify(old))} → `}${brief(JSON.stringify(now))}`;
  });
  const more = fields.length - words.length;
  return [...words, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function brief(text: string): string {
  const characters = Array.from(text.replaceAll(/\s+/g, ' '));
  return characters.length <= valueShownMax
    ? characters.join('')
    : `${characters.slice(0, valueShownMax - 1).join('')}…`;
}
