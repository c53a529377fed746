/** What a trace says of a failure, an edit and the items of a list, in a few words for a line. */
import { isDeepStrictEqual } from 'node:util';
import type { StepFinished, Edited, ItemsAgain, ItemsEnd } from '../../language/events/run-event.ts';
import { labelOfStep } from '../../language/graph/step-label.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';

/** At the end of the step's line, and below that line the rest of the message. */
interface FailureWords {
  line: string;
  below: readonly string[];
}

const EXITED = /^\S+: it ended with exit code -?\d+(?=: )/;

/**
 * Steps around the one that failed repeat its message, and show only the first line of it.
 * `isQuoted`: what the process printed is shown by the caller.
 */
export function failureWords(event: Pick<StepFinished, 'failure' | 'step'>, isQuoted = false): FailureWords | null {
  if (event.failure === undefined) return null;
  const { code, message } = event.failure;
  const [first = '', ...others] = message.split('\n');
  if (repeats(event)) return { line: `${code}: ${first}${others.length === 0 ? '' : ' …'}`, below: [] };
  const exited = code === 'SHELL_EXIT_NONZERO' ? EXITED.exec(message)?.[0] : undefined;
  if (exited === undefined || (others.length === 0 && !isQuoted)) return { line: `${code}: ${first}`, below: others };
  return { line: `${code}: ${exited}`, below: isQuoted ? [] : message.slice(exited.length + 2).split('\n') };
}

const repeats = ({ failure, step }: Pick<StepFinished, 'failure' | 'step'>): boolean =>
  step === 'loop' || step === 'parallel' || step === 'sentinel' || failure?.code === 'CHILD_FAILED';

const fieldsShownMax = 3;
const valueShownMax = 60;

/** What an edit changed: `command "a" → "b"`. */
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

const rangesShownMax = 12;

/** What the line of a list's step says behind its outcome. */
export function itemsEndWords({ count, failed, failedAt = [], retraced }: ItemsEnd): string {
  const parts = [counted(count)];
  if (failed > 0) parts.push(`${failed} failed (${numbers(failedAt, failed)})`);
  if (retraced !== undefined) parts.push(`${retraced} retraced`);
  return parts.join(', ');
}

/** `of`: the run that is forked. */
export const againWords = ({ at, items, performed, kept }: ItemsAgain, of: string): string =>
  `of ${at}, ${counted(performed)} ${performed === 1 ? 'is' : 'are'} performed again (${numbers(items, performed)}), and ${kept} ${kept === 1 ? 'result is that' : 'results are those'} of ${of}`;

const counted = (count: number): string => (count === 1 ? '1 item' : `${count} items`);

/** `3, 7-9`; `of`: how many there are. */
function numbers(items: readonly number[], of: number): string {
  const ranges: [number, number][] = [];
  for (const item of items) {
    const last = ranges.at(-1);
    if (last?.[1] === item - 1) last[1] = item;
    else ranges.push([item, item]);
  }
  const shown = ranges.slice(0, rangesShownMax).map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
  const isWhole = ranges.length <= rangesShownMax && items.length >= of;
  return isWhole ? shown.join(', ') : `${shown.join(', ')}, …`;
}
