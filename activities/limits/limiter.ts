/**
 * What holds a provider or a tool back: its rate limit, and its circuit breaker. Both are kept in the database, for all
 * workers together. What is not limited costs nothing.
 *
 * - K1 A use over its limit fails with the time to wait, and the walk waits it out by a timer (interpreter/held-back.ts);
 *      a wait shorter than a segment is waited for here.
 * - K2 What has failed several times in a row without giving an answer is left alone for a rest; then one use finds
 *      out. A turn waits for that, a tool's call is refused (`CIRCUIT_OPEN`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Breaker, LimitStore, Passage, Rate } from '../../prisma/store/contract/models/limit-contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { TurnResult } from '../../world/models/port/turn.ts';
import type { FailureKind } from '../../world/models/port/turn-failure.ts';
import { defined } from '../../language/defined.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

export interface LimitSettings {
  providers: { readonly [name: string]: LooseRate };
  tools: { readonly [name: string]: LooseRate };
  breaker?: Breaker | undefined;
}
type LooseRate = { [Key in keyof Rate]: Rate[Key] | undefined };

/** Waited for on the spot. */
const shortMs = 200;

/** Nothing was answered: the provider, or the way to it, is at fault. */
const UNANSWERED: ReadonlySet<FailureKind> = new Set(['network', 'timeout', 'overloaded', 'process-died']);

/** What a tool fails with where what it stands on is at fault, and not what it was given. */
const INFRASTRUCTURE: ReadonlySet<string> = new Set([
  'ACTIVITY_FAILED',
  'MODEL_OVERLOADED',
  'MODEL_UNREACHABLE',
  'SANDBOX_NOT_AVAILABLE',
  'SHELL_NOT_STARTED',
  'STEP_TIMEOUT',
]);

export class Limiter {
  readonly #settings: LimitSettings;
  readonly #store: LimitStore;

  constructor(settings: LimitSettings, store: LimitStore) {
    this.#settings = settings;
    this.#store = store;
  }

  /** One use of a command. */
  tool<Result>(name: string, use: Use, work: () => Promise<Result>): Promise<Result> {
    const { tools, breaker } = this.#settings;
    const rate = Object.hasOwn(tools, name) ? tools[name] : undefined;
    return rate === undefined && breaker === undefined ? work() : this.#limited(name, rate, use, work);
  }

  async #limited<Result>(
    name: string,
    rate: LooseRate | undefined,
    use: Use,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const subject = `tool:${name}`;
    await this.#pass(subject, (of, rest) => toolAlone(name, of, rest));
    return this.#rated(rate === undefined ? null : { subject, name, rate, field: 'tools' }, use, async () => {
      try {
        const result = await work();
        await this.#settle(subject, null);
        return result;
      } catch (error) {
        const isAtFault = error instanceof Failure && INFRASTRUCTURE.has(error.code);
        if (error instanceof Failure) await this.#settle(subject, isAtFault ? error.message : null);
        throw error;
      }
    });
  }

  /** One request to a provider. */
  async provider(name: string, use: Use, send: () => Promise<TurnResult>): Promise<TurnResult> {
    const { providers, breaker } = this.#settings;
    const rate = Object.hasOwn(providers, name) ? providers[name] : undefined;
    if (rate === undefined && breaker === undefined) return send();
    const subject = `provider:${name}`;
    await this.#pass(subject, (of, rest) => providerAlone(name, of, rest));
    return this.#rated(rate === undefined ? null : { subject, name, rate, field: 'providers' }, use, async () => {
      const result = await send();
      await this.#settle(subject, !result.ok && UNANSWERED.has(result.failure.kind) ? result.failure.message : null);
      return result;
    });
  }

  async #rated<Result>(limited: Limited | null, use: Use, work: () => Promise<Result>): Promise<Result> {
    if (limited === null) return work();
    const { subject, rate } = limited;
    const permit = async (): Promise<string> => {
      const given = await this.#store.permit(subject, use.id, plain(rate), use.timeoutMs);
      if (given.ok) return given.id;
      if (given.waitMs > shortMs) throw heldBack(limited, given);
      await sleep(given.waitMs, undefined, { signal: use.signal });
      return permit();
    };
    const id = await permit();
    const [handle = '', key] = use.id.split(' ');
    crashPoint('limit.permitted', { handle, key });
    try {
      return await work();
    } finally {
      crashPoint('limit.used', { handle, key });
      if (rate.concurrent !== undefined) await this.#store.release(subject, id).catch(() => undefined);
    }
  }

  /** Throws what `refused` makes of it where the subject is left alone. */
  async #pass(subject: string, refused: (breaker: Breaker, rest: Rest) => Failure): Promise<void> {
    const { breaker } = this.#settings;
    if (breaker === undefined) return;
    const passage = await this.#store.pass(subject, breaker.restMs);
    if (!passage.ok) throw refused(breaker, passage);
  }

  async #settle(subject: string, finding: string | null): Promise<void> {
    const { breaker } = this.#settings;
    if (breaker !== undefined) await this.#store.settle(subject, breaker, finding);
  }
}

/** Of a circuit that is open. */
type Rest = Extract<Passage, { ok: false }>;

/** A use that was held back asks again under another key, and has its place. */
export const useOf = (handle: string, key: string): string => `${handle} ${key.replaceAll(/#\d+/g, '')}`;

/** Who asks, and for how long it may take. */
export interface Use {
  id: string;
  timeoutMs: number;
  signal: AbortSignal;
}

interface Limited {
  subject: string;
  name: string;
  rate: LooseRate;
  field: 'providers' | 'tools';
}

const plain = ({ perMinute, concurrent }: LooseRate): Rate => defined({ perMinute, concurrent });

function heldBack(
  { name, rate, field }: Limited,
  { waitMs, because }: { waitMs: number; because: keyof Rate },
): Failure {
  const limit = because === 'perMinute' ? `${rate.perMinute ?? ''} a minute` : `${rate.concurrent ?? ''} at once`;
  const message = `limit of ${limit} (limits.${field} of sentinel.config)`;
  return field === 'providers'
    ? new Failure('MODEL_RATE_LIMITED', message, { details: { provider: name, kind: 'limit', retryAfterMs: waitMs } })
    : new Failure('RATE_LIMITED', message, { details: { tool: name, retryAfterMs: waitMs } });
}

const providerAlone = (name: string, { failures }: Breaker, { finding, waitMs }: Rest): Failure =>
  new Failure('MODEL_UNREACHABLE', `${name} is left alone after ${failures} failures in a row, the last: ${finding}`, {
    details: { provider: name, kind: 'circuit-open', retryAfterMs: waitMs },
  });

const toolAlone = (name: string, { failures }: Breaker, { finding, waitMs }: Rest): Failure =>
  new Failure(
    'CIRCUIT_OPEN',
    `${name} has failed ${failures} times in a row and is left alone for ${Math.ceil(waitMs / 1000)} s; the last time: ${finding}`,
    { retryable: true, details: { tool: name, retryAfterMs: waitMs } },
  );
