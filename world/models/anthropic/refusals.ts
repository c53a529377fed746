/** What Anthropic's errors mean. They are told apart by `type` and `error_code`, never by their words. */
import { isJsonObject, type Json, type JsonObject } from '../../../language/json.ts';
import { explainStatus, refused, type Subject } from '../http/explain-status.ts';
import { textOf } from '../http/fields.ts';
import { type Refusal, retryAfterMs } from '../http/refusal.ts';
import type { Finding, TurnError } from '../port/turn-failure.ts';

const SPENT: ReadonlySet<string> = new Set([
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'linked_organization_spend_limit_reached',
  'linked_organization_billing_unavailable',
  'organization_on_hold',
]);

export function explainAnthropic(subject: Subject, refusal: Refusal): TurnError {
  const error = errorIn(refusal.body);
  if (error === null) return explainStatus(subject, refusal);
  const said = textOf(error['message']);
  const finding = findingOf(error, refusal, subject);
  return finding === null ? explainStatus(subject, refusal, said) : refused(subject, refusal, finding, said);
}

/** The object with `type` and `message`; in the stream it may stand alone. */
function errorIn(body: Json): JsonObject | null {
  if (!isJsonObject(body)) return null;
  const inner = body['error'];
  if (isJsonObject(inner)) return inner;
  return typeof body['type'] === 'string' && body['type'] !== 'error' ? body : null;
}

function findingOf(error: JsonObject, refusal: Refusal, subject: Subject): Finding | null {
  const details = error['details'];
  const code = isJsonObject(details) ? textOf(details['error_code']) : '';
  const wait = { retryAfterMs: retryAfterMs(refusal.headers, Date.now()) };
  if (SPENT.has(code)) return { kind: 'spend-limit', code };
  const said = textOf(error['message']);
  switch (textOf(error['type'])) {
    case 'rate_limit_error':
      return { kind: 'rate-limited', ...wait };
    case 'overloaded_error':
    case 'api_error':
    case 'timeout_error':
    case 'conflict_error':
      return { kind: 'overloaded', ...wait };
    case 'authentication_error':
    case 'permission_error':
      return { kind: 'auth', setting: subject.setting };
    case 'billing_error':
      return { kind: 'spend-limit', code: code === '' ? null : code };
    case 'not_found_error':
      return { kind: 'model-not-found', retired: false };
    case 'request_too_large':
      return { kind: 'context-too-long', tokens: null, window: null };
    case 'invalid_request_error':
      return tooLong(said) ?? { kind: 'bad-request', field: fieldIn(said) };
    default:
      return null;
  }
}

/** The one error whose numbers stand in its words alone. */
function tooLong(said: string): Finding | null {
  const found = /prompt is too long(?:: (\d+) tokens > (\d+) maximum)?/.exec(said);
  if (found === null) return null;
  const [, tokens, window] = found;
  return {
    kind: 'context-too-long',
    tokens: tokens === undefined ? null : Number(tokens),
    window: window === undefined ? null : Number(window),
  };
}

/** Messages begin with the path of what is wrong: `messages.1.content: …`. */
const fieldIn = (said: string): string | null => /^([\w.]+): /.exec(said)?.[1] ?? null;
