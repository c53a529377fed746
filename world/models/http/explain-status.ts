/** What a status means at every provider, where its body says nothing more exact. */
import { TurnError, type Finding } from '../port/turn-failure.ts';
import { excerpt, type Refusal, retryAfterMs } from './refusal.ts';
import { defined } from '../../../language/defined.ts';

export interface Subject {
  /** Of the provider. */
  name: string;
  model: string;
  /** The variable that holds the key. */
  setting: string | null;
}

/** A sentence about a refusal: what the provider says, and what to do. */
export function refused(
  subject: Subject,
  { status, headers, text }: Refusal,
  finding: Finding,
  said?: string,
): TurnError {
  const requestId = headers.get('request-id') ?? headers.get('x-request-id') ?? undefined;
  const words = excerpt(said ?? text);
  const message = `${subject.name}/${subject.model}: ${whatItMeans(finding, subject)}${words === '' ? '' : ` (${words})`}`;
  return new TurnError(finding, message, { status, ...defined({ requestId }) });
}

export function explainStatus(subject: Subject, refusal: Refusal, said?: string): TurnError {
  return refused(subject, refusal, findingOf(refusal, subject), said);
}

function findingOf({ status, headers }: Refusal, { setting }: Subject): Finding {
  const wait = { retryAfterMs: retryAfterMs(headers, Date.now()) };
  if (status === 401 || status === 403) return { kind: 'auth', setting };
  if (status === 402) return { kind: 'spend-limit', code: null };
  if (status === 404) return { kind: 'model-not-found', retired: false };
  if (status === 413) return { kind: 'context-too-long', tokens: null, window: null };
  if (status === 429) return { kind: 'rate-limited', ...wait };
  if (status === 408 || status === 409 || status >= 500) return { kind: 'overloaded', ...wait };
  return { kind: 'bad-request', field: null };
}

function whatItMeans(finding: Finding, { model, setting }: Subject): string {
  switch (finding.kind) {
    case 'auth':
      return `the key is not accepted; set ${setting ?? 'its key'} to one that is`;
    case 'spend-limit':
      return 'the account has reached a limit of spending, which waiting does not cure; raise it, or choose another model';
    case 'model-not-found':
      return finding.retired
        ? `the provider has retired this model; choose another, or give "${model}" an entry in "models.aliases" of sentinel.config`
        : `there is no such model; see "sentinel models", or give "${model}" an entry in "models.aliases" of sentinel.config`;
    case 'rate-limited':
      return `too many requests${waits(finding.retryAfterMs)}`;
    case 'overloaded':
      return `the provider cannot serve now${waits(finding.retryAfterMs)}`;
    case 'context-too-long': {
      const { tokens, window } = finding;
      const numbers = tokens === null || window === null ? '' : `: ${tokens} tokens, and there is room for ${window}`;
      return `the conversation is too long${numbers}`;
    }
    case 'content-refused':
      return 'the provider refused what it was sent';
    case 'bad-request':
      return `the provider does not take the request${finding.field === null ? '' : `: "${finding.field}"`}`;
    case 'unsupported':
      return `the model takes no ${finding.what}; choose another`;
    case 'layer-in-training':
      return `${finding.layer} is still in training`;
    case 'answer-too-large':
    case 'malformed-answer':
    case 'network':
    case 'process-died':
    case 'redirected':
    case 'timeout':
    case 'truncated-stream':
      return 'the answer cannot be used';
    default:
      return finding satisfies never;
  }
}

const waits = (ms: number | null): string => (ms === null ? '' : `; it asks to wait ${Math.ceil(ms / 1000)} s`);
