/**
 * What a person tells the model of a step that is under way: a message of the user before its next turn. It is
 * taken once by its id, waits in the position until a turn has it, and is kept from no turn but the last.
 */
import { tellBytesMax, tellsWaitingMax } from '../../language/limits.ts';
import { openModels } from './open-models.ts';
import type { ModelFrame, Position, Telling } from '../position.ts';
import { record, type Walk } from '../walk-state.ts';

const tellsKeptMax = 100;

export interface TellRequest {
  /** Whoever says the same again says it under the same id. */
  id: string;
  text: string;
  by: string;
  /** Key of the model step; may be left out where one is under way. */
  step?: string;
}

export interface TellReply {
  id: string;
  /** Key of the step that is told. */
  step: string;
  /** It had been told under this id before. */
  already: boolean;
}

export interface TellRefusal {
  code: 'NO_MODEL_STEP' | 'TELL_INVALID';
  message: string;
}

/** Null where it can be told. */
export function tellRefusal(walk: Walk, request: TellRequest): TellRefusal | null {
  const { position, input } = walk;
  const { id, text, by, step } = request;
  if ([id, text, by].some((part) => typeof part !== 'string' || part.trim() === ''))
    return invalid('a model is told a text, under an id and by somebody; none of them may be empty');
  const bytes = utf8Bytes(text);
  if (bytes > tellBytesMax)
    return invalid(`the text has ${bytes} bytes, and a model is told at most ${tellBytesMax} at once; say it shorter`);
  if (Math.max(utf8Bytes(id), utf8Bytes(by)) > nameBytesMax)
    return invalid(`the id and who tells it have at most ${nameBytesMax} bytes each`);
  if (heardBefore(position, id) !== undefined) return null;
  const open = openModels(position).map(({ key }) => key);
  const { handle } = input;
  if (open.length === 0)
    return none(
      `${handle} is at no model step, so there is nobody to tell; "sentinel status ${handle}" shows what it is at`,
    );
  if (step !== undefined && !open.includes(step))
    return none(`"${step}" is no model step that is under way in ${handle}; under way: ${open.join(', ')}`);
  if (step === undefined && open.length > 1)
    return none(`${handle} is at several model steps; say which one with --step: ${open.join(', ')}`);
  if ((position.told ?? []).length >= tellsWaitingMax)
    return invalid(
      `${tellsWaitingMax} messages wait for the next turn of ${handle}; wait until they were said, and tell it then`,
    );
  return null;
}

const nameBytesMax = 500;

const invalid = (message: string): TellRefusal => ({ code: 'TELL_INVALID', message });
const none = (message: string): TellRefusal => ({ code: 'NO_MODEL_STEP', message });

const heardBefore = ({ heard = [] }: Position, id: string): Pick<Telling, 'key'> | undefined =>
  heard.find((told) => told.id === id);

/** Encoders are not there in workflow code. */
function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x8_00 ? 2 : point < 0x1_00_00 ? 3 : 4;
  }
  return bytes;
}

/** Takes what `tellRefusal` has no word against. */
export function takeTell(walk: Walk, { id, text, by, step }: TellRequest): TellReply {
  const { position } = walk;
  const open = openModels(position);
  const before = heardBefore(position, id);
  if (before !== undefined) return { id, step: before.key, already: true };
  const frame = step === undefined ? open[0] : open.find(({ key }) => key === step);
  if (frame === undefined) throw new Error('bug: nobody is there to be told');
  const { key } = frame;
  const whole = text.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  position.told = [...(position.told ?? []), { id, key, text: whole, by }];
  position.heard = [...(position.heard ?? []), { id, key }].slice(-tellsKeptMax);
  record(walk, { type: 'told', key, id, text: whole, by });
  return { id, step: key, already: false };
}

/** Whether somebody told the step something that no turn has had yet. */
export const isTold = ({ told = [] }: Position, key: string): boolean => told.some((one) => one.key === key);

/** What was told goes with the turn that begins; a turn that is tried again says it again in the same place. */
export function sayTold(walk: Walk, open: ModelFrame): void {
  for (const { id, key, text, by } of takeFor(walk.position, open.key)) {
    open.say = [...open.say, { prompt: 'told', id, text, by }];
    record(walk, { type: 'heard', key, id, by, turn: open.turn });
  }
}

/** When the step ends: what came too late for any turn. */
export function endTelling(walk: Walk, key: string): void {
  for (const { by, id } of takeFor(walk.position, key)) record(walk, { type: 'heard', key, id, by, turn: null });
}

function takeFor(position: Position, key: string): Telling[] {
  const { told = [] } = position;
  const others = told.filter((one) => one.key !== key);
  if (others.length === 0) delete position.told;
  else position.told = others;
  return told.filter((one) => one.key === key);
}
