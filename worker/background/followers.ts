/**
 * Performs the commands that follow events. Each follower has one place in the order of events, whichever worker is at
 * it, and what its command writes is committed with the new place: each event is followed once, in order. A command
 * that fails is tried again at the same event, ever more rarely; nothing is left out, and `doctor` says so.
 */
import { FOLLOWERS_HANDLE } from '../../operations/caller.ts';
import type { RunPort } from '../../operations/command.ts';
import { quickContext } from '../../operations/quick-context.ts';
import type { Registry } from '../../operations/registry.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import type { FollowedNext, Follower } from '../../prisma/store/contract/system-contract.ts';
import { BackgroundLoop } from './background-loop.ts';

const outageMs = 1_000;
/** What rests after a failure is looked for again; of new events it hears. */
const lookMs = 1_000;
const callMs = 5_000;

export interface FollowedEvent extends Follower {
  /** What is performed for each. */
  command: string;
}

export interface FollowingParts {
  store: Store;
  registry: Registry;
  runs: RunPort;
  /** Of the worker. */
  project: string;
  followers: readonly FollowedEvent[];
  say: (text: string) => void;
}

export class Followers {
  readonly #parts: FollowingParts;
  readonly #subscription: Subscription;
  readonly #loop: BackgroundLoop;

  private constructor(parts: FollowingParts) {
    this.#parts = parts;
    this.#subscription = parts.store.signals.listen();
    this.#loop = new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: outageMs });
  }

  /** From here on they hear; null where there are none. */
  static async open(parts: FollowingParts): Promise<Followers | null> {
    if (parts.followers.length === 0) return null;
    for (const follower of parts.followers) await parts.store.systems.openFollower(follower);
    return new Followers(parts);
  }

  async close(): Promise<void> {
    await this.#loop.close();
    this.#subscription.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    let isBusy = false;
    for (const follower of this.#parts.followers) {
      if (signal.aborted) return;
      isBusy = (await this.#follow(follower)) || isBusy;
    }
    if (!isBusy) await this.#subscription.next(AbortSignal.any([signal, AbortSignal.timeout(lookMs)]));
  }

  /** Whether there was an event. */
  async #follow(follower: FollowedEvent): Promise<boolean> {
    const { store, say } = this.#parts;
    const session = store.session();
    try {
      const next = await store.systems.nextFor(session, follower);
      if (next !== null) await this.#perform(follower, next, session);
      await session.end();
      if (next !== null) store.signals.announce();
      return next !== null;
    } catch (error) {
      await session.close();
      const finding = error instanceof Error ? error.message : String(error);
      const failures = await store.systems.holdFollower(follower, finding);
      if (failures === 1) say(`the follower ${nameOf(follower)} failed, and is tried again: ${finding}`);
      return false;
    } finally {
      await session.close();
    }
  }

  async #perform(follower: FollowedEvent, { event, failures }: FollowedNext, session: OpenSession): Promise<void> {
    const { store, registry, runs, project } = this.#parts;
    const name = nameOf(follower);
    const { name: of, data, position, at, handle: by } = event;
    const context = quickContext({
      run: { handle: FOLLOWERS_HANDLE, project, persona: name, definitionHash: '' },
      caller: { kind: 'follower', name },
      key: `${name}/${position}`,
      attempt: failures + 1,
      store,
      session,
      runPort: runs,
      signal: AbortSignal.timeout(callMs),
      timeoutMs: callMs,
    });
    await registry.run(follower.command, { event: { name: of, data, position, at, by } }, context);
  }
}

const nameOf = ({ system, follower }: Follower): string => `${system}/${follower}`;
