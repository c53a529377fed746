/** The calls of a turn: each is decided and performed like a command step, and answered to the model. */
import { isAbort } from '../language/failure.ts';
import type { CommandStep } from '../language/model.ts';
import { act, endingOf } from './action-step.ts';
import { actionAsked } from './approval.ts';
import { callEffect, misuseOf, stepTimeLeft } from './build-turn.ts';
import type { Walking } from './drive.ts';
import { timeoutOf } from './limits.ts';
import { failing, passGate, type AtModel } from './model-gate.ts';
import { noteMark } from './model-stuck.ts';
import type { CallFrame, ModelFrame } from './position.ts';
import { finish } from './results.ts';
import { record } from './walk-state.ts';
import type { Halt, Place } from './effect.ts';

/** Turns in a row with a wrong call, after which the step fails. */
const mistakesMax = 3;
const callsKeptMax = 100;
const inputKeptLengthMax = 500;
/** Failures of a command that are the caller's mistake. */
const MISTAKES: ReadonlySet<string> = new Set(['COMMAND_PARAMS_INVALID', 'UNKNOWN_COMMAND', 'COMMAND_NOT_BUILT']);

export function* performCalls(at: AtModel, calls: readonly CallFrame[]): Walking<Halt | null> {
  const { place, open } = at;
  for (const [index, call] of calls.entries()) {
    if (call.block.at > 0) continue;
    if (index > 0) {
      const halt = yield* passGate(at, 'calls');
      if (halt !== null) return halt;
    }
    const halt = yield* performCall(at, call, index);
    if (halt !== null) return halt;
    call.block = { at: 1 };
  }
  open.mistakes = open.isMistaken === true ? open.mistakes + 1 : 0;
  delete open.isMistaken;
  delete open.calls;
  open.turn += 1;
  if (open.mistakes < mistakesMax) return null;
  const last = open.answers.at(-1)?.text ?? '';
  return failing(
    'MODEL_CALLS_WRONG',
    `${place.key}: the model made wrong calls in ${mistakesMax} turns in a row, the last of them: ${last}`,
  );
}

function* performCall(at: AtModel, call: CallFrame, index: number): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  const { id, name, input } = call;
  const misuse = misuseOf(walk, step, call);
  if (misuse !== null) return mistaken(at, call, index, misuse);
  const own = `turn.${open.turn}/call.${index}`;
  const called: CommandStep = { type: 'command', command: name, params: input };
  const here: Place = { path: `${place.path}/${own}`, passes: place.passes, key: `${place.key}/${own}` };
  if (!walk.host.performs(called)) return { flow: { kind: 'yield' } };
  const timeoutMs = Math.max(1, Math.min(timeoutOf(walk, called, strand), stepTimeLeft(walk, strand, step, open)));
  const startedAt = walk.host.now();
  const asked = actionAsked(walk, called, here, call.block);
  const effect =
    asked === null
      ? callEffect(walk, called, {
          place: here,
          timeoutMs,
          call: { conversation: place.key, turn: open.turn, call: index, id },
        })
      : { ...asked, timeoutMs };
  const acted =
    'code' in effect ? { failure: effect, skip: false } : yield* act(walk, strand, called, here, call.block, effect);
  if ('flow' in acted) return acted;
  const ending = 'failure' in acted ? { failure: acted.failure } : endingOf(acted.reply);
  finish(walk, strand, called, here, startedAt, ending, name);
  if ('cancelled' in ending) return { flow: { kind: 'cancelled' } };
  if ('failure' in ending) {
    if (isAbort(ending.failure)) return { ending: { failure: ending.failure } };
    if (MISTAKES.has(ending.failure.code)) open.isMistaken = true;
    const { message } = ending.failure;
    open.answers.push({
      call: index,
      id,
      text: message.startsWith(`${here.key}: `) ? message.slice(here.key.length + 2) : message,
    });
  }
  noteMark(at, call, 'failure' in ending ? { error: ending.failure.message.slice(here.key.length) } : ending);
  note(open, call, !('failure' in ending));
  return null;
}

function mistaken(at: AtModel, call: CallFrame, index: number, misuse: string): null {
  const { walk, place, open } = at;
  record(walk, {
    type: 'warning',
    key: place.key,
    code: 'MODEL_CALLS_WRONG',
    message: `${place.key}/turn.${open.turn}/call.${index}: ${misuse}`,
  });
  open.isMistaken = true;
  open.answers.push({ call: index, id: call.id, text: misuse });
  noteMark(at, call, { error: misuse });
  note(open, call, false);
  return null;
}

function note(open: ModelFrame, { name, input }: CallFrame, ok: boolean): void {
  const isShort = JSON.stringify(input).length <= inputKeptLengthMax;
  open.made = [...open.made, { name, ...(isShort ? { input } : {}), ok }].slice(-callsKeptMax);
}
