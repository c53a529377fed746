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
import type { LlmStep } from '../language/model.ts';
import { flowOf } from './attempts.ts';
import { labelOf } from './build-effect.ts';
import type { Walking } from './drive.ts';
import type { Flow } from './effect.ts';
import type { Strand } from './host.ts';
import { runningMs } from './limits.ts';
import { performCalls } from './model-calls.ts';
import { passGate, type AtModel, type Halt } from './model-gate.ts';
import { costSoFar, takeTurn } from './model-turn.ts';
import type { BlockFrame, ModelFrame } from './position.ts';
import { finish } from './results.ts';
import { takeRest } from './waits.ts';
import { record, type Place, type Walk } from './walk-state.ts';

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

function* converse(at: AtModel): Walking<Halt> {
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
