/**
 * Steps during which workers were lost because their event loop did not answer. One that three workers were lost
 * with fails. Until then each begins alone among those that may be the reason, so that a step which only ran beside
 * it is not taken for it.
 */
import { ApplicationFailure, Context, type Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { SHELL, WATCH } from '../../interpreter/contract.ts';
import type { FailureCode } from '../../language/failure.ts';
import type { Store } from '../../prisma/store/contract/contract.ts';
import { handleOf } from '../../workflows/messages/messages.ts';
import type { LoopWatch } from './loop-watch.ts';

/** A process of its own does the work: the worker passes on what it prints. */
const OUTSIDE: ReadonlySet<string> = new Set([SHELL, WATCH]);
const WORKERS_MAX = 3;
const HEARTBEAT_MS = 2_000;
const CODE: FailureCode = 'STEP_HOLDS_WORKER';

export class SuspectSteps {
  readonly #store: Pick<Store, 'lostSteps'>;
  readonly #watch: LoopWatch;
  #last: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<Store, 'lostSteps'>, watch: LoopWatch) {
    this.#store = store;
    this.#watch = watch;
  }

  readonly interceptor: ActivityInterceptorsFactory = ({ info }) => {
    if (info.isLocal || OUTSIDE.has(info.activityType)) return {};
    return { inbound: { execute: async (input, next) => this.#execute(info, () => next(input)) } };
  };

  async #execute<Result>(info: Info, run: () => Promise<Result>): Promise<Result> {
    const step = { handle: handleOf(info.workflowExecution?.workflowId ?? ''), key: info.activityId };
    const watched = async (): Promise<Result> => {
      const end = this.#watch.begin(step);
      try {
        return await run();
      } finally {
        end();
      }
    };
    if (info.attempt === 1) return watched();
    const lost = await this.#store.lostSteps.count(step);
    if (lost >= WORKERS_MAX) throw held(info, lost);
    return lost === 0 ? watched() : this.#alone(watched);
  }

  #alone<Result>(run: () => Promise<Result>): Promise<Result> {
    const before = this.#last;
    const work = waited(before).then(run);
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

function held({ activityId, activityType }: Info, lost: number): ApplicationFailure {
  const message = `${activityId} (${activityType}): ${lost} workers were lost while they were at this step, because their event loop did not answer; look at what it reads (a very large or strange text, schema or pattern), and ask for less of it`;
  return ApplicationFailure.create({ message, type: CODE, nonRetryable: true });
}
