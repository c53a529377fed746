/**
 * A call whose worker was lost before anybody knew what came of it. It may have been done, so nothing does
 * it again without a word: what becomes of it is the step's policy (`onUnknown`), and a call that is made
 * once more is a warning of the run.
 *
 * What only reads is read again. Where a command is named that knows, it is asked; where it does not know
 * either, or none is, the persona is.
 */
import type { FailureInfo } from '../../language/failure.ts';
import type { Json, JsonObject } from '../../language/json.ts';
import { isJsonObject } from '../../language/json.ts';
import type { CommandStep, Verification } from '../../language/model.ts';
import { previewOf } from '../../language/events/preview.ts';
import { permissionOfCommand } from '../../language/permissions.ts';
import { act, endingOf } from '../action-step.ts';
import { confinementOf, secretsOf, withRights } from '../build-effect.ts';
import type { Walking } from '../drive.ts';
import type { CommandEffect, Halt, Place } from '../effect.ts';
import { aborted, notify } from '../escalation.ts';
import type { Strand } from '../host.ts';
import { timeoutOf } from '../limits.ts';
import type { AtModel } from './model-gate.ts';
import { reachOf } from '../reach.ts';
import { namesAt, paramsOf, Reader } from '../names.ts';
import type { CallFrame, Doubt } from '../position.ts';
import { ruleFor } from '../program.ts';
import { ask } from '../questions.ts';
import { finish } from '../results.ts';
import { record } from '../walk-state.ts';

/** A call that takes its workers with it is not begun for ever: after so many times the persona is asked. */
const triesMax = 3;

export const isDoubt = ({ code }: FailureInfo): boolean => code === 'CALL_OUTCOME_UNKNOWN';

/** `again`: why it is called once more. `answer`: what the model is told. */
export type Resolved = { again: string } | { answer: string; ok: boolean } | Halt;

export interface Doubted {
  call: CallFrame;
  doubt: Doubt;
  called: CommandStep;
  place: Place;
}

export function* resolveDoubt(at: AtModel, doubted: Doubted): Walking<Resolved> {
  const { walk, step } = at;
  const { call } = doubted;
  const { onUnknown = 'ask' } = step;
  const mayRepeat = (call.tries ?? 1) < triesMax;
  if (permissionOfCommand(walk.input.catalogue, call.name, call.input) === 'read')
    return mayRepeat ? { again: 'it only reads' } : skipped(`Its worker was lost ${triesMax} times`);
  if (onUnknown === 'skip') return skipped();
  if (onUnknown === 'retry' && mayRepeat) return { again: 'the step says so (onUnknown)' };
  if (typeof onUnknown === 'object' && mayRepeat) {
    const verified = yield* verify(at, doubted, onUnknown);
    if (verified !== null) return verified;
  }
  return yield* askAbout(at, doubted);
}

function skipped(why?: string): Resolved {
  const more = why === undefined ? '' : ` ${why}.`;
  return {
    answer: `It is not known whether this call was done: the worker that ran it was lost. It was not made again.${more}`,
    ok: false,
  };
}

/** Null where the command does not know. */
function* verify(at: AtModel, doubted: Doubted, how: Verification): Walking<Resolved | null> {
  const { walk, strand } = at;
  const { place, doubt } = doubted;
  const own: Place = { ...place, path: `${place.path}/verify`, key: `${place.key}/verify` };
  const step: CommandStep = { type: 'command', command: how.verify, ...(how.params ? { params: how.params } : {}) };
  const built = verification(at, step, own, doubted);
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
  return {
    answer: `This call was done, and its result is lost with the worker that ran it. ${how.verify} says so${said}`,
    ok: true,
  };
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

/** The parameters see the call beside the names in scope. */
function verification(
  at: AtModel,
  step: CommandStep,
  place: Place,
  { call, doubt }: Doubted,
): CommandEffect | FailureInfo {
  const { walk, strand } = at;
  const { command = call.name, params: input = call.input } = doubt.action;
  const about: JsonObject = { name: command, input };
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
    ...confinementOf(walk, step),
    ...secretsOf(walk),
    ...reachOf(walk, step),
  });
}

function* askAbout({ walk, strand }: AtModel, { doubt, called, place }: Doubted): Walking<Resolved> {
  const { failure, action } = doubt;
  const rule = ruleFor(walk.input.definition, 'unfamiliar');
  const priority = rule?.priority ?? 'normal';
  const message = `${called.command} may have been done: ${failure.message}`;
  if (rule?.action === 'abort') return { ending: { failure } };
  if (rule?.action === 'notify') {
    notify(walk, place.key, 'unfamiliar', priority, message);
    return skipped();
  }
  const verdict = yield* ask(walk, strand, {
    id: `${place.key}:unknown`,
    key: place.key,
    kind: 'unfamiliar',
    message,
    choices: ['retry', 'skip', 'abort'],
    show: { failure: { code: failure.code, message: failure.message }, action },
    priority,
    about: { action },
  });
  if ('flow' in verdict) return { flow: verdict.flow };
  if ('expired' in verdict) return skipped();
  const { choice, by, note } = verdict.answer;
  if (choice === 'retry') return { again: `${by} says so` };
  if (choice === 'abort') return { ending: { failure: aborted(place.key, verdict.answer, failure) } };
  return skipped(note === null ? undefined : `${by} says: ${note}`);
}
