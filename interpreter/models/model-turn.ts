/** One turn of a model step: what it is asked, what it used, and what its answer or its failure leads to. */
import type { StepUsage } from '../../language/events/run-event.ts';
import type { FailureInfo } from '../../language/failure.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { restMsMax } from '../../language/limits.ts';
import { textOf } from '../../language/expression/scope.ts';
import { flowOf } from '../attempts.ts';
import { settle } from '../budget.ts';
import { plusUsage, tokensOf, type TokenUsage } from '../../language/models/token-usage.ts';
import { defined } from '../../language/defined.ts';
import { DAY_SPENT } from '../day-budget.ts';
import { buildTurn, stepTimeLeft, turnsMax } from './build-turn.ts';
import { wait, type Walking } from '../drive.ts';
import type { Compacted, Reply, TurnOutcome, Usage, Halt } from '../effect.ts';
import { shieldOf } from '../host.ts';
import { failing, type AtModel } from './model-gate.ts';
import type { ModelFrame } from '../position.ts';
import { limitReached, runningMs } from '../limits.ts';
import { isAsked } from './model-hold.ts';
import { isTold, sayTold } from './telling.ts';
import { checkedAnswer } from './thinking-depth.ts';
import { takeRest } from '../waits.ts';
import { asksAboutTurn } from './turn-approval.ts';
import { passAction } from '../pass-action.ts';
import { record } from '../walk-state.ts';

export const repairsMax = 2;
const firstWaitMs = 2000;
const longestWaitMs = 5 * 60_000;

/** How often in a row a failure is waited for: what costs tokens each time, only a few times. */
const WAITED_FOR: ReadonlyMap<string, number> = new Map([
  ['MODEL_RATE_LIMITED', Infinity],
  ['MODEL_OVERLOADED', Infinity],
  ['MODEL_UNREACHABLE', Infinity],
  ['MODEL_LAYER_IN_TRAINING', Infinity],
  ['MODEL_ANSWER_BROKEN', 4],
]);

export function* takeTurn(at: AtModel): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  if (open.turn > turnsMax(step))
    return failing(
      'MODEL_TURNS_SPENT',
      `${place.key}: the model had not answered after ${turnsMax(step)} turns; raise maxTurns, or ask for less`,
    );
  sayTold(walk, open);
  const built = buildTurn(walk, strand, step, place, open);
  if ('failure' in built) return { ending: { failure: built.failure } };
  if (open.turn === 1 && open.waits === 0)
    for (const name of built.unresolved) {
      const message = `${place.key}: "${name}" has no value here`;
      record(walk, { type: 'warning', key: place.key, code: 'UNRESOLVED_REFERENCE', message });
    }
  const passing = yield* passAction(walk, strand, built.effect, asksAboutTurn(at));
  if ('flow' in passing) return passing;
  if ('failure' in passing)
    return { ending: { failure: passing.failure }, ...(passing.skip ? { skip: true as const } : {}) };
  const { allowed } = passing;
  const reply = yield* wait(walk.host.perform(strand, allowed));
  const used = usedIn(reply);
  settle(walk, allowed.effect.key, used === null ? reply : { ...reply, usage: priceSpent(used) });
  if (used !== null) count(at, used);
  if (!reply.ok) return 'cancelled' in reply ? { flow: { kind: 'cancelled' } } : yield* afterFailure(at, reply.failure);
  const given = reply.value as unknown as TurnOutcome;
  if (given.compacted !== undefined) return afterCompaction(at, given.compacted);
  const outcome = built.effect.settings.isFinal === true ? withoutCalls(given) : given;
  open.waits = 0;
  warnOfCalls(at, outcome);
  return afterAnswer(at, outcome);
}

/** A turn that is to answer makes no call, whoever brings its answer. */
function withoutCalls(outcome: TurnOutcome): TurnOutcome {
  if (outcome.calls.length === 0) return outcome;
  const barred = [...new Set(outcome.calls.map(({ name }) => name))];
  return { ...outcome, calls: [], stopReason: 'end', text: outcome.text ?? '', barred };
}

type Used = Pick<TurnOutcome, 'usage' | 'isMiscounted' | 'usd' | 'model'>;

/** What a turn used, answered or not: tokens of an answer that broke off are paid. */
function usedIn(reply: Reply): Used | null {
  if (reply.ok) return reply.value as unknown as TurnOutcome;
  const details = 'failure' in reply ? reply.failure.details : undefined;
  const spent = details?.['spent'];
  const usage = isJsonObject(spent) ? spent['usage'] : undefined;
  if (!isJsonObject(spent) || !isJsonObject(usage)) return null;
  const usd = spent['usd'];
  const { provider = '', model: id = '' } = details ?? {};
  const model = `${textOf(provider)}/${textOf(id)}`;
  return { usage: usage as unknown as TokenUsage, usd: typeof usd === 'number' ? usd : null, model };
}

const priceSpent = ({ usage, usd }: Used): Partial<Usage> => ({ tokens: tokensOf(usage), usd: usd ?? 0 });

export function costSoFar({ usage, usd, isUnpriced }: ModelFrame): StepUsage {
  return { tokens: tokensOf(usage), usd, ...defined({ isUnpriced }) };
}

/** What the step used in this run. */
export function costHere(open: ModelFrame): StepUsage {
  const { tokens, usd, ...rest } = costSoFar(open);
  const { earlier = { tokens: 0, usd: 0 } } = open;
  return { tokens: tokens - earlier.tokens, usd: usd - earlier.usd, ...rest };
}

function count(at: AtModel, { usage, isMiscounted, usd, model }: Used): void {
  const { open } = at;
  if (isMiscounted === true) warnOfCount(at, model);
  if (usd === null && tokensOf(usage) > 0) countUnpriced(at, model);
  open.usage = plusUsage(open.usage, usage);
  open.usd += usd ?? 0;
}

/** Calls that nobody performs. */
function warnOfCalls({ walk, place, open }: AtModel, { model, barred, unread }: TurnOutcome): void {
  const key = place.key;
  const warn = (code: string, finding: string): void =>
    record(walk, { type: 'warning', key, code, message: `${key}/turn.${open.turn}: ${model} ${finding}` });
  if (barred !== undefined)
    warn('MODEL_CALLS_WRONG', `called ${barred.join(', ')} in a turn without calls, and nothing was done`);
  if (unread !== undefined)
    warn(
      'MODEL_CALL_AS_TEXT',
      `wrote a call of ${unread.join(', ')} as text, and nothing was done; set "parseToolCalls" on the step to have it read, or have the model's server read it`,
    );
}

/** The same turn is asked for again, with the conversation as it is shown now. */
function afterCompaction({ walk, place, open }: AtModel, compacted: Compacted): null {
  const { number, ...rest } = compacted;
  open.compaction = { turn: open.turn, number };
  record(walk, { type: 'compacted', key: `${place.key}/turn.${open.turn}`, ...rest });
  return null;
}

/** Once for a step: the provider goes on as it began. */
function warnOfCount({ walk, place, open }: AtModel, model: string): void {
  if (open.isMiscounted !== true)
    record(walk, {
      type: 'warning',
      key: place.key,
      code: 'MODEL_USAGE_UNUSABLE',
      message: `${place.key}: the tokens that ${model} says it used are no count, so they are estimated from what it was sent and what it answered`,
    });
  open.isMiscounted = true;
}

/** A budget in money does not see what has no price. */
function countUnpriced({ walk, place, open }: AtModel, model: string): void {
  const isBounded = walk.input.limits.budget?.usd !== undefined;
  if (isBounded && open.isUnpriced === undefined)
    record(walk, {
      type: 'warning',
      key: place.key,
      code: 'MODEL_PRICE_UNKNOWN',
      message: `${place.key}: nobody knows the price of ${model}, so its tokens count as nothing in the budget of US dollars; give it a price in "models.prices" of sentinel.config, or bound tokens`,
    });
  open.isUnpriced = true;
}

/** Waits where waiting may help; the pause is the provider's where it asks for one. */
function* afterFailure(at: AtModel, failure: FailureInfo): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  if (shieldOf(strand) === null && limitReached(walk) !== null) {
    // The run's time cut it short: the gate says what comes of that.
    open.waits += 1;
    return null;
  }
  if (isAsked(at, failure)) {
    open.held = { failure, since: runningMs(walk) };
    return null;
  }
  if (failure.code === DAY_SPENT) {
    open.awaitsDay = true;
    open.waits += 1;
    return null;
  }
  if (open.waits >= (WAITED_FOR.get(failure.code) ?? 0)) return { ending: { failure } };
  const asked = failure.details?.['retryAfterMs'];
  const usual = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(open.waits, 20));
  const ms = typeof asked === 'number' ? Math.min(Math.max(asked, 1000), restMsMax) : usual;
  const left = stepTimeLeft(walk, strand, step, open);
  const until = walk.host.now() + ms;
  const moment = new Date(until).toISOString();
  const whom = awaitedIn(failure);
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
    waitsFor: whom,
  });
  open.waits += 1;
  const gate = yield* takeRest(walk, strand, `${place.key} waiting for ${whom}:`, ms, open);
  return gate === 'go' ? null : { flow: flowOf(gate) };
}

function awaitedIn({ details }: FailureInfo): string {
  const { layer, provider } = details ?? {};
  if (typeof layer === 'string') return layer;
  return typeof provider === 'string' && provider !== '' ? provider : 'a model';
}

/** What somebody told the model meanwhile is worth one more turn, where the step has any left. */
export function hearsMore({ walk, step, open }: AtModel): boolean {
  if (!isTold(walk.position, open.key) || open.turn >= turnsMax(step)) return false;
  open.turn += 1;
  return true;
}

function afterAnswer(at: AtModel, outcome: TurnOutcome): Halt | null {
  const { step, place, open } = at;
  open.say = [];
  open.answers = [];
  if (outcome.calls.length > 0) {
    if (step.stopWhen !== undefined) open.last = lastOf(outcome);
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
    case 'max-tokens':
      if ((outcome.text ?? '').trim() !== '') break;
      return failing(
        'MODEL_ANSWER_BROKEN',
        `${place.key}: the answer of ${outcome.model} was cut before it said anything, or in a call; raise maxTokens, or ask for less`,
        true,
      );
    default:
      break;
  }
  if (outcome.barred !== undefined && outcome.fault === undefined && (outcome.text ?? '').trim() === '')
    return failing(
      open.turn >= turnsMax(step) ? 'MODEL_TURNS_SPENT' : 'MODEL_ANSWER_BROKEN',
      `${place.key}: ${outcome.model} called ${outcome.barred.join(', ')} in a turn in which it was to answer, and said nothing; raise maxTurns, or choose another model`,
    );
  const answer = checkedAnswer(step, open, outcome, turnsMax(step));
  if (answer === null) {
    open.turn += 1;
    return null;
  }
  if (answer.fault === undefined)
    return hearsMore(at) ? null : { ending: { value: answer.value ?? '', beside: besideOf(open, answer) } };
  if (open.repairs >= repairsMax)
    return failing(
      'MODEL_ANSWER_INVALID',
      `${place.key}: the answer of ${outcome.model} does not fit the schema after ${repairsMax} repairs: ${answer.fault}`,
    );
  open.repairs += 1;
  open.turn += 1;
  open.say = [{ prompt: 'repair', fault: answer.fault }];
  return null;
}

const lastOf = ({ text = '', model, reason }: TurnOutcome): NonNullable<ModelFrame['last']> => ({
  text,
  model,
  ...defined({ reason }),
});

/** Fields of the result beside the reply. */
export function besideOf(
  open: ModelFrame,
  { text = '', stopReason, model, reason }: Pick<TurnOutcome, 'text' | 'stopReason' | 'model' | 'reason'>,
): JsonObject {
  return {
    text,
    stopReason,
    model,
    ...defined({ modelReason: reason }),
    turns: open.turn,
    toolCalls: open.made.map((call): Json => ({ ...call })),
    usage: { ...open.usage, ...costSoFar(open) },
  };
}
