/** JSON that a person hands over, in an option or a file: what is none, or more than a run can hold, is refused with the place. */
import { valueFault, type Json, type Room } from '../../../language/json.ts';
import { refuseFault } from '../../../runs/client-error.ts';
import { usage } from './usage.ts';

/** `place`: the option or the file. `remedy`: how it is written. */
export function givenJson(place: string, text: string, remedy: string, room: Room = {}): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw usage(`${place} is not JSON (${error instanceof Error ? error.message : String(error)}); ${remedy}.`);
  }
  refuseFault(valueFault(value, place, room));
  return value;
}
