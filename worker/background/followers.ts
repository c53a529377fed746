/**
 * Performs the commands that follow events. Each follower has one place in the order of events, whichever worker is at
 * it, and what its command writes is committed with the new place: each event is followed once, in order. A command
 * that fails is tried again at the same event, ever more rarely; nothing is left out, and `doctor` says so.
 */
import type { JsonObject } from '../../language/json.ts';
import { FOLLOWERS_HANDLE } from '../../operations/caller.ts';
import type { CommandContext, RunPort } from '../../operations/command.ts';
import type { Registry } from '../../operations/registry.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { KeptEvent } from '../../prisma/store/contract/event-contract.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import type { Follower } from '../../prisma/store/contract/system-contract.ts';
import { BackgroundLoop, rest } from './background-loop.ts';

const outageMs = 1_000;
const firstRestMs = 1_000;
const restMsMax = 5 * 60_000;
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
  readonly #loops: BackgroundLoop[];
  /** Failures in a row, by follower. */
  readonly #failed = new Map<string, number>();

  private constructor(parts: FollowingParts) {
    this.#parts = parts;
    this.#subscription = parts.store.signals.listen();
    this.#loops = [new BackgroundLoop({ turn: (signal) => this.#turn(signal), retryMs: outageMs })];
  }

  /** From here on they hear; null where there are none. */
  static async open(parts: FollowingParts): Promise<Followers | null> {
    if (parts.followers.length === 0) return null;
    for (const follower of parts.followers) await parts.store.systems.openFollower(follower);
    return new Followers(parts);
  }

  async close(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.close()));
    this.#subscription.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    let isBusy = false;
    for (const follower of this.#parts.followers) {
      if (signal.aborted) return;
      isBusy = (await this.#follow(follower)) || isBusy;
    }
    if (!isBusy) await Promise.race([this.#subscription.next(signal), rest(firstRestMs, signal)]);
  }

  /** Whether there was an event. */
  async #follow(follower: FollowedEvent): Promise<boolean> {
    const { store, say } = this.#parts;
    const name = `${follower.system}/${follower.follower}`;
    const session = store.session();
    try {
      const event = await store.systems.nextFor(session, follower);
      if (event === null) {
        await session.end();
        return false;
      }
      await this.#perform(follower, event, session);
      await session.end();
      this.#failed.delete(name);
      store.signals.announce();
      return true;
    } catch (error) {
      await session.close();
      const failed = (this.#failed.get(name) ?? 0) + 1;
      this.#failed.set(name, failed);
      const finding = error instanceof Error ? error.message : String(error);
      if (failed === 1) say(`the follower ${name} failed, and is tried again: ${finding}`);
      await store.systems.holdFollower(follower, finding, Math.min(firstRestMs * 2 ** (failed - 1), restMsMax));
      return false;
    } finally {
      await session.close();
    }
  }

  async #perform({ system, follower, command }: FollowedEvent, event: KeptEvent, session: OpenSession): Promise<void> {
    const { store, registry, runs, project } = this.#parts;
    const name = `${system}/${follower}`;
    const { name: of, data, position, at, handle: by } = event;
    const context: CommandContext = {
      run: { handle: FOLLOWERS_HANDLE, project, persona: name, definitionHash: '' },
      caller: { kind: 'follower', name },
      key: `${name}/${position}`,
      attempt: (this.#failed.get(name) ?? 0) + 1,
      store,
      session,
      runs,
      ask: () => Promise.reject(new Error('bug: a quick command asks a model')),
      signal: AbortSignal.timeout(callMs),
      timeoutMs: callMs,
      now: () => Date.now(),
      heartbeat: () => undefined,
    };
    const params: JsonObject = { event: { name: of, data, position, at, by } };
    await registry.run(command, params, context);
  }
}
