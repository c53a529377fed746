/**
 * Tells addresses of a project what became of its runs (`notify` of sentinel.config). Messages are made of what runs
 * publish, once each, and sent. Every worker of the project does its part; one that dies in between leaves rows that
 * another takes up, so a message is sent at least once, under an id of its own.
 */
import { fetchOutward, ProxyFault } from '../../world/http/outward.ts';
import { eventMatcher } from '../../language/events/event-glob.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { FedEvent } from '../../prisma/store/contract/cursor-contract.ts';
import type { Delivery, NewDelivery, NoticeKind } from '../../prisma/store/contract/notification-contract.ts';
import type { NotifyConfig } from '../../services/config/limits-config.ts';
import type { OpenSession } from '../../prisma/store/contract/session-contract.ts';
import { BackgroundLoop, rest } from '../background/background-loop.ts';
import type { EventFeed, Fed } from '../background/event-feed.ts';
import { signatureHeader } from '../triggers/signature.ts';
import { deliveryOf, questionIn } from './message.ts';
import { noticeOf } from './notice.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

const LOOK_MS = 1_000;
const OUTAGE_MS = 2_000;
const BATCH_MAX = 50;
const ANSWER_MAX_MS = 10_000;
const LEASE_MS = 3 * ANSWER_MAX_MS;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30 * 60_000;
const DAY_MS = 24 * 3_600_000;
const GIVEN_UP_AFTER_MS = DAY_MS;

export interface NotifierParts {
  feed: EventFeed;
  store: Pick<Store, 'notifications' | 'runs' | 'events' | 'inbox'>;
  project: string;
  targets: NotifyConfig;
  say(text: string): void;
}

type Target = NotifyConfig[number];

export class Notifier {
  readonly #parts: NotifierParts;
  readonly #fed: Fed;
  readonly #loop: BackgroundLoop;
  /** Aborts when there is a new message. */
  #made = new AbortController();

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#fed = {
      name: `notifications of ${parts.project}`,
      // `status` and `stuck`.
      event: 'sentinel:**:st*',
      from: 'a day ago',
      most: BATCH_MAX,
      withData: true,
      feed: ({ events }, session) => this.#write(events, session),
      fed: () => this.#made.abort(),
    };
    parts.feed.add(this.#fed);
    this.#loop = new BackgroundLoop({
      turn: (signal) => this.#turn(signal),
      retryMs: OUTAGE_MS,
      failing: (error) => parts.say(`nobody is notified for now (${messageOf(error)}); trying again`),
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.#parts.feed.remove(this.#fed), this.#loop.close()]);
  }

  async #turn(signal: AbortSignal): Promise<void> {
    this.#made = new AbortController();
    const claimed = await this.#parts.store.notifications.claim(this.#parts.project, BATCH_MAX, LEASE_MS);
    await Promise.all(claimed.map((delivery) => this.#send(delivery, signal)));
    if (claimed.length < BATCH_MAX) await rest(LOOK_MS, AbortSignal.any([signal, this.#made.signal]));
  }

  async #write(events: readonly FedEvent[], session: OpenSession): Promise<void> {
    const since = Date.now() - DAY_MS;
    const made = await Promise.all(events.filter(({ at }) => at >= since).map((event) => this.#messagesOf(event)));
    await this.#parts.store.notifications.write(session, this.#parts.project, made.flat());
  }

  async #messagesOf(published: FedEvent): Promise<NewDelivery[]> {
    const { store, targets, project } = this.#parts;
    const notice = noticeOf(published);
    if (notice === null) return [];
    const run = await store.runs.find(notice.handle);
    if (run?.project !== project) return [];
    const urls = new Set(targets.filter((target) => wants(target, notice.kind, run.name)).map(({ url }) => url));
    if (urls.size === 0) return [];
    const [event] = await store.events.after(notice.handle, notice.seq - 1, 1);
    // What a worker that was lost had recorded is taken back.
    if (event?.seq !== notice.seq) return [];
    return [...urls].flatMap((url) => deliveryOf(run, notice, event, url) ?? []);
  }

  async #send(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    const at = { handle: delivery.handle, key: delivery.id };
    crashPoint('notice.claimed', at);
    if (await this.#isAnswered(delivery)) return store.notifications.sent(delivery.id);
    const finding = await this.#post(delivery, signal);
    crashPoint('notice.sent', at);
    if (finding === null) return store.notifications.sent(delivery.id);
    const isLate = Date.now() - delivery.madeAt > GIVEN_UP_AFTER_MS;
    if (isLate) this.#parts.say(`gave up telling ${addressOf(delivery.url)} of ${delivery.handle}: ${finding}`);
    const wait = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(delivery.attempts - 1, 20));
    await store.notifications.failed(delivery.id, finding, isLate ? null : wait);
  }

  /** What nobody has to answer any more is not asked, however late a worker comes to it. */
  async #isAnswered({ handle, body }: Delivery): Promise<boolean> {
    const question = questionIn(body);
    return question !== null && !(await this.#parts.store.inbox.open(handle)).includes(question);
  }

  /** Null where it was taken. */
  async #post({ id, event, url, body }: Delivery, closing: AbortSignal): Promise<string | null> {
    const secret = this.#parts.targets.find((target) => target.url === url)?.secret;
    const bytes = Buffer.from(body, 'utf8');
    const seconds = Math.floor(Date.now() / 1000);
    try {
      const answer = await fetchOutward(url, {
        method: 'POST',
        body: bytes,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'sentinel',
          'x-event-id': id,
          'x-sentinel-event': event,
          ...(secret === undefined
            ? {}
            : { 'x-sentinel-signature': signatureHeader(secret, seconds, { id, name: event, body: bytes }) }),
        },
        redirect: 'manual',
        signal: AbortSignal.any([closing, AbortSignal.timeout(ANSWER_MAX_MS)]),
      });
      await answer.body?.cancel();
      return answer.ok ? null : `it answered ${answer.status}`;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/** A question about a model that turns in circles is a question, too, and so is a reminder of one. */
function wants({ on, names }: Target, kind: NoticeKind, name: string): boolean {
  const isAsked = on.includes(kind) || ((kind === 'stuck' || kind === 'reminded') && on.includes('asked'));
  return isAsked && (names === undefined || names.some((pattern) => eventMatcher(pattern)(name)));
}

/** Without what may be a key: services have it in the path, too. */
const addressOf = (url: string): string => new URL(url).origin;

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ProxyFault) return `it cannot be reached ${error.message}`;
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
