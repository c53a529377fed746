/** JSON that a person hands over, in an option or a file: what is none, or what a run cannot hold, is refused with the place. */
import { valueFault, type Json, type Room } from '../../language/json.ts';
import { exactJson, withoutMark } from '../../language/numbers/exact-json.ts';
import { beyondSize } from '../../language/read/text/silent-changes.ts';
import { refuseFault } from '../../runs/client-error.ts';
import { usage } from './usage.ts';

/** `place`: the option or the file. `remedy`: how it is written. */
export function givenJson(place: string, text: string, remedy: string, room: Room = {}): Json {
  let value: Json;
  try {
    value = readExactly(place, text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw usage(`${place} is not JSON (${error.message}); ${remedy}.`);
  }
  refuseFault(valueFault(value, place, room));
  return value;
}

/** Numbers that are not held are texts, and one of a size that none has is refused. Throws a `SyntaxError` for what is no JSON. */
export function readExactly(place: string, given: string): Json {
  const text = withoutMark(given);
  const value = exactJson(text);
  const beyond = beyondSize(text);
  if (beyond === undefined) return value;
  const { path, written } = beyond;
  throw usage(
    `${place}${path === '' ? '' : `: "${path}"`} is ${written}, and no number has that size; put it in quotes where the text is meant.`,
  );
}
