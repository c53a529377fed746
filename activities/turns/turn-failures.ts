/** From what went wrong at a provider to the failure of a step. */
import type { JsonObject } from '../../language/json.ts';
import type { FailureCode } from '../../language/failure.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { FailureKind, TurnFailure } from '../../world/models/port/turn-failure.ts';
import type { Prices } from '../../world/models/records/facts.ts';
import { spentIn } from './spending.ts';

const findingLengthMax = 500;

const CODES: Record<FailureKind, FailureCode> = {
  'rate-limited': 'MODEL_RATE_LIMITED',
  overloaded: 'MODEL_OVERLOADED',
  network: 'MODEL_UNREACHABLE',
  redirected: 'MODEL_REDIRECTED',
  timeout: 'MODEL_UNREACHABLE',
  'process-died': 'MODEL_UNREACHABLE',
  'truncated-stream': 'MODEL_ANSWER_BROKEN',
  'malformed-answer': 'MODEL_ANSWER_BROKEN',
  'answer-too-large': 'MODEL_ANSWER_TOO_LARGE',
  auth: 'MODEL_NOT_ALLOWED',
  'spend-limit': 'MODEL_SPEND_LIMIT',
  'context-too-long': 'MODEL_CONTEXT_TOO_LONG',
  'content-refused': 'MODEL_CONTENT_REFUSED',
  'bad-request': 'MODEL_REQUEST_REFUSED',
  'model-not-found': 'MODEL_NOT_FOUND',
  unsupported: 'MODEL_UNSUPPORTED',
  'layer-in-training': 'MODEL_LAYER_IN_TRAINING',
};

/** An answer that was paid for, and that something of ours cannot take. */
export function unusableAnswer(error: unknown, details: JsonObject): Failure {
  const finding = (error instanceof Error ? error.message : String(error)).slice(0, findingLengthMax);
  const message = `the answer cannot be used (${finding}); try again, or choose another model`;
  return new Failure('MODEL_ANSWER_BROKEN', message, { details, cause: error });
}

/** `details.retryAfterMs`: how long the provider asks to wait; `details.spent`: what the attempt cost, with `usd` null where nobody knows the price. */
export function turnFailure(failure: TurnFailure, prices: Prices | null): Failure {
  const { kind, message, provider, model, status, requestId, spent } = failure;
  const details: JsonObject = { kind, provider, model };
  if (status !== undefined) details['status'] = status;
  if (requestId !== undefined) details['requestId'] = requestId;
  if ('retryAfterMs' in failure && failure.retryAfterMs !== null) details['retryAfterMs'] = failure.retryAfterMs;
  if ('layer' in failure) details['layer'] = failure.layer;
  if (spent !== undefined) details['spent'] = spentIn(spent, prices);
  return new Failure(CODES[kind], message, { details });
}
