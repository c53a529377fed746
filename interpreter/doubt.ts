/**
 * What was begun, and may have been done: nobody saw its end. Nothing does it again without a word: what becomes
 * of it is the step's policy (`onUnknown`).
 *
 * Where a command is named that knows, it is asked; where it does not know either, or none is, the persona is.
 */
import type { FailureInfo } from '../language/failure.ts';
import type { Json, JsonObject } from '../language/json.ts';
import { isJsonObject } from '../language/json.ts';
import type { CommandStep, OnUnknown, Verification } from '../language/model.ts';
import { previewOf } from '../language/events/preview.ts';
import { act, endingOf } from './action-step.ts';
import { confinementOf, secretsOf, withRights } from './build-effect.ts';
import type { Walking } from './drive.ts';
import type { CommandEffect, Halt, Place } from './effect.ts';
import { aborted, notify } from './escalation.ts';
import type { Strand } from './host.ts';
import { timeoutOf } from './limits.ts';
import { reachOf } from './reach.ts';
import { namesAt, paramsOf, Reader } from './names.ts';
import type { Doubt } from './position.ts';
import { ruleFor } from './program.ts';
import { ask } from './questions.ts';
import { finish } from './results.ts';
import { record, type Walk } from './walk-state.ts';

/** What takes its workers with it is not begun for ever: after so many times the persona is asked. */
export const triesMax = 3;

export interface Doubted {
  doubt: Doubt;
  /** How often it was begun. */
  tries: number;
  onUnknown: OnUnknown;
  place: Place;
  /** What people read for it. */
  label: string;
  /** What the parameters of `verify` see of it, as `call`. */
  call: { name: Json; input: Json };
}

/** `again`: why it is begun once more. `done`: how it is known that it was done. `left`: it is not begun again, and who decided that. */
export type Resolved = { again: string } | { done: string } | { left: Decider } | Halt;
/** `policy`: the step, or nobody who was asked. */
export type Decider = 'policy' | { by: string; note: string | null };

export function* resolveDoubt(walk: Walk, strand: Strand, doubted: Doubted): Walking<Resolved> {
  const { onUnknown } = doubted;
  const mayRepeat = doubted.tries < triesMax;
  if (onUnknown === 'skip') return { left: 'policy' };
  if (onUnknown === 'retry' && mayRepeat) return { again: 'the step says so (onUnknown)' };
  if (typeof onUnknown === 'object' && mayRepeat) {
    const verified = yield* verify(walk, strand, doubted, onUnknown);
    if (verified !== null) return verified;
  }
  return yield* askAbout(walk, strand, doubted);
}

/** Null where the command does not know. */
function* verify(walk: Walk, strand: Strand, doubted: Doubted, how: Verification): Walking<Resolved | null> {
  const { place, doubt } = doubted;
  const own: Place = { ...place, path: `${place.path}/verify`, key: `${place.key}/verify` };
  const step: CommandStep = { type: 'command', command: how.verify, ...(how.params ? { params: how.params } : {}) };
  const built = verification(walk, strand, step, own, doubted);
  if ('code' in built) {
    record(walk, { type: 'warning', key: own.key, code: built.code, message: built.message });
    return null;
  }
  const startedAt = walk.host.now();
  const acted = yield* act(walk, strand, step, own, doubt.block, built);
  if ('flow' in acted) return acted;
  const reply = 'failure' in acted ? { ok: false as const, failure: acted.failure } : acted.reply;
  const ending = endingOf(reply);
  finish(walk, strand, step, own, startedAt, ending, how.verify);
  if ('cancelled' in ending) return { flow: { kind: 'cancelled' } };
  const wasDone = 'value' in ending ? saysDone(ending.value) : saysAbsent(ending.failure);
  doubt.block = { at: 0 };
  if (wasDone === null) return null;
  if (!wasDone) return { again: `${how.verify} says that it was not done` };
  const said = 'value' in ending ? `: ${previewOf(ending.value)}` : '';
  return { done: `${how.verify} says so${said}` };
}

/** What is there was made: a command that finds nothing says no, and any other failure says nothing. */
const saysAbsent = ({ code }: FailureInfo): false | null => (code.endsWith('_NOT_FOUND') ? false : null);

/** A result says it by its field `done` or `success`, else by being something. */
function saysDone(value: Json): boolean {
  const said = isJsonObject(value) ? (value['done'] ?? value['success']) : value;
  if (said === undefined) return true;
  if (Array.isArray(said)) return said.length > 0;
  return Boolean(said);
}

/** The parameters see what was begun beside the names in scope. */
function verification(
  walk: Walk,
  strand: Strand,
  step: CommandStep,
  place: Place,
  { call }: Doubted,
): CommandEffect | FailureInfo {
  const about: JsonObject = { ...call };
  const inside: Strand = { ...strand, own: { call: about }, outer: [strand.own, ...strand.outer] };
  const reader = new Reader(namesAt(walk, inside, place.passes, place.path));
  const params = paramsOf(walk.input, step, reader);
  if (reader.fault) return { ...reader.fault, message: `${place.key}: ${reader.fault.message}`, retryable: false };
  return withRights(walk, {
    type: 'command',
    command: step.command,
    params,
    key: place.key,
    label: step.command,
    timeoutMs: timeoutOf(walk, step, strand),
    ...confinementOf(walk, strand, step),
    ...secretsOf(walk),
    ...reachOf(walk, step),
  });
}

function* askAbout(walk: Walk, strand: Strand, { doubt, label, place }: Doubted): Walking<Resolved> {
  const { failure, action } = doubt;
  const rule = ruleFor(walk.input.definition, 'unfamiliar');
  const priority = rule?.priority ?? 'normal';
  const message = `${label} may have been done: ${failure.message}`;
  if (rule?.action === 'abort') return { ending: { failure } };
  if (rule?.action === 'notify') {
    notify(walk, place.key, 'unfamiliar', priority, message);
    return { left: 'policy' };
  }
  const verdict = yield* ask(walk, strand, {
    id: `${place.key}:unknown`,
    key: place.key,
    kind: 'unfamiliar',
    message,
    choices: ['retry', 'skip', 'abort'],
    show: { failure: { code: failure.code, message: failure.message }, action },
    priority,
    remindAfterMs: rule?.remindAfterMs,
    about: { action },
  });
  if ('flow' in verdict) return { flow: verdict.flow };
  if ('expired' in verdict) return { left: 'policy' };
  const { choice, by, note } = verdict.answer;
  if (choice === 'retry') return { again: `${by} says so` };
  if (choice === 'abort') return { ending: { failure: aborted(place.key, verdict.answer, failure) } };
  return { left: { by, note } };
}
