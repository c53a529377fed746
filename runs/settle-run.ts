/**
 * The end of a run whose workflow was ended from outside: it writes no last event, and would be under way
 * for ever, with what it asks.
 *
 * - Any process may be the one that writes: the events are the same under the same numbers, which lie
 *   behind all that a run gives out itself.
 * - Who ends a workflow of ours says why in the reason that Temporal keeps, so that whoever comes to write
 *   the end after the first one died knows it. Everybody who reaches Temporal reads it, so it is a code.
 */
import { outsideSeq, type RunEvent, type RunFinished, type StepStarted } from '../language/events/run-event.ts';
import type { Run, Store } from '../prisma/store/contract/contract.ts';
import { placesOf } from '../prisma/store/contract/persona-contract.ts';
import { everyEvent } from '../prisma/store/runs/every-event.ts';

export interface OutsideEnd {
  code: 'RUN_LOST' | 'RECORD_REFUSED' | 'CANCELLED_BY_FORCE';
  message: string;
  /** Milliseconds since the epoch. */
  at: number;
}

export interface Settled {
  /** Questions that nobody is asked any more. */
  questions: number;
  /** Steps that had begun and are recorded as cancelled. */
  steps: number;
}

type Reading = Pick<Store, 'events' | 'inbox'>;
type Parts = Reading & Pick<Store, 'leases'>;

/** What is said of an end by who finds only its code. */
const messages = {
  RECORD_REFUSED:
    "the database refuses what the run records, so the run was ended; see what its latest step returned, and the worker's log, and start it anew without that",
  CANCELLED_BY_FORCE: 'the run was ended by force: its clean-up did not run, and the steps under way have no result',
} as const;

/** Null for a reason that is none of ours. */
export function endInReason(reason: string): Pick<OutsideEnd, 'code' | 'message'> | null {
  return reason === 'RECORD_REFUSED' || reason === 'CANCELLED_BY_FORCE'
    ? { code: reason, message: messages[reason] }
    : null;
}

/** `wake`: tells a run that its place among those of its persona is free. */
export async function settleRun(
  store: Parts,
  run: Run,
  end: OutsideEnd,
  wake: (handle: string) => Promise<void>,
): Promise<Settled> {
  const { handle, persona } = run;
  const [asked, begun] = await Promise.all([store.inbox.open(handle), begunIn(store, handle)]);
  await store.events.append(handle, lastEvents(run, end, asked, begun));
  await Promise.all((await store.leases.leave(placesOf(persona), handle)).map(wake));
  return { questions: asked.length, steps: begun.open.length };
}

/** `open`: the steps that had begun, innermost last. */
interface Begun {
  open: StepStarted[];
  isBrought: boolean;
}

async function begunIn(store: Reading, handle: string): Promise<Begun> {
  const open = new Map<string, StepStarted>();
  let isBrought = false;
  for await (const event of everyEvent(store, handle)) {
    if (event.type === 'run-started') isBrought = event.isBrought === true;
    if (event.type === 'step-started') open.set(event.key, event);
    if (event.type === 'step-finished') open.delete(event.key);
  }
  return { open: [...open.values()], isBrought };
}

/** Questions and steps that were open; no run has so many. */
const openMax = 1_000_000;

/** `asked`: ids of its open questions, in an order that everybody finds. */
function lastEvents(run: Run, end: OutsideEnd, asked: readonly string[], { open, isBrought }: Begun): RunEvent[] {
  const { at } = end;
  const withdrawn = asked.map(
    (id, index) => ({ type: 'withdrawn', key: id, id, open: asked.length - index - 1, held: false }) as const,
  );
  const cut = open.toReversed().map(
    ({ key, step, label, at: began }) =>
      ({
        type: 'step-finished',
        key,
        step,
        label,
        outcome: 'cancelled',
        durationMs: Math.max(0, at - began),
      }) as const,
  );
  const before = [...withdrawn, ...cut]
    .slice(0, openMax)
    .map((event, index): RunEvent => ({ seq: outsideSeq + index, at, ...event }));
  return [...before, { ...finished(run, end), ...(isBrought ? { isBrought } : {}) }];
}

function finished(run: Run, { code, message, at }: OutsideEnd): RunFinished {
  const how = code === 'CANCELLED_BY_FORCE' ? 'cancelled' : 'failed';
  return {
    seq: outsideSeq + openMax,
    at,
    key: '',
    type: 'run-finished',
    status: how,
    outcome: how,
    failure: { code, message, retryable: false },
    iterations: run.iterations,
    durationMs: at - run.startedAt,
    outputs: {},
  };
}
