/**
 * Telling followers, in this process and in others, that a run has something new.
 *
 * Announcements are gathered for a few milliseconds and sent outside every transaction, because a
 * NOTIFY inside one makes commits wait for each other. They may be lost (the connection breaks, the
 * process dies): a follower also looks by itself once in POLL_MS. So nothing here may fail a writer.
 *
 * That something was published is told only where somebody may want it, a run or a trigger. Who comes
 * to want it after that look finds it by itself: it is committed by then.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { RunEvent } from '../../../language/events/run-event.ts';
import { connectionConfig } from '../connection/database.ts';
import type { Database } from '../connection/database.ts';
import type { Subscription } from '../contract/subscription.ts';
import { isTold } from './status-events.ts';

const GATHER_MS = 10;
const POLL_MS = 1_000;
const RECONNECT_MS = 1_000;

export const RUN_CHANNEL = 'sentinel_run';
export const LOG_CHANNEL = 'sentinel_log';
/** Something was published; without a handle. */
export const EVENT_CHANNEL = 'sentinel_event';
/** Files are waited for where they may not have been; without a handle. */
export const FILES_CHANNEL = 'sentinel_files';
/** A background process printed something, or ended; with its execution's id. */
export const EXECUTION_CHANNEL = 'sentinel_execution';
/** A place was left; with what names the lease. */
export const LEASE_CHANNEL = 'sentinel_lease';
export type Channel =
  | typeof RUN_CHANNEL
  | typeof LOG_CHANNEL
  | typeof EVENT_CHANNEL
  | typeof FILES_CHANNEL
  | typeof EXECUTION_CHANNEL
  | typeof LEASE_CHANNEL;

const NOTIFY = `
  select pg_notify(n.channel, n.handle) from unnest($1::text[], $2::text[]) as n(channel, handle)
  where n.channel <> '${EVENT_CHANNEL}' or exists (select 1 from event_subscriptions) or exists (select 1 from triggers)`;

export class Announcer {
  readonly #database: Database;
  readonly #pending = new Map<Channel, Set<string>>();
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(database: Database) {
    this.#database = database;
  }

  announce(channel: Channel, handle: string): void {
    const handles = this.#pending.get(channel) ?? new Set();
    this.#pending.set(channel, handles.add(handle));
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS);
  }

  announceEvents(handle: string, events: readonly RunEvent[]): void {
    this.announce(RUN_CHANNEL, handle);
    // A run's end is also the end of its logs.
    if (events.some((event) => event.type === 'run-finished')) this.announce(LOG_CHANNEL, handle);
    if (events.some(publishes)) this.announce(EVENT_CHANNEL, '');
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(() => this.#send());
    return this.#sending;
  }

  async #send(): Promise<void> {
    const channels: string[] = [];
    const handles: string[] = [];
    for (const [channel, pending] of this.#pending) {
      for (const handle of pending) {
        channels.push(channel);
        handles.push(handle);
      }
    }
    this.#pending.clear();
    if (handles.length === 0) return;
    await this.#database.query(NOTIFY, [channels, handles]).catch(() => undefined);
  }
}

/** Steps that emit, and what a run tells of itself, are events for others. */
const publishes = (event: RunEvent): boolean =>
  event.type === 'step-finished' ? event.step === 'emit' : isTold(event);

export class Listener {
  readonly #url: string;
  readonly #listening = new Map<string, Set<() => void>>();
  /** Those that somebody here ever listened to: a worker need not read what is only said to followers. */
  readonly #channels = new Set<Channel>();
  #client: Client | undefined;
  #connecting: Promise<void> | undefined;
  #closed = false;

  constructor(url: string) {
    this.#url = url;
  }

  /** `pollMs`: how long a lost announcement may go unnoticed. */
  listen(channel: Channel, handle: string, pollMs: number = POLL_MS): Subscription {
    const name = `${channel} ${handle}`;
    let heard = false;
    let wake: (() => void) | undefined;
    const hear = (): void => {
      heard = true;
      wake?.();
    };
    const listening = this.#listening.get(name) ?? new Set();
    this.#listening.set(name, listening.add(hear));
    const isNew = !this.#channels.has(channel);
    this.#channels.add(channel);
    this.#connect();
    if (isNew && this.#client !== undefined) void this.#hearOf(this.#client, channel);
    return {
      next: async (signal) => {
        if (!heard) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, pollMs);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
            signal?.addEventListener('abort', wake, { once: true });
          });
          if (wake !== undefined) signal?.removeEventListener('abort', wake);
          wake = undefined;
        }
        const result = heard ? 'announced' : 'polled';
        heard = false;
        return result;
      },
      close: () => {
        listening.delete(hear);
        if (listening.size === 0) this.#listening.delete(name);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hearAll();
    await this.#connecting;
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => undefined);
  }

  #connect(): void {
    if (this.#closed || this.#client !== undefined || this.#connecting !== undefined) return;
    this.#connecting = this.#open().finally(() => {
      this.#connecting = undefined;
    });
  }

  /** Never rejects: while it cannot connect, followers poll. */
  async #open(): Promise<void> {
    const client = new Client(connectionConfig(this.#url));
    const lost = (): void => void this.#reconnect(client);
    client.on('error', lost);
    client.on('end', lost);
    client.on('notification', ({ channel, payload }) => {
      for (const hear of this.#listening.get(`${channel} ${payload ?? ''}`) ?? []) hear();
    });
    try {
      await client.connect();
      // A set goes on to what is added meanwhile.
      for (const channel of this.#channels) await client.query(`listen ${channel}`);
      this.#client = client;
      this.#hearAll();
    } catch {
      await client.end().catch(() => undefined);
      void this.#reconnect(client);
    }
  }

  /** A connection that breaks meanwhile is opened again, and listens to this channel too. */
  async #hearOf(client: Client, channel: Channel): Promise<void> {
    await client.query(`listen ${channel}`).then(
      () => this.#hearAll(),
      () => undefined,
    );
  }

  /** What was announced while nobody listened was not heard. */
  #hearAll(): void {
    for (const listening of this.#listening.values()) for (const hear of listening) hear();
  }

  async #reconnect(lost: Client): Promise<void> {
    if (this.#client === lost) this.#client = undefined;
    await sleep(RECONNECT_MS, undefined, { ref: false });
    if (this.#listening.size > 0) this.#connect();
  }
}
