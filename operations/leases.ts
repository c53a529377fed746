/**
 * The places of a step in leases, for the commands that it performs:
 *
 * - L1 It waits until it is its turn, and asks when a place was left, and now and then. It has one place in a lease,
 *      however often its commands ask.
 * - L2 The store hears now and then that it goes on. Where it cannot be told, the command is ended before its place may
 *      be another's, and the server tries the step again, as it does where a worker is lost.
 * - L3 The end of the step leaves all its places.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AskingStep, HeldStep, LeaseStanding, LeaseStore } from '../prisma/store/contract/lease-contract.ts';
import { ridingOut } from '../prisma/store/connection/riding-out.ts';
import { Failure } from '../world/failures/failures.ts';
import { SHELL_BOUNDS } from '../world/processes/bounds.ts';
import { COMMAND_BOUNDS } from './bounds.ts';
import type { CommandContext } from './command.ts';
import type { Leases, LeaseTerms, LeaveLease } from './lease-terms.ts';
import { crashPoint } from '../world/crash-points/crash-point.ts';

const { leasesMax, leaseNameMax, leaseCapacityMax, leaseAliveMs, leaseRenewMs, leaseEndsWithinMs } = COMMAND_BOUNDS;
const AGAIN_MS = 1_000;

interface Place {
  held: HeldStep;
  /** How many have asked for it and not left it. */
  users: number;
  /** Resolves when it is its turn. */
  turn: Promise<void>;
  left: AbortController;
}

export class StepLeases implements Leases {
  readonly #context: CommandContext;
  readonly #step: AskingStep;
  readonly #places = new Map<string, Place>();
  /** A place that is left is asked for again when that is done. */
  readonly #leaving = new Map<string, Promise<void>>();
  readonly #ending = new AbortController();
  readonly #endsAt: number;

  constructor(context: CommandContext) {
    this.#context = context;
    this.#step = { key: context.key, claim: randomUUID(), aliveMs: leaseAliveMs };
    this.#endsAt = performance.now() + context.timeoutMs;
  }

  get #store(): LeaseStore {
    return this.#context.store.leases;
  }

  /** Aborts when a place may be another's soon. */
  get lost(): AbortSignal {
    return this.#ending.signal;
  }

  async take(of: string, name: string, { capacity, scope = 'project' }: LeaseTerms): Promise<LeaveLease> {
    refuse(of, name, capacity, scope);
    const { run, secrets } = this.#context;
    const lease = {
      kind: 'command' as const,
      project: scope === 'project' ? run.project : null,
      // A name stands in our tables and on screens.
      name: secrets?.results.text(name) ?? name,
    };
    const id = JSON.stringify([lease.project, lease.name]);
    let place = this.#places.get(id);
    if (place === undefined) {
      if (this.#places.size >= leasesMax)
        throw new Failure('LEASE_REFUSED', `${of}: a step has places in at most ${leasesMax} leases`);
      const left = new AbortController();
      const held = { ...lease, handle: run.handle, step: this.#step };
      place = { held, users: 0, left, turn: this.#turn(of, held, capacity, left.signal, this.#leaving.get(id)) };
      this.#places.set(id, place);
    }
    const taken = place;
    taken.users += 1;
    let isLeft = false;
    const leave = async (): Promise<void> => {
      if (isLeft) return;
      isLeft = true;
      taken.users -= 1;
      if (taken.users > 0) return;
      this.#places.delete(id);
      const leaving = this.#leave(taken);
      this.#leaving.set(id, leaving);
      await leaving;
      if (this.#leaving.get(id) === leaving) this.#leaving.delete(id);
    };
    try {
      await taken.turn;
    } catch (error) {
      await leave();
      throw error;
    }
    return leave;
  }

  async close(): Promise<void> {
    const places = [...this.#places.values()];
    this.#places.clear();
    await Promise.all([...this.#leaving.values(), ...places.map((place) => this.#leave(place))]);
  }

  /** What the store does not hear is seen by it later. */
  async #leave({ held, left, turn }: Place): Promise<void> {
    left.abort(new Error('the step has ended'));
    await turn.catch(() => undefined);
    crashPoint('lease.leaving', { handle: held.handle, key: held.step.key });
    await this.#store.release(held).catch(() => undefined);
  }

  async #turn(
    of: string,
    held: HeldStep,
    capacity: number,
    left: AbortSignal,
    before: Promise<void> | undefined,
  ): Promise<void> {
    await before;
    const { signal: cancelled, timeoutMs } = this.#context;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), Math.min(this.#endsAt - performance.now(), SHELL_BOUNDS.timeoutMsMax));
    const signal = AbortSignal.any([cancelled, this.lost, left, late.signal]);
    const heard = this.#store.listen(held, leaseRenewMs);
    let standing: LeaseStanding | undefined;
    try {
      for (let states = true; ; states = false) {
        const askedAt = performance.now();
        const wish = { ...held, capacity, states, whenHeld: 'wait' as const };
        const answer = await ridingOut(signal, () => this.#store.ask(wish));
        standing = answer ?? standing;
        if (answer?.before === null) {
          crashPoint('lease.taken', { handle: held.handle, key: held.step.key });
          void this.#keep(held, askedAt, left);
          return;
        }
        if (late.signal.aborted)
          throw new Failure(
            'STEP_TIMEOUT',
            `${of} waited for the lease "${held.name}" until its ${timeoutMs} ms were over${behindText(standing)}; give the step more time`,
          );
        signal.throwIfAborted();
        await heard.next(signal);
      }
    } finally {
      clearTimeout(timer);
      heard.close();
    }
  }

  /** Until it is left. */
  async #keep(held: HeldStep, askedAt: number, left: AbortSignal): Promise<void> {
    if (left.aborted) return;
    let heardAt = askedAt;
    const lose = (): void => {
      if (left.aborted) return;
      this.#ending.abort(
        new Error(`the place in the lease "${held.name}" was lost: nothing could be said of it in time`),
      );
    };
    const aliveFor = (): number => heardAt + leaseAliveMs - leaseEndsWithinMs - performance.now();
    let timer = setTimeout(lose, aliveFor());
    left.addEventListener('abort', () => clearTimeout(timer), { once: true });
    let waitMs: number = leaseRenewMs;
    while (!left.aborted) {
      await sleep(waitMs, undefined, { signal: left, ref: false }).catch(() => undefined);
      if (left.aborted) return;
      const saidAt = performance.now();
      const isKept = await this.#store.renew(held).catch(() => null);
      if (left.aborted) return;
      if (isKept === false) lose();
      if (isKept === true) {
        crashPoint('lease.renewed', { handle: held.handle, key: held.step.key });
        heardAt = saidAt;
        clearTimeout(timer);
        timer = setTimeout(lose, aliveFor());
      }
      waitMs = isKept === null ? AGAIN_MS : leaseRenewMs;
    }
  }
}

/** Performs a command that may ask for leases; at its end it has none. */
export async function withLeases<Context extends CommandContext, Result>(
  context: Context,
  perform: (context: Context) => Promise<Result>,
): Promise<Result> {
  const leases = new StepLeases(context);
  try {
    return await perform({ ...context, leases, signal: AbortSignal.any([context.signal, leases.lost]) });
  } catch (error) {
    if (!leases.lost.aborted || context.signal.aborted) throw error;
    // It ended because it was told to.
    throw new Error((leases.lost.reason as Error).message, { cause: error });
  } finally {
    await leases.close();
  }
}

function refuse(of: string, name: string, capacity: number, scope: string): void {
  const finding =
    name.trim() === '' || name.length > leaseNameMax
      ? `the name of a lease has 1 to ${leaseNameMax} characters, and this one ${name.length}`
      : !Number.isInteger(capacity) || capacity < 1 || capacity > leaseCapacityMax
        ? `"capacity" of the lease "${name}" is a whole number from 1 to ${leaseCapacityMax}, and not ${capacity}`
        : scope !== 'project' && scope !== 'installation'
          ? `"scope" of the lease "${name}" is "project" or "installation", and not "${scope}"`
          : null;
  if (finding !== null) throw new Failure('LEASE_REFUSED', `${of}: ${finding}`);
}

function behindText(standing: LeaseStanding | undefined): string {
  const others = [...new Set(standing?.before)];
  return others.length === 0 ? '' : `, behind ${others.slice(0, 3).join(', ')}${others.length > 3 ? ' and more' : ''}`;
}
