/** What the errors of OpenAI-compatible servers mean: by code where there is one, else by their words. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { explainStatus, refused, type Subject } from '../http/explain-status.ts';
import { numberOf, textOf } from '../http/fields.ts';
import { type Refusal, retryAfterMs } from '../http/refusal.ts';
import type { Finding, TurnError } from '../port/turn-failure.ts';

export function explainOpenAi(subject: Subject, refusal: Refusal): TurnError {
  const error = errorIn(refusal.body);
  const said = error === null ? '' : textOf(error['message']);
  const finding = error === null ? null : findingOf(error, said, refusal, subject);
  if (finding !== null) return refused(subject, refusal, finding, said);
  // An error under a status of success: the server's own number, or a failure of the server.
  const own = Number(error?.['code'] ?? 0);
  const status = refusal.status < 400 ? (own >= 400 && own < 600 ? own : 500) : refusal.status;
  return explainStatus(subject, { ...refusal, status }, said === '' ? undefined : said);
}

function errorIn(body: Json): JsonObject | null {
  if (!isJsonObject(body)) return null;
  const inner = body['error'] ?? null;
  if (typeof inner === 'string') return { message: inner };
  if (isJsonObject(inner)) return inner;
  return 'message' in body ? body : null;
}

function findingOf(error: JsonObject, said: string, { headers, status }: Refusal, subject: Subject): Finding | null {
  const words = [textOf(error['code']), textOf(error['type'])];
  const has = (...names: string[]): boolean => names.some((name) => words.includes(name));
  const wait = { retryAfterMs: retryAfterMs(headers, Date.now()) };
  if (has('insufficient_quota', 'billing_hard_limit_reached', 'billing_not_active', 'account_deactivated'))
    return { kind: 'spend-limit', code: words[0] || null };
  const long = tooLong(error, said);
  if (long !== null && (status < 429 || status >= 500)) return long;
  if (has('rate_limit_exceeded', 'requests', 'tokens')) return { kind: 'rate-limited', ...wait };
  if (has('server_error', 'overloaded', 'overloaded_error', 'unavailable_error', 'service_unavailable'))
    return { kind: 'overloaded', ...wait };
  if (has('invalid_api_key', 'authentication_error')) return { kind: 'auth', setting: subject.setting };
  if (has('model_not_found')) return { kind: 'model-not-found', retired: false };
  if (has('content_policy_violation', 'content_filter')) return { kind: 'content-refused' };
  if (status === 404 && /model/i.test(said))
    return { kind: 'model-not-found', retired: /deprecat|retired/i.test(said) };
  if (status === 400 || status === 422) return { kind: 'bad-request', field: textOf(error['param']) || null };
  return null;
}

/** A server may say any amount, and says what is wrong at the beginning. */
const saidLengthMax = 4_000;

const TOO_LONG =
  /context[ _](?:length|size|window)|exceeds? the (?:available )?context|maximum (?:context|prompt) length|prompt is too long|too many (?:input )?tokens|input (?:is|length) .*(?:too long|exceed)/i;

function tooLong(error: JsonObject, said: string): Finding | null {
  const isNamed = [error['code'], error['type']].some(
    (word) => word === 'context_length_exceeded' || word === 'exceed_context_size_error',
  );
  const told = said.slice(0, saidLengthMax);
  if (!isNamed && !TOO_LONG.test(told)) return null;
  const window = /maximum (?:context|prompt) length (?:is|of) (\d+)/i.exec(told)?.[1];
  const tokens =
    /(?:resulted in|requested|contains at least|has) (\d+)(?: input| prompt)? tokens/i.exec(told)?.[1] ??
    /request \((\d+) tokens\)/i.exec(told)?.[1];
  return {
    kind: 'context-too-long',
    tokens: numberOf(error['n_prompt_tokens']) ?? (tokens === undefined ? null : Number(tokens)),
    window: numberOf(error['n_ctx']) ?? (window === undefined ? null : Number(window)),
  };
}
