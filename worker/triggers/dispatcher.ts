/**
 * Starts a run for each event that a trigger matches.
 *
 * Every worker has one. Whichever is fed with the events (worker/background/event-feed.ts) writes the starts that they ask
 * for. The worker of a project performs those of its project, and the others share the rest. A run's handle is made of its trigger and its event, so an event that two workers get
 * hold of, or one worker twice, starts one run. Whatever is away (Temporal, the database) is waited
 * for; what cannot be started for another reason is tried a few times and then refused, with the reason, and
 * what no run can be given at once. What is over the rate of its trigger waits for its place.
 * A definition whose own loop is over those events has one run at a time (prisma/store/events/trigger-turns.ts).
 */
import { LRUCache } from 'lru-cache';
import { ClientError } from '../../runs/client-error.ts';
import { startRun, type RunServices } from '../../runs/start-run.ts';
import { matchesEvent } from '../../language/events/event-glob.ts';
import type { Definition } from '../../language/model.ts';
import { filterVerdict } from '../../language/events/trigger-filter.ts';
import { valueOfEvent } from '../../language/events/published-event.ts';
import type { FedCursor } from '../../prisma/store/contract/cursor-contract.ts';
import type { ClaimedStart, StartsOf, Turn, VerdictOf } from '../../prisma/store/contract/trigger-contract.ts';
import { EARLIER_FIRST_MS } from '../../prisma/store/events/trigger-turns.ts';
import { isQueueOfProject, OWN_QUEUE } from '../../services/config/project-queue.ts';
import { isUnavailable } from '../../prisma/store/connection/unavailable.ts';
import type { Subscription } from '../../prisma/store/contract/subscription.ts';
import { BackgroundLoop } from '../background/background-loop.ts';
import type { EventFeed, Fed } from '../background/event-feed.ts';
import { crashPoint } from '../../world/crash-points/crash-point.ts';

const STARTS_AT_ONCE = 20;
const LEASE_MS = 15_000;
const ATTEMPTS_MAX = 5;
const RETRY_MS = 1_000;
const RETRY_MAX_MS = 30_000;
const EVENTS_AT_ONCE = 100;
const DEFINITIONS_MAX = 200;

/** All triggers have one place in the order of events. */
export const TRIGGERS: FedCursor = {
  name: 'triggers',
  event: null,
  from: 'now',
  most: EVENTS_AT_ONCE,
  withData: false,
};

/** Of each trigger. */
export interface StartRate {
  perMinute: number;
}

export class Dispatcher {
  readonly #starting: RunServices;
  readonly #rate: StartRate;
  readonly #say: (text: string) => void;
  readonly #definitions = new LRUCache<string, Definition>({ max: DEFINITIONS_MAX });
  readonly #subscription: Subscription;
  readonly #loop: BackgroundLoop;
  /** The worker of a project starts what its triggers ask for, with the commands of that project; the others, the rest. */
  readonly #of: StartsOf;
  readonly #feed: EventFeed;
  readonly #fed: Fed;
  #againAt = 0;

  constructor(starting: RunServices, feed: EventFeed, rate: StartRate, say: (text: string) => void) {
    this.#starting = starting;
    this.#feed = feed;
    this.#rate = rate;
    this.#say = say;
    this.#fed = this.#fedTriggers();
    const { taskQueue: queue } = starting;
    this.#of = isQueueOfProject(queue) ? { queue } : { notOn: OWN_QUEUE };
    this.#subscription = starting.store.triggers.listen();
    this.#loop = new BackgroundLoop({
      turn: (signal) => this.#turn(signal),
      retryMs: RETRY_MS,
      failing: (error) => say(`events start no runs for now (${messageOf(error)}); trying again`),
    });
  }

  /** Returns when the starts under way have ended. */
  async close(): Promise<void> {
    await this.#loop.close();
    this.#subscription.close();
  }

  #fedTriggers(): Fed {
    const { triggers, signals } = this.#starting.store;
    let made = 0;
    return {
      ...TRIGGERS,
      feed: async ({ events }, session) => {
        made = await triggers.spread(session, events, (filter, event) => this.#verdictOf(filter, event));
      },
      // Others perform them, too.
      fed: () => {
        if (made > 0) signals.announce();
      },
    };
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { triggers } = this.#starting.store;
    // Before the claim: what is due by now is claimed, and what is due later is waited for.
    const waking = this.#untilAgain(signal);
    // First: an event may put off what waits for quiet.
    const isFed = await this.#feed.catchUp(this.#fed);
    const claimed = await triggers.claim(STARTS_AT_ONCE, LEASE_MS, this.#of);
    const turns = await Promise.all(claimed.map((start) => this.#start(start)));
    if (turns.includes('later')) this.#againAt = Date.now() + EARLIER_FIRST_MS;
    else if (!isFed && claimed.length === 0 && !waking.aborted) await this.#subscription.next(waking);
  }

  /** Aborts when what had to wait for an earlier event is due, which nobody announces. */
  #untilAgain(signal: AbortSignal): AbortSignal {
    const leftMs = this.#againAt - Date.now();
    return leftMs > 0 ? AbortSignal.any([signal, AbortSignal.timeout(leftMs)]) : signal;
  }

  /** One that fails is said here, and stands where its trigger is shown. */
  #verdictOf(...[filter, event]: Parameters<VerdictOf>): ReturnType<VerdictOf> {
    const verdict = filterVerdict(filter, event);
    if ('fault' in verdict)
      this.#say(`the filter ${filter} failed for ${event.name} (event ${event.seq}): ${verdict.fault}`);
    return verdict;
  }

  /** Answers with the turn that the start was given. */
  async #start(start: ClaimedStart): Promise<Turn> {
    const { triggers } = this.#starting.store;
    const { trigger, event, handle } = start;
    crashPoint('trigger.claimed', { handle });
    try {
      const definition = await this.#definition(trigger.definitionHash);
      if (definition === null) {
        const reason = `the definition ${trigger.definitionHash} of "${trigger.name}" is not in the store; register it again with "sentinel trigger add"`;
        await triggers.settle(start, { state: 'refused', reason });
        return 'now';
      }
      const { loop } = definition;
      if (loop.type === 'event' && matchesEvent(loop.event, event.name)) {
        const turn = await triggers.takeTurn(start);
        if (turn !== 'now') return turn;
      }
      const waitMs = await this.#waitOf(trigger.id, handle);
      if (waitMs > 0) {
        const reason = `"${trigger.name}" starts ${this.#rate.perMinute} runs a minute at most ("limits.triggers.perMinute" of sentinel.config)`;
        await triggers.settle(start, { state: 'waiting', reason, retryMs: waitMs });
        return 'now';
      }
      await startRun(
        { ...this.#starting, taskQueue: trigger.taskQueue, isEager: trigger.taskQueue === this.#starting.taskQueue },
        {
          definition,
          inputs: { ...trigger.inputs, event: valueOfEvent(event) },
          project: trigger.project,
          persona: trigger.persona,
          policies: trigger.policies,
          handle,
          origin: { type: 'event', trigger: trigger.id, event: event.name, seq: event.seq },
        },
      );
      crashPoint('trigger.started', { handle });
      await triggers.settle(start, { state: 'started' });
      crashPoint('trigger.settled', { handle });
    } catch (error) {
      await triggers.settle(start, this.#verdict(start, error));
    }
    return 'now';
  }

  /** 0: now. A start that is tried again has the place that it had. */
  async #waitOf(trigger: string, handle: string): Promise<number> {
    const permit = await this.#starting.store.limits.permit(`trigger:${trigger}`, handle, this.#rate, 0);
    return permit.ok ? 0 : permit.waitMs;
  }

  #verdict(
    { attempts, trigger, event }: ClaimedStart,
    error: unknown,
  ): { state: 'refused'; reason: string } | { state: 'waiting'; reason: string; retryMs: number } {
    const reason = messageOf(error);
    // What cannot be taken the first time cannot be taken at all.
    if (error instanceof ClientError || (!isAway(error) && attempts >= ATTEMPTS_MAX)) {
      this.#say(`"${trigger.name}" was not started by ${event.name} (event ${event.seq}): ${reason}`);
      return { state: 'refused', reason };
    }
    return { state: 'waiting', reason, retryMs: Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** Math.min(attempts, 10)) };
  }

  async #definition(hash: string): Promise<Definition | null> {
    const known = this.#definitions.get(hash);
    if (known !== undefined) return known;
    const found = (await this.#starting.store.definitions.find(hash))?.definition ?? null;
    if (found !== null) this.#definitions.set(hash, found);
    return found;
  }
}

/** A server that does not answer: the same start may succeed later. */
function isAway(error: unknown): boolean {
  if (isUnavailable(error)) return true;
  return (
    error instanceof Error &&
    (error.name === 'ServiceError' || /UNAVAILABLE|DEADLINE_EXCEEDED|RESOURCE_EXHAUSTED/.test(error.message))
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
