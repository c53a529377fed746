/**
 * A call of a model, at most once for each time that it was decided upon.
 *
 * - C1 What may have an effect outside our store is claimed before it begins, and its outcome is kept with
 *      what the conversation gets of it. Whoever comes later takes the outcome, and does nothing.
 * - C2 Whoever finds a claim of another attempt without an outcome does nothing either, and says so
 *      (`CALL_OUTCOME_UNKNOWN`): what becomes of the call is decided by the walk (interpreter/models/call-doubt.ts).
 *      Where that attempt has left a process that outlives its worker, this one goes on with it.
 * - C3 A read is not claimed. One whose worker was lost is handed back in the same way, so that the walk
 *      that has it read again can say that it did.
 * - C4 What happens once for its key (a write to our store, a word to another run) runs again by itself.
 */
import { randomUUID } from 'node:crypto';
import type { CallPlace } from '../../interpreter/effect.ts';
import { findCommand, type Catalogue } from '../../language/catalogue.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { defined } from '../../language/defined.ts';
import type { CallOutcome } from '../../prisma/store/contract/models/call-contract.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { type RowSink, WaitingRows } from '../../prisma/store/contract/session-contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import { callResult, keepCallResult, wordOf } from './call-result.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export interface CallParts {
  store: Pick<Store, 'calls' | 'conversations'>;
  catalogue: Catalogue;
}

/** One attempt at a call. `attempt`: 1 where nobody can have begun it before under this key. */
export interface CallAttempt {
  handle: string;
  key: string;
  attempt: number;
  command: string;
  params: JsonObject;
}

/**
 * `perform` does what the call asks for; its attempt is 1 where nobody can have begun it. `usage`: what it then has spent
 * on models, where its result does not say it.
 */
export interface CallWork {
  perform: (attempt: number) => Promise<Json>;
  /** Keeps the state of the project before it, with its claim, and then that after it; absent where `perform` does. */
  keepState?: ((rows: RowSink) => Promise<((rows: RowSink) => Promise<void>) | null>) | undefined;
  /** Whether an earlier attempt has left a process, with which `perform` goes on. */
  isLeft?: () => boolean;
  usage?: () => Json | undefined;
}

/** A preview of the result. */
export async function runCall(
  { store, catalogue }: CallParts,
  place: CallPlace,
  call: CallAttempt,
  { perform, usage, isLeft, keepState }: CallWork,
): Promise<Json> {
  const { handle, key, attempt } = call;
  const word = (value: Json): Json => wordOf(findCommand(catalogue, call.command), value, usage?.());
  const again = secondTime(catalogue, call);
  const at = { handle, key };
  crashPoint('call.begun', at);
  if (again === 'same' && attempt > 1) throw unknown();
  if (again !== 'harm') {
    const value = await perform(attempt);
    return keepCallResult(store, handle, place, value, word(value));
  }
  const of = { handle, conversation: place.conversation, turn: place.turn, call: place.call };
  // Whatever numbers attempts have, nobody takes the claim of another for its own.
  const claimant = `${attempt} ${randomUUID()}`;
  const rows = new WaitingRows();
  const keepEnd = await keepState?.(rows);
  const claim = await store.calls.claim(of, { key, attempt: claimant, tries: place.tries ?? 1 }, rows);
  if (claim.state === 'unknown' && isLeft?.() !== true) {
    crashPoint('call.in-doubt', at);
    throw unknown();
  }
  if (claim.state === 'ended') return valueOf(claim.outcome);
  crashPoint('call.claimed', at);
  const ending = new WaitingRows();
  try {
    const value = await perform(claim.state === 'unknown' ? attempt : 1);
    crashPoint('call.performed', at);
    await keepEnd?.(ending);
    const kept = await store.calls.end(of, { ok: true, value: word(value) }, [callResult(place, value)], ending);
    crashPoint('call.kept', at);
    return valueOf(kept);
  } catch (error) {
    // Without the store nobody can say what came of it.
    if (!(error instanceof Failure) || error.code === 'STORE_UNAVAILABLE') throw error;
    if (error.code === 'SHELL_OUTCOME_UNKNOWN') throw unknown();
    await keepEnd?.(ending);
    return valueOf(await store.calls.end(of, { ok: false, failure: error.toInfo() }, [], ending));
  }
}

/** What doing it a second time does: the same again (it reads), nothing (it happens once for its key), or harm. */
export function secondTime(
  catalogue: Catalogue,
  { command, params }: Pick<CallAttempt, 'command' | 'params'>,
): 'same' | 'once' | 'harm' {
  if (permissionOfCommand(catalogue, command, params) === 'read') return 'same';
  const entry = findCommand(catalogue, command);
  return entry?.speed === 'quick' || entry?.otherRuns !== undefined ? 'once' : 'harm';
}

function valueOf(outcome: CallOutcome): Json {
  if (outcome.ok) return outcome.value;
  const { code, message, retryable, details } = outcome.failure;
  throw new Failure(code, message, { retryable, ...defined({ details }) });
}

const unknown = (): Failure =>
  new Failure('CALL_OUTCOME_UNKNOWN', 'its worker was lost before it said what came of it');
