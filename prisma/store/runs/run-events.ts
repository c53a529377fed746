/**
 * A run's events: written idempotently by (handle, seq), read in pages, followed live.
 */
import { OWN_NUMBER } from '../../../language/events/event-numbers.ts';
import type { RunEvent, StepStarted, Warning } from '../../../language/events/run-event.ts';
import { commitStatement } from './commit-statement.ts';
import type { Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';
import { takesBack } from './lost-events.ts';
import { FINISHED_SQL, isAborted, ridingOut } from '../connection/riding-out.ts';
import { SeqGaps } from './seq-gaps.ts';
import { RUN_CHANNEL } from '../events/wakeups.ts';
import type { Announcer, Listener } from '../events/wakeups.ts';

const PAGE = 1_000;
/** The number of the event with which a run begins. */
const FIRST_SEQ = 1;
/** Of a run's warnings, the latest. */
const WARNINGS_LOOKED_AT = 200;
/** Of the steps that have begun, the latest. */
const STEPS_LOOKED_AT = 200;

/** `$1`: the run, `$2`: now. What is said of a wait later takes the place of what was said before. */
const WAITS = `with said as (select seq, event from run_events where handle = $1 and type = 'warning' order by seq desc limit ${WARNINGS_LOOKED_AT})
         select event from said where (event ->> 'until')::bigint > $2 and not exists (
           select 1 from run_events e where e.handle = $1 and e.type = 'step-finished' and e.seq > said.seq
             and e.event ->> 'key' = said.event ->> 'key')
           and not exists (select 1 from said later where later.seq > said.seq
             and later.event ->> 'key' = said.event ->> 'key' and later.event ->> 'waitsFor' = said.event ->> 'waitsFor')
         order by seq`;

export function runEvents(database: Database, announcer: Announcer, listener: Listener): Store['events'] {
  return {
    async append(handle, events) {
      const statement = commitStatement({ handle, events });
      if (statement === null) return;
      await database.query(statement.text, statement.values);
      announcer.announceEvents(handle, events);
    },

    takeBack: takesBack(database, announcer),

    async latestOwn(handle) {
      const [row] = await database.query<{ seq: number }>(
        `select seq::float8 as seq from run_events where handle = $1 and ${OWN_NUMBER} order by seq desc limit 1`,
        [handle],
      );
      return row?.seq ?? 0;
    },

    async after(handle, seq, limit = PAGE) {
      const rows = await database.query<{ event: RunEvent }>(
        'select event from run_events where handle = $1 and seq > $2 order by seq limit $3',
        [handle, seq, limit],
      );
      return rows.map((row) => row.event);
    },

    async newest<Type extends RunEvent['type']>(handle: string, types: readonly Type[]) {
      const [row] = await database.query<{ event: Extract<RunEvent, { type: Type }> }>(
        'select event from run_events where handle = $1 and type = any($2::text[]) order by seq desc limit 1',
        [handle, types],
      );
      return row?.event ?? null;
    },

    async latest<Type extends RunEvent['type']>(handle: string, types: readonly Type[], limit: number) {
      const rows = await database.query<{ event: Extract<RunEvent, { type: Type }> }>(
        'select event from run_events where handle = $1 and type = any($2::text[]) order by seq desc limit $3',
        [handle, types, limit],
      );
      return rows.map(({ event }) => event).toReversed();
    },

    async waits(handle, now) {
      const rows = await database.query<{ event: Warning }>(WAITS, [handle, now]);
      return rows.map(({ event }) => event);
    },

    underWay: (handle) => underWay(database, handle),
    isUnderWay: (handle, key) => isUnderWay(database, handle, key),
    follow: (handle, { after = -1, signal }) => fromItsStart(after, follow(database, listener, handle, after, signal)),
  };
}

async function isUnderWay(database: Database, handle: string, key: string): Promise<boolean> {
  const [latest] = await database.query<{ type: RunEvent['type'] }>(
    `select type from run_events
     where handle = $1 and type in ('step-started', 'step-finished') and event ->> 'key' = $2 order by seq desc limit 1`,
    [handle, key],
  );
  return latest?.type === 'step-started';
}

async function underWay(database: Database, handle: string): Promise<StepStarted[]> {
  const rows = await database.query<{ event: StepStarted }>(
    `with begun as (select seq, event from run_events where handle = $1 and type = 'step-started' order by seq desc limit ${STEPS_LOOKED_AT})
     select event from begun where not exists (
       select 1 from run_events e where e.handle = $1 and e.type = 'step-finished' and e.seq > begun.seq
         and e.event ->> 'key' = begun.event ->> 'key')
     order by seq`,
    [handle],
  );
  return rows.map(({ event }) => event);
}

/** What a segment or a step of a run has recorded may be visible before the start that the run itself records. */
async function* fromItsStart(after: number, events: AsyncIterable<RunEvent>): AsyncGenerator<RunEvent> {
  let early: RunEvent[] | null = after < FIRST_SEQ ? [] : null;
  for await (const event of events) {
    const isFirst = event.seq <= FIRST_SEQ || event.type === 'run-started';
    if (early === null) yield event;
    else if (isFirst || event.type === 'run-finished') {
      if (isFirst) yield event;
      yield* early;
      if (!isFirst) yield event;
      early = null;
    } else early.push(event);
  }
  yield* early ?? [];
}

/**
 * Each batch is in the order of `seq`; a number that became visible late is yielded late, never
 * dropped. The run's last event is yielded last.
 */
async function* follow(
  database: Database,
  listener: Listener,
  handle: string,
  after: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunEvent> {
  const gaps = new SeqGaps(after);
  const subscription = listener.listen(RUN_CHANNEL, handle);
  try {
    let last: RunEvent | undefined;
    while (!isAborted(signal)) {
      // Asked before reading: a run that had finished by then has all its events in what follows.
      const hadFinished = last !== undefined || (await ridingOut(signal, () => isFinished(database, handle)));
      let full = true;
      while (full && !isAborted(signal)) {
        const batch = await ridingOut(signal, () => readGaps(database, handle, gaps));
        full = (batch?.length ?? 0) >= PAGE;
        for (const event of batch ?? []) {
          if (event.type === 'run-finished') last = event;
          else yield event;
        }
      }
      if (isAborted(signal)) return;
      if (last !== undefined && hadFinished === true) yield last;
      if (hadFinished === true) return;
      if (last === undefined) await subscription.next(signal);
    }
  } finally {
    subscription.close();
  }
}

async function isFinished(database: Database, handle: string): Promise<boolean> {
  const rows = await database.query(FINISHED_SQL, [handle]);
  return rows.length > 0;
}

async function readGaps(database: Database, handle: string, gaps: SeqGaps): Promise<RunEvent[]> {
  const rows = await database.query<{ event: RunEvent }>(
    // The tail is read in the order of the index. The limit inside keeps the planner from turning
    // one look at the index a hole into a join with the whole run.
    `(select seq, event from run_events where handle = $1 and seq >= $2 order by seq limit ${PAGE})
     union all
     (select late.seq, late.event from unnest($3::bigint[], $4::bigint[]) as hole(low, high)
      cross join lateral (select seq, event from run_events where handle = $1 and seq between hole.low and hole.high limit ${PAGE}) late
      limit ${PAGE})
     order by seq`,
    [handle, gaps.tail, gaps.holes.map((hole) => hole.from), gaps.holes.map((hole) => hole.to)],
  );
  const events = rows.map((row) => row.event);
  gaps.markSeen(events.map((event) => event.seq));
  return events;
}
