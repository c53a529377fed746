/** Why a turn gave no reply: a closed union. Whether waiting may cure it is `isTransient`. */
import { ownMasker } from '../../own-keys/own-keys.ts';
import type { TokenUsage } from '../../../language/models/token-usage.ts';

interface Common {
  /** One sentence or two: place, finding, remedy. Holds no key. */
  message: string;
  provider: string;
  model: string;
  status?: number;
  requestId?: string;
  /** Estimated tokens of an answer that broke off: they are paid. */
  spent?: TokenUsage;
}

/** What can go wrong, without what all failures say. */
export type Finding =
  | { kind: 'rate-limited'; retryAfterMs: number | null }
  /** The provider cannot serve now: overload, maintenance, an error of its own. */
  | { kind: 'overloaded'; retryAfterMs: number | null }
  | { kind: 'network' }
  /** The server sends on to another one, which is given nothing. */
  | { kind: 'redirected' }
  | { kind: 'timeout'; phase: 'headers' | 'idle' | 'wall'; afterMs: number }
  /** The process that ran a local model died. */
  | { kind: 'process-died' }
  /** The stream ended without its last event. */
  | { kind: 'truncated-stream' }
  /** What came is no answer: HTML, broken JSON, calls announced and not given. */
  | { kind: 'malformed-answer' }
  | { kind: 'answer-too-large'; bytesMax: number }
  /** `setting` is the variable that holds the key. */
  | { kind: 'auth'; setting: string | null }
  /** A spend limit or a hold: waiting does not cure it. */
  | { kind: 'spend-limit'; code: string | null }
  | { kind: 'context-too-long'; tokens: number | null; window: number | null }
  | { kind: 'content-refused' }
  | { kind: 'bad-request'; field: string | null }
  | { kind: 'model-not-found'; retired: boolean }
  /** It is there later. */
  | { kind: 'layer-in-training'; layer: string; retryAfterMs: number }
  | { kind: 'unsupported'; what: 'images' | 'tools' | 'adapters' | 'schema' };

export type TurnFailure = Common & Finding;
export type FailureKind = TurnFailure['kind'];

const TRANSIENT: ReadonlySet<FailureKind> = new Set([
  'rate-limited',
  'overloaded',
  'network',
  'timeout',
  'process-died',
  'truncated-stream',
  'malformed-answer',
  'layer-in-training',
]);

/** True when the same request may succeed later. */
export const isTransient = ({ kind }: Pick<Finding, 'kind'>): boolean => TRANSIENT.has(kind);

/** A finding on its way to the edge of the port, which makes a `TurnFailure` of it. */
export class TurnError extends Error {
  readonly finding: Finding;
  readonly status: number | undefined;
  readonly requestId: string | undefined;

  constructor(finding: Finding, message: string, at: { status?: number; requestId?: string; cause?: unknown } = {}) {
    super(ownMasker().text(message), { cause: at.cause });
    this.name = 'TurnError';
    this.finding = finding;
    this.status = at.status;
    this.requestId = at.requestId;
  }
}
