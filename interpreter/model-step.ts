/**
 * A model step: turns, and the calls that each of them asks for, until the model has answered.
 *
 * - M1 A turn is one effect and each call is another, with keys of their own (`steps.2@1/turn.3`,
 *      `steps.2@1/turn.3/call.0`). A call is decided and performed like any command step.
 * - M2 The conversation is rows under the step's key. What the walk holds of it is the number of the
 *      turn, what the turn calls, and what it is told besides.
 * - M3 What waiting may cure is waited for, in the run's own time and within the step's.
 * - M4 What the model got wrong goes back to it, a bounded number of times in a row.
 */
import { isAbort, type FailureInfo } from '../language/failure.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { CommandStep, LlmStep } from '../language/model.ts';
import { act, endingOf } from './action-step.ts';
import { actionAsked } from './approval.ts';
import { flowOf } from './attempts.ts';
import { askBudget, begin, priceOf, settle } from './budget.ts';
import { labelOf } from './build-effect.ts';
import { buildTurn, callEffect, misuseOf, stepTimeLeft, turnsMax } from './build-turn.ts';
import { wait, type Walking } from './drive.ts';
import type { Flow, Reply, TurnOutcome, TurnUsage, Usage } from './effect.ts';
import { isCancelled, shieldOf, type Strand } from './host.ts';
import { holdAtLimit, limitReached, runningMs, timeoutOf } from './limits.ts';
import type { BlockFrame, CallFrame, ModelFrame } from './position.ts';
import { finish } from './results.ts';
import { takeRest } from './waits.ts';
import { record, type Ending, type Place, type Walk } from './walk-state.ts';

/** Turns in a row with a wrong call, after which the step fails. */
const mistakesMax = 3;
const repairsMax = 2;
const callsKeptMax = 100;
const inputKeptLengthMax = 500;
const firstWaitMs = 2000;
const longestWaitMs = 5 * 60_000;

/** How often in a row a failure is waited for: what costs tokens each time, only a few times. */
const WAITED_FOR: ReadonlyMap<string, number> = new Map([
  ['MODEL_RATE_LIMITED', Infinity],
  ['MODEL_OVERLOADED', Infinity],
  ['MODEL_UNREACHABLE', Infinity],
  ['MODEL_ANSWER_BROKEN', 4],
]);

/** Failures of a command that are the caller's mistake. */
const MISTAKES: ReadonlySet<string> = new Set(['COMMAND_PARAMS_INVALID', 'UNKNOWN_COMMAND', 'COMMAND_NOT_BUILT']);

interface At {
  walk: Walk;
  strand: Strand;
  step: LlmStep;
  place: Place;
  open: ModelFrame;
}

/** Null: go on. */
type Halt = { flow: Flow } | { ending: Ending };

export function* walkModel(walk: Walk, strand: Strand, step: LlmStep, place: Place, frame: BlockFrame): Walking<Flow> {
  const label = labelOf(step);
  if (frame.step?.type !== 'model') {
    frame.step = firstFrame(walk);
    record(walk, { type: 'step-started', key: place.key, step: 'llm', label });
  }
  const open = frame.step;
  const halt = yield* converse({ walk, strand, step, place, open });
  const usage = costSoFar(open);
  const cost = usage.tokens === 0 && usage.usd === 0 ? {} : { usage };
  if ('ending' in halt) return finish(walk, strand, step, place, open.startedAt, { ...halt.ending, ...cost }, label);
  const { flow } = halt;
  if (flow.kind !== 'yield' && flow.kind !== 'segment')
    finish(walk, strand, step, place, open.startedAt, { cancelled: true, ...cost }, label);
  return flow;
}

function firstFrame(walk: Walk): ModelFrame {
  return {
    type: 'model',
    startedAt: walk.host.now(),
    since: runningMs(walk),
    turn: 1,
    waits: 0,
    say: [],
    answers: [],
    mistakes: 0,
    made: [],
    repairs: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false },
    usd: 0,
  };
}

function* converse(at: At): Walking<Halt> {
  const { walk, strand, open } = at;
  // The gate before the step has just been passed.
  for (let isFirst = true; ; isFirst = false) {
    if (!isFirst) {
      const halt = yield* passGate(at);
      if (halt !== null) return halt;
    }
    if (open.restsUntil !== undefined) {
      const gate = yield* takeRest(walk, strand, open.turn.toString(), Infinity, open);
      if (gate !== 'go') return { flow: flowOf(gate) };
    }
    const halt = open.calls === undefined ? yield* takeTurn(at) : yield* performCalls(at, open.calls);
    if (halt !== null) return halt;
  }
}

/** Between two things that the step does: is the run held, stopped, cancelled, over a limit, or about to continue as new? */
function* passGate({ walk, strand, step, place, open }: At): Walking<Halt | null> {
  if (isCancelled(strand)) return { flow: { kind: 'cancelled' } };
  const reached = (): ReturnType<typeof limitReached> => (shieldOf(strand) === null ? limitReached(walk) : null);
  for (let limit = reached(); limit !== null; limit = reached()) {
    const flow = yield* holdAtLimit(walk, limit);
    if (flow) return { flow };
  }
  const asked = walk.host.gate(strand, place.key, step, true);
  const gate = typeof asked === 'string' ? asked : yield* wait(asked);
  if (gate !== 'go') return { flow: flowOf(gate) };
  if (isCancelled(strand)) return { flow: { kind: 'cancelled' } };
  return stepTimeLeft(walk, strand, step, open) > 0
    ? null
    : failing(
        'STEP_TIMEOUT',
        `${place.key}: the model had not answered within the step's time; raise timeoutMs, or ask for less`,
        true,
      );
}

function* takeTurn(at: At): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  if (open.turn > turnsMax(step))
    return failing(
      'MODEL_TURNS_SPENT',
      `${place.key}: the model had not answered after ${turnsMax(step)} turns; raise maxTurns, or ask for less`,
    );
  const built = buildTurn(walk, strand, step, place, open);
  if ('failure' in built) return { ending: { failure: built.failure } };
  if (open.turn === 1 && open.waits === 0)
    for (const name of built.unresolved) {
      const message = `${place.key}: "${name}" has no value here`;
      record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
    }
  const bounded = yield* askBudget(walk, strand, priceOf(built.effect));
  if (bounded) return { flow: bounded };
  const effect = begin(walk, strand, built.effect);
  const reply = yield* wait(walk.host.perform(strand, effect));
  settle(walk, effect.key, { ...reply, usage: usageIn(reply) });
  if (!reply.ok) return 'cancelled' in reply ? { flow: { kind: 'cancelled' } } : yield* afterFailure(at, reply.failure);
  const outcome = reply.value as unknown as TurnOutcome;
  count(open, outcome);
  return afterAnswer(at, outcome);
}

/** What a turn used, answered or not: tokens of an answer that broke off are paid. */
function usageIn(reply: Reply): Partial<Usage> {
  if (reply.ok) {
    const { usage, usd } = reply.value as unknown as TurnOutcome;
    return { tokens: tokensOf(usage), usd: usd ?? 0 };
  }
  const spent = 'failure' in reply ? reply.failure.details?.['spent'] : undefined;
  if (!isJsonObject(spent)) return reply.usage ?? {};
  const { tokens, usd } = spent;
  return { tokens: typeof tokens === 'number' ? tokens : 0, usd: typeof usd === 'number' ? usd : 0 };
}

const tokensOf = ({ input, output, cacheRead, cacheWrite }: TurnUsage): number =>
  input + output + cacheRead + cacheWrite;

function costSoFar({ usage, usd }: ModelFrame): { tokens: number; usd: number } {
  return { tokens: tokensOf(usage), usd };
}

function count(open: ModelFrame, { usage, usd }: TurnOutcome): void {
  const before = open.usage;
  open.usage = {
    input: before.input + usage.input,
    output: before.output + usage.output,
    cacheRead: before.cacheRead + usage.cacheRead,
    cacheWrite: before.cacheWrite + usage.cacheWrite,
    thinking: before.thinking + usage.thinking,
    estimated: before.estimated || usage.estimated,
  };
  open.usd += usd ?? 0;
  open.waits = 0;
}

/** Waits where waiting may help; the pause is the provider's where it asks for one. */
function* afterFailure(at: At, failure: FailureInfo): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  if (open.waits >= (WAITED_FOR.get(failure.code) ?? 0)) return { ending: { failure } };
  const asked = failure.details?.['retryAfterMs'];
  const usual = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(open.waits, 20));
  const ms = typeof asked === 'number' ? Math.max(asked, 1000) : usual;
  const left = stepTimeLeft(walk, strand, step, open);
  const until = walk.host.now() + ms;
  const moment = new Date(until).toISOString();
  const provider = failure.details?.['provider'];
  const whom = typeof provider === 'string' ? provider : 'the model';
  if (ms >= left)
    return {
      ending: {
        failure: {
          ...failure,
          message: `${failure.message} (${whom} would be waited for until ${moment}, and the step's time ends before; raise timeoutMs)`,
        },
      },
    };
  record(walk, {
    type: 'warning',
    key: place.key,
    code: failure.code,
    message: `${place.key} is waiting for ${whom} until ${moment}: ${failure.message}`,
    until,
  });
  open.waits += 1;
  const gate = yield* takeRest(walk, strand, `${place.key} waiting for ${whom}:`, ms, open);
  return gate === 'go' ? null : { flow: flowOf(gate) };
}

function afterAnswer({ place, open }: At, outcome: TurnOutcome): Halt | null {
  open.say = [];
  open.answers = [];
  if (outcome.calls.length > 0) {
    open.calls = outcome.calls.map((call) => ({ ...call, block: { at: 0 } }));
    return null;
  }
  switch (outcome.stopReason) {
    case 'refusal':
      return failing(
        'MODEL_CONTENT_REFUSED',
        `${place.key}: ${outcome.model} declined to answer; word the prompt differently`,
      );
    case 'window-full':
      return failing(
        'MODEL_CONTEXT_TOO_LONG',
        `${place.key}: the conversation filled the window of ${outcome.model}; ask for less, or choose a model with a larger window`,
      );
    case 'pause':
      open.turn += 1;
      return null;
    default:
      break;
  }
  if (outcome.fault === undefined) return { ending: { value: outcome.value ?? '', beside: besideOf(open, outcome) } };
  if (open.repairs >= repairsMax)
    return failing(
      'MODEL_ANSWER_INVALID',
      `${place.key}: the answer of ${outcome.model} does not fit the schema after ${repairsMax} repairs: ${outcome.fault}`,
    );
  open.repairs += 1;
  open.turn += 1;
  open.say = [{ prompt: 'repair', fault: outcome.fault }];
  return null;
}

/** Fields of the result beside the reply. */
function besideOf(open: ModelFrame, { text = '', stopReason, model, reason }: TurnOutcome): JsonObject {
  return {
    text,
    stopReason,
    model,
    ...(reason === undefined ? {} : { modelReason: reason }),
    turns: open.turn,
    toolCalls: open.made.map((call): Json => ({ ...call })),
    usage: { ...open.usage, ...costSoFar(open) },
  };
}

function* performCalls(at: At, calls: readonly CallFrame[]): Walking<Halt | null> {
  const { place, open } = at;
  for (const [index, call] of calls.entries()) {
    if (call.block.at > 0) continue;
    if (index > 0) {
      const halt = yield* passGate(at);
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

function* performCall(at: At, call: CallFrame, index: number): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  const { id, name, input } = call;
  const misuse = misuseOf(walk, step, call);
  if (misuse !== null) return mistaken(at, call, index, misuse);
  const own = `turn.${open.turn}/call.${index}`;
  const called: CommandStep = { type: 'command', command: name, params: input };
  const here: Place = { path: `${place.path}/${own}`, passes: place.passes, key: `${place.key}/${own}` };
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
  note(open, call, !('failure' in ending));
  return null;
}

function mistaken({ walk, place, open }: At, call: CallFrame, index: number, misuse: string): null {
  record(walk, {
    type: 'warning',
    key: place.key,
    code: 'MODEL_CALLS_WRONG',
    message: `${place.key}/turn.${open.turn}/call.${index}: ${misuse}`,
  });
  open.isMistaken = true;
  open.answers.push({ call: index, id: call.id, text: misuse });
  note(open, call, false);
  return null;
}

function note(open: ModelFrame, { name, input }: CallFrame, ok: boolean): void {
  const isShort = JSON.stringify(input).length <= inputKeptLengthMax;
  open.made = [...open.made, { name, ...(isShort ? { input } : {}), ok }].slice(-callsKeptMax);
}

function failing(code: string, message: string, retryable = false): Halt {
  return { ending: { failure: { code, message, retryable } } };
}
