/**
 * `stopWhen`: whether the turns of a model step end although the model has not said that it is done. It is read
 * after each turn that called something, when its calls have ended, and before the next turn.
 */
import { isTruthy, tryEvaluate } from '../../language/expression/evaluate.ts';
import { ownProperty, type ScopeReader } from '../../language/expression/scope.ts';
import type { JsonObject } from '../../language/json.ts';
import { replyValue } from '../../language/models/reply-value.ts';
import { unknownInCheck } from '../build-effect.ts';
import { failing, type AtModel } from './model-gate.ts';
import type { Halt } from '../effect.ts';
import { besideOf } from './model-turn.ts';
import { namesAt } from '../names.ts';

export function stopsHere(at: AtModel): Halt | null {
  const { step, place, open } = at;
  const { last } = open;
  if (step.stopWhen === undefined || last === undefined || open.finalFrom !== undefined || open.repairs > 0)
    return null;
  const beside = besideOf({ ...open, turn: open.turn - 1 }, { ...last, stopReason: 'stop-when' });
  const verdict = tryEvaluate(step.stopWhen, namesWith(at, beside));
  if (!verdict.ok) return failing('EXPRESSION_FAILED', `${place.path}.stopWhen: ${verdict.message}`);
  const unknown = unknownInCheck(at.walk, place.key, `${place.path}.stopWhen`, verdict.lost);
  if (unknown !== null) return { ending: { failure: unknown } };
  if (!isTruthy(verdict.value)) return null;
  if (step.schema === undefined) return { ending: { value: replyValue(last.text), beside } };
  open.finalFrom = open.turn;
  open.say = [...open.say, { prompt: 'answer-now', finding: 'what was to be done is done' }];
  return null;
}

/** The fields of the result, as they are so far, before the names of the step. */
function namesWith({ walk, strand, place }: AtModel, beside: JsonObject): ScopeReader {
  const names = namesAt(walk, strand, place.passes, place.path);
  const get: ScopeReader['get'] = (name) => ownProperty(beside, name) ?? names.get(name);
  return { ...names, get, has: (name) => get(name) !== undefined };
}
