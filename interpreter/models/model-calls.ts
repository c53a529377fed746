/** The calls of a turn: each is decided and performed like a command step, and answered to the model. */
import { isAbort } from '../../language/failure.ts';
import type { CommandStep } from '../../language/model.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { defined } from '../../language/defined.ts';
import { act, endingOf } from '../action-step.ts';
import { actionAsked } from '../approval.ts';
import { callEffect, misuseOf, stepTimeLeft } from './build-turn.ts';
import { isDoubt, resolveCall } from './call-doubt.ts';
import { driveAll, wait, type Walking } from '../drive.ts';
import type { CallAnswer } from '../effect.ts';
import { canAsk } from '../escalation.ts';
import { isCancelled, shieldOf } from '../host.ts';
import { limitReached, timeoutOf } from '../limits.ts';
import { failing, passGate, type AtModel } from './model-gate.ts';
import { keepMarks, noteMark } from './model-stuck.ts';
import type { CallFrame, ModelFrame } from '../position.ts';
import { flowOf } from '../attempts.ts';
import { DAY_SPENT, waitInModel } from '../day-budget.ts';
import { heldBackIn, waitForTurn } from '../held-back.ts';
import { finish } from '../results.ts';
import { shownAction } from '../shown-action.ts';
import { branched } from '../places.ts';
import { record } from '../walk-state.ts';
import type { Halt, Place } from '../effect.ts';

/** Turns in a row with a wrong call, after which the step fails. */
const mistakesMax = 3;
/** Of one turn. */
const readsAtOnceMax = 8;
const callsKeptMax = 100;
const inputKeptLengthMax = 500;
/** Failures of a command that are the caller's mistake. */
const MISTAKES: ReadonlySet<string> = new Set(['COMMAND_PARAMS_INVALID', 'UNKNOWN_COMMAND', 'COMMAND_NOT_BUILT']);

export function* performCalls(at: AtModel, calls: readonly CallFrame[]): Walking<Halt | null> {
  const { place, open } = at;
  const halt = areReads(at, calls) ? yield* performTogether(at, calls) : yield* performInTurn(at, calls);
  if (halt !== null) return halt;
  for (const call of calls) note(open, call);
  keepMarks(at, calls);
  open.answers = open.answers.toSorted((a, b) => a.call - b.call);
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

function* performInTurn(at: AtModel, calls: readonly CallFrame[]): Walking<Halt | null> {
  for (const [index, call] of calls.entries()) {
    if (call.block.at > 0) continue;
    if (index > 0) {
      const halt = yield* passGate(at, 'calls');
      if (halt !== null) return halt;
    }
    const halt = yield* performCall(at, call, index);
    if (halt !== null) return halt;
  }
  return null;
}

/** What only reads, and asks nobody, can be done in any order; a wrong call does nothing. */
function areReads({ walk, step }: AtModel, calls: readonly CallFrame[]): boolean {
  const { catalogue } = walk.input;
  const isRead = (call: CallFrame): boolean =>
    misuseOf(walk, step, call) !== null || permissionOfCommand(catalogue, call.name, call.input) === 'read';
  return calls.length > 1 && calls.every(isRead);
}

/** Their results stand in the conversation in the order of the calls, whichever came first. */
function* performTogether(at: AtModel, calls: readonly CallFrame[]): Walking<Halt | null> {
  for (;;) {
    const left = [...calls.entries()].filter(([, { block }]) => block.at === 0);
    const halt = yield* takeTogether(at, left);
    if (halt !== null || left.length === 0) return halt;
    // They stopped at a limit: it is asked about once, and not by each of them.
    const held = yield* passGate(at, 'calls');
    if (held !== null) return held;
  }
}

/** Takes what it performs from `left`, and leaves there what a limit keeps from being begun. */
function* takeTogether(at: AtModel, left: [number, CallFrame][]): Walking<Halt | null> {
  const halts: Halt[] = [];
  const next = (): [number, CallFrame] | undefined => (halts.length > 0 || isAtLimit(at) ? undefined : left.shift());
  const takeCalls = function* (): Walking<void> {
    for (let taken = next(); taken !== undefined; taken = next()) {
      const [index, call] = taken;
      const halt = yield* performCall(at, call, index);
      if (halt !== null) halts.push(halt);
    }
  };
  const runners = Array.from({ length: Math.min(readsAtOnceMax, left.length) }, () => takeCalls());
  const lines = branched(at.walk, runners, () => halts.length === 0);
  yield* wait(driveAll(lines, () => at.walk.host.suspended()));
  return halts[0] ?? null;
}

/** The gate says which, and what comes of it. */
const isAtLimit = ({ walk, strand, step, open }: AtModel): boolean =>
  isCancelled(strand) ||
  (shieldOf(strand) === null && limitReached(walk) !== null) ||
  stepTimeLeft(walk, strand, step, open) <= 0;

function* performCall(at: AtModel, call: CallFrame, index: number): Walking<Halt | null> {
  const misuse = misuseOf(at.walk, at.step, call);
  if (misuse !== null) return mistaken(at, call, index, misuse);
  for (;;) {
    const { doubt } = call;
    if (doubt === undefined) {
      const halt = yield* tryCall(at, call, index);
      if (halt !== null || call.block.at > 0) return halt;
    } else if (doubt.again === undefined) {
      if (!(yield* canAsk(at.walk))) return { flow: { kind: 'yield' } };
      const resolved = yield* resolveCall(at, { call, doubt, ...calledAt(at, call, index) });
      if ('flow' in resolved || 'ending' in resolved) return resolved;
      if ('answer' in resolved) {
        end(at.open, call, resolved.ok, { call: index, id: call.id, text: resolved.answer });
        return null;
      }
      doubt.again = resolved.again;
    } else {
      const halt = yield* passGate(at, 'calls');
      if (halt !== null) return halt;
      beginAgain(at, call, index, doubt.again);
    }
  }
}

function calledAt({ place, open }: AtModel, call: CallFrame, index: number): { called: CommandStep; place: Place } {
  const own = `turn.${open.turn}/call.${index}`;
  const again = call.tries === undefined ? '' : `#${call.tries}`;
  return {
    called: { type: 'command', command: call.name, params: call.input },
    place: { path: `${place.path}/${own}`, passes: place.passes, key: `${place.key}/${own}${again}` },
  };
}

/** What was approved was approved once. */
function beginAgain(at: AtModel, call: CallFrame, index: number, why: string): void {
  call.tries = (call.tries ?? 1) + 1;
  call.block = { at: 0 };
  delete call.doubt;
  const { key } = calledAt(at, call, index).place;
  const message = `${key}: ${call.name} is called again, and may have been done before: ${why}`;
  record(at.walk, { type: 'warning', key, code: 'CALL_REPEATED', message });
}

/** Ends the call, or leaves it in doubt. */
function* tryCall(at: AtModel, call: CallFrame, index: number): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  const { id, name, tries } = call;
  const { called, place: here } = calledAt(at, call, index);
  if (!walk.host.performs(called)) return { flow: { kind: 'yield' } };
  const timeoutMs = Math.max(1, Math.min(timeoutOf(walk, called, strand), stepTimeLeft(walk, strand, step, open)));
  const startedAt = walk.host.now();
  const asked = actionAsked(walk, called, here, call.block);
  const belongs = {
    conversation: place.key,
    turn: open.turn,
    call: index,
    id,
    ...defined({ tries }),
  };
  const effect =
    asked === null
      ? callEffect(walk, strand, called, { place: here, timeoutMs, call: belongs, asking: step })
      : { ...asked, timeoutMs };
  const acted = yield* act(walk, strand, called, here, call.block, effect);
  if ('flow' in acted) return acted;
  const heldBack = 'reply' in acted ? heldBackIn(acted.reply) : null;
  if (heldBack !== null) {
    const gate =
      heldBack.code === DAY_SPENT
        ? yield* waitInModel(walk, strand, place.key, open)
        : yield* waitForTurn(walk, strand, here.key, heldBack, open);
    return gate === 'go' ? null : { flow: flowOf(gate) };
  }
  const ending = 'failure' in acted ? { failure: acted.failure } : endingOf(acted.reply);
  finish(walk, strand, called, here, startedAt, ending, name);
  if ('cancelled' in ending) return { flow: { kind: 'cancelled' } };
  if (!('failure' in ending)) {
    noteMark(at, call, ending);
    end(open, call, true);
    return null;
  }
  const { failure } = ending;
  if (isAbort(failure)) return { ending: { failure } };
  if (isDoubt(failure)) {
    const action =
      'effect' in acted ? shownAction(acted.effect) : { type: 'command', command: name, params: call.input };
    call.doubt = { failure, action, block: { at: 0 } };
    return null;
  }
  if (MISTAKES.has(failure.code)) open.isMistaken = true;
  const text = withoutKey(failure.message, here.key);
  noteMark(at, call, { error: text });
  end(open, call, false, { call: index, id, text });
  return null;
}

const withoutKey = (message: string, key: string): string =>
  message.startsWith(`${key}: `) ? message.slice(key.length + 2) : message;

function end(open: ModelFrame, call: CallFrame, ok: boolean, answer?: CallAnswer): void {
  call.block = { at: 1 };
  call.ok = ok;
  delete call.doubt;
  if (answer !== undefined) open.answers.push(ok ? { ...answer, ok } : answer);
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
  end(open, call, false, { call: index, id: call.id, text: misuse });
  noteMark(at, call, { error: misuse });
  return null;
}

function note(open: ModelFrame, { name, input, ok = false }: CallFrame): void {
  const isShort = JSON.stringify(input).length <= inputKeptLengthMax;
  open.made = [...open.made, { name, ...(isShort ? { input } : {}), ok }].slice(-callsKeptMax);
}
