/**
 * Steps during which workers were lost: their event loop did not answer, their memory ran out, or they crashed. One
 * that three workers were lost with fails. Until then each begins alone among those that may be the reason, so that a step which only ran beside
 * it is not taken for it.
 */
import { ApplicationFailure, Context, type Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { AroundStep } from '../../activities/segment/quick-steps.ts';
import { Failure } from '../../world/failures/failures.ts';
import { SHELL, WATCH } from '../../interpreter/contract.ts';
import type { FailureCode } from '../../language/failure.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import type { LostStep } from '../../prisma/store/contract/lost-steps-contract.ts';
import { handleOf } from '../../workflows/messages/messages.ts';
import { atText } from '../../services/supervisor/worker-loop.ts';
import type { LoopWatch } from './loop-watch.ts';

/** A process of its own does the work: the worker passes on what it prints. */
const OUTSIDE: ReadonlySet<string> = new Set([SHELL, WATCH]);
const WORKERS_MAX = 3;
const HEARTBEAT_MS = 2_000;
/** What other workers were lost with meanwhile. */
const REFRESH_MS = 30_000;
const CODE: FailureCode = 'STEP_LOST_WORKERS';

export class SuspectSteps {
  readonly #store: Pick<Store, 'lostSteps'>;
  readonly #watch: LoopWatch;
  readonly #timer: NodeJS.Timeout;
  #recent: ReadonlyMap<string, number> = new Map();
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, 'lostSteps'>, watch: LoopWatch) {
    this.#store = store;
    this.#watch = watch;
    this.#timer = setInterval(() => void this.refresh(), REFRESH_MS).unref();
  }

  /** Before the worker takes its first task: what the worker before it could not say. */
  async open(say: (text: string) => void): Promise<void> {
    for (const steps of this.#watch.takeLost()) {
      if (steps.length === 0) continue;
      say(`the worker before this one was lost${atText({ steps })}: its memory had run out, or it crashed`);
      await this.#store.lostSteps.add(steps);
    }
    await this.refresh();
  }

  /** A store that is away says it later; what it said stays known. */
  async refresh(): Promise<void> {
    const steps = await this.#store.lostSteps.recent().catch(() => null);
    if (steps !== null) this.#recent = new Map(steps.map((step) => [nameOf(step), step.count]));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** A quick command, of which a segment performs many: nobody asks the store for each. */
  readonly around: AroundStep = (step, work) => {
    const lost = this.#recent.get(nameOf(step)) ?? 0;
    if (lost >= WORKERS_MAX) return Promise.reject(new Failure(CODE, heldText(lost)));
    const watched = () => this.#watched(step, work);
    return lost === 0 ? watched() : this.#alone(watched, (turn) => turn);
  };

  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => {
    if (info.isLocal || OUTSIDE.has(info.activityType)) return {};
    return { inbound: { execute: async (input, next) => this.#execute(info, () => next(input)) } };
  };

  async #execute<Result>(info: Info, run: () => Promise<Result>): Promise<Result> {
    const step = { handle: handleOf(info.workflowExecution?.workflowId ?? ''), key: info.activityId };
    const watched = () => this.#watched(step, run);
    if (info.attempt === 1) return watched();
    const lost = await this.#store.lostSteps.count(step);
    if (lost >= WORKERS_MAX) throw held(info, lost);
    return lost === 0 ? watched() : this.#alone(watched, waited);
  }

  async #watched<Result>(step: LostStep, run: () => Promise<Result>): Promise<Result> {
    const end = this.#watch.begin(step);
    try {
      return await run();
    } finally {
      end();
    }
  }

  #alone<Result>(run: () => Promise<Result>, wait: (turn: Promise<unknown>) => Promise<unknown>): Promise<Result> {
    const before = this.#last;
    const work = wait(before).then(run);
    this.#last = Promise.allSettled([before, work]);
    return work;
  }
}

/** Rejects where the step is cancelled meanwhile. */
async function waited(turn: Promise<unknown>): Promise<void> {
  const context = Context.current();
  const beating = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    await Promise.race([turn, context.cancelled]);
  } finally {
    clearInterval(beating);
  }
}

const nameOf = ({ handle, key }: LostStep): string => `${handle} ${key}`;

const heldText = (lost: number): string =>
  `${lost} workers were lost while they were at this step: their event loop did not answer, their memory ran out, or they crashed; look at what it reads (a very large or strange text, schema or pattern), and ask for less of it`;

const held = ({ activityId, activityType }: Info, lost: number): ApplicationFailure =>
  ApplicationFailure.create({
    message: `${activityId} (${activityType}): ${heldText(lost)}`,
    type: CODE,
    nonRetryable: true,
  });
