/**
 * Tells addresses of a project what became of its runs (`notify` of sentinel.config). What to tell is in rows: notes that
 * were written with the events, and messages made of these. Every worker of the project does its part; one that dies in
 * between leaves rows that another takes up, so a message is sent at least once, under an id of its own.
 */
import { fetchOutward, ProxyFault } from '../../world/http/outward.ts';
import { eventMatcher } from '../../language/events/event-glob.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { Delivery, NewDelivery, Notice, NoticeKind } from '../../prisma/store/contract/models/limit-contract.ts';
import type { NotifyConfig } from '../../services/config/limits-config.ts';
import { BackgroundLoop, rest } from '../background/background-loop.ts';
import { signatureHeader } from '../triggers/signature.ts';
import { deliveryOf, questionIn } from './message.ts';

const LOOK_MS = 1_000;
const OUTAGE_MS = 2_000;
const BATCH_MAX = 50;
const ANSWER_MAX_MS = 10_000;
const LEASE_MS = 3 * ANSWER_MAX_MS;
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 30 * 60_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;

export interface NotifierParts {
  store: Pick<Store, 'notifications' | 'runs' | 'events' | 'inbox'>;
  project: string;
  targets: NotifyConfig;
  say(text: string): void;
}

type Target = NotifyConfig[number];

export class Notifier {
  readonly #parts: NotifierParts;
  readonly #loop: BackgroundLoop;

  constructor(parts: NotifierParts) {
    this.#parts = parts;
    this.#loop = new BackgroundLoop({
      turn: (signal) => this.#turn(signal),
      retryMs: OUTAGE_MS,
      failing: (error) => parts.say(`nobody is notified for now (${messageOf(error)}); trying again`),
    });
  }

  close(): Promise<void> {
    return this.#loop.close();
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { notifications } = this.#parts.store;
    const noted = await this.#spread();
    const claimed = await notifications.claim(this.#parts.project, BATCH_MAX, LEASE_MS);
    await Promise.all(claimed.map((delivery) => this.#send(delivery, signal)));
    if (noted + claimed.length < BATCH_MAX) await rest(LOOK_MS, signal);
  }

  /** Makes messages of notes. How many notes. */
  async #spread(): Promise<number> {
    const { store, project } = this.#parts;
    const notices = await store.notifications.notices(project, BATCH_MAX);
    if (notices.length === 0) return 0;
    const made = await Promise.all(notices.map((notice) => this.#made(notice)));
    await store.notifications.spread(project, notices, made.flat());
    return notices.length;
  }

  async #made(notice: Notice): Promise<NewDelivery[]> {
    const { store, targets } = this.#parts;
    const run = await store.runs.find(notice.handle);
    const [event] = await store.events.after(notice.handle, notice.seq - 1, 1);
    // What a worker that was lost had recorded is taken back, and its note leads nowhere.
    if (run === null || event?.seq !== notice.seq) return [];
    const urls = new Set(targets.filter((target) => wants(target, notice.kind, run.name)).map(({ url }) => url));
    return [...urls].flatMap((url) => deliveryOf(run, notice, event, url) ?? []);
  }

  async #send(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const { store } = this.#parts;
    if (await this.#isAnswered(delivery)) return store.notifications.sent(delivery.id);
    const finding = await this.#post(delivery, signal);
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

/** A question about a model that turns in circles is a question, too. */
function wants({ on, names }: Target, kind: NoticeKind, name: string): boolean {
  const isAsked = on.includes(kind) || (kind === 'stuck' && on.includes('asked'));
  return isAsked && (names === undefined || names.some((pattern) => eventMatcher(pattern)(name)));
}

/** Without what may be a key: services have it in the path, too. */
const addressOf = (url: string): string => new URL(url).origin;

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ProxyFault) return `it cannot be reached ${error.message}`;
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
