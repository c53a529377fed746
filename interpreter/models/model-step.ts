/**
 * A model step: turns, and the calls that each of them asks for, until the model has answered.
 *
 * - M1 A turn is one effect and each call is another, with keys of their own (`steps.2@1/turn.3`,
 *      `steps.2@1/turn.3/call.0`). A call is decided and performed like any command step.
 * - M2 The conversation is rows under the step's key. What the walk holds of it is the number of the
 *      turn, what the turn calls, and what it is told besides.
 * - M3 What waiting may cure is waited for, in the run's own time and within the step's.
 * - M4 Where the host has agent segments, turns and their calls follow one another in one, and what only
 *      the run can do (a question, a wait, a call that acts on other runs) hands the position back: turns are the same either way.
 * - M5 What the model got wrong goes back to it, a bounded number of times in a row.
 * - M6 Before each turn: has the step's `stopWhen` become true, does the model turn in circles?
 */
import type { LlmStep } from '../../language/model.ts';
import { isLookedAt } from '../../language/policy/judge-policy.ts';
import { NO_USAGE } from '../../language/models/token-usage.ts';
import { flowOf } from '../attempts.ts';
import { askBudget, beginSegment, settleSegment, spend } from '../budget.ts';
import { labelOf } from '../build-effect.ts';
import { turnKey } from './build-turn.ts';
import { wait, type Walking } from '../drive.ts';
import type { Flow, Halt, Place } from '../effect.ts';
import type { Strand } from '../host.ts';
import { runningMs } from '../limits.ts';
import { performCalls } from './model-calls.ts';
import { passGate, type AtModel } from './model-gate.ts';
import { stopsHere } from './model-stop.ts';
import { checkStuck } from './model-stuck.ts';
import { costHere, hearsMore, takeTurn } from './model-turn.ts';
import type { BlockFrame, ModelFrame } from '../position.ts';
import { finish } from '../results.ts';
import { waitInModel } from '../day-budget.ts';
import { takeRest } from '../waits.ts';
import { endTelling, sayTold } from './telling.ts';
import { askAboutHold } from './model-hold.ts';
import { record, type Walk } from '../walk-state.ts';

export function* walkModel(walk: Walk, strand: Strand, step: LlmStep, place: Place, frame: BlockFrame): Walking<Flow> {
  const label = labelOf(step);
  if (frame.step?.type !== 'model') {
    frame.step = firstFrame(walk, place);
    record(walk, { type: 'step-started', key: place.key, step: 'llm', label });
  }
  const open = frame.step;
  const halt = yield* converse({ walk, strand, step, place, open });
  if ('ending' in halt || (halt.flow.kind !== 'yield' && halt.flow.kind !== 'segment')) endTelling(walk, open.key);
  const usage = costHere(open);
  const cost = usage.tokens === 0 && usage.usd === 0 ? {} : { usage };
  if ('ending' in halt) {
    const decided = halt.skip === true ? { ...step, onError: 'skip' as const } : step;
    return finish(walk, strand, decided, place, open.startedAt, { ...halt.ending, ...cost }, label);
  }
  const { flow } = halt;
  if (flow.kind !== 'yield' && flow.kind !== 'segment')
    finish(walk, strand, step, place, open.startedAt, { cancelled: true, ...cost }, label);
  return flow;
}

function firstFrame(walk: Walk, { key }: Place): ModelFrame {
  return {
    type: 'model',
    key,
    startedAt: walk.host.now(),
    since: runningMs(walk),
    turn: 1,
    waits: 0,
    say: [],
    answers: [],
    mistakes: 0,
    made: [],
    repairs: 0,
    usage: NO_USAGE,
    usd: 0,
  };
}

/** Turns and calls from where the step stands, to its end or to where the host wants the position back. */
export function* converse(at: AtModel): Walking<Halt> {
  const { walk, strand, open } = at;
  // The gate before the step has just been passed.
  for (let isFirst = true; ; isFirst = false) {
    if (open.held !== undefined) {
      const halt = yield* askAboutHold(at, open.held);
      if (halt !== null) return halt;
      continue;
    }
    if (open.awaitsDay === true) {
      const gate = yield* waitInModel(walk, strand, at.place.key, open);
      if (gate !== 'go') return { flow: flowOf(gate) };
    }
    if (open.restsUntil !== undefined) {
      const gate = yield* takeRest(walk, strand, open.turn.toString(), Infinity, open);
      if (gate !== 'go') return { flow: flowOf(gate) };
    }
    if (!isFirst) {
      const halt = yield* passGate(at, open.calls === undefined ? 'turns' : 'calls');
      if (halt !== null) return halt;
    }
    const halt =
      open.calls === undefined
        ? (stopsHere(at) ?? (yield* checkStuck(at)) ?? (yield* takeTurns(at)))
        : yield* performCalls(at, open.calls);
    if (halt !== null) return halt;
  }
}

/** The next turn; where the host has agent segments, as many as one of them takes. */
function* takeTurns(at: AtModel): Walking<Halt | null> {
  const { walk, strand, step, place, open } = at;
  const { catalogue, limits } = walk.input;
  const isAsked = limits.policies !== undefined && isLookedAt(limits.policies, catalogue, step);
  if (isAsked || !walk.host.hasAgents()) return yield* takeTurn(at);
  const bounded = yield* askBudget(walk, strand);
  if (bounded) return { flow: bounded };
  const key = turnKey(place, open);
  const share = beginSegment(walk, strand, key);
  if (share === null) return null;
  sayTold(walk, open);
  const report = yield* wait(walk.host.agent(strand, { step, place, open, key }, share.budget));
  settleSegment(walk, key);
  walk.position.steps += report.steps;
  if (report.spent) spend(walk, report.spent);
  standAs(open, report.open);
  return isAnswer(report.halt) && hearsMore(at) ? null : report.halt;
}

/** The model has answered, and nothing else ended the step. */
function isAnswer(halt: Halt | null): boolean {
  if (halt === null || !('ending' in halt) || !('value' in halt.ending)) return false;
  return halt.ending.beside?.['stopReason'] !== 'stop-when';
}

function standAs(open: ModelFrame, after: ModelFrame): void {
  // What is over (a wait, calls) is absent there.
  for (const key of Object.keys(open)) if (!Object.hasOwn(after, key)) Reflect.deleteProperty(open, key);
  Object.assign(open, after);
}
