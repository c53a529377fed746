/**
 * Published events become starts of the triggers that match them, in the transaction in which triggers are done with them.
 *
 * - S1 A filter is asked here, before there is a start: an event for which it does not hold leaves nothing behind,
 *      one for which it fails a start that is refused, with the reason.
 * - S2 A trigger that waits for quiet has at most one start that waits: the last event's. A start that a worker has taken
 *      in hand is left to it.
 * - S3 Starts are written in the order of `position`: where there is one of an event, there are those of all before it.
 */
import { createHash } from 'node:crypto';
import { eventMatcher } from '../../../language/events/event-glob.ts';
import type { Json } from '../../../language/json.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { FedEvent } from '../contract/cursor-contract.ts';
import type { Session } from '../contract/session-contract.ts';
import type { VerdictOf } from '../contract/trigger-contract.ts';
import { FINISHED_KEY } from './status-events.ts';
import { releaseHeld } from './trigger-turns.ts';

/** Runs that start runs by their events: how long such a chain may become. */
export const CHAIN_MAX = 16;
/** Runs that may come of one event together, with all that their events start: a chain can grow in breadth, too. */
export const RUNS_OF_EVENT_MAX = 100;

interface ChainedEvent extends FedEvent {
  depth: number;
  /** The event that the chain began with. */
  root: number;
}

interface ActiveTrigger {
  id: string;
  name: string;
  event: string;
  project: string;
  afterSeq: number;
  filter: string | null;
  debounceMs: number | null;
  isPaused: boolean;
}

interface NewStart {
  trigger: string;
  seq: number;
  handle: string;
  depth: number;
  root: number;
  /** Why it is refused. */
  reason: string | null;
}

/**
 * The run that published an event is found by the first part of its handle: nested runs add theirs to it. One that a
 * step started belongs to the chain of the run around that step.
 */
const CHAINS = `
  select e.seq, 1 + coalesce(c.depth, 0) as depth, coalesce(c.root, e.seq) as root
  from unnest($1::bigint[], $2::text[]) as e(seq, handle)
    cross join lateral (
      select max(s.depth) as depth, min(s.root) as root from trigger_starts s
      where s.handle = split_part(e.handle, '/', 1)
        or s.handle = (select r.root from run_roots r where r.handle = split_part(e.handle, '/', 1))) c`;

/** Locked: what is removed meanwhile would leave starts of nothing. */
const TRIGGERS = `select id, name, event, project, after_seq as "afterSeq", filter, debounce_ms as "debounceMs", is_paused as "isPaused"
  from triggers for key share`;

/** How many starts there are to perform, or may be. */
export async function spread(session: Session, events: readonly FedEvent[], verdictOf?: VerdictOf): Promise<number> {
  const triggers = await session.write<ActiveTrigger>(TRIGGERS, []);
  if (triggers.length === 0) return 0;
  const chained = await inChains(session, events);
  const starts: NewStart[] = [];
  for (const trigger of triggers)
    if (!trigger.isPaused) starts.push(...(await startsOf(session, trigger, chained, verdictOf)));
  await writeStarts(session, starts);
  for (const trigger of triggers)
    if (trigger.debounceMs !== null && starts.some((start) => start.trigger === trigger.id))
      await supersede(session, trigger);
  const ended = events.filter(({ key }) => key === FINISHED_KEY).map(({ handle }) => handle);
  return starts.length + (await releaseHeld(session, ended));
}

async function inChains(session: Session, events: readonly FedEvent[]): Promise<ChainedEvent[]> {
  const chains = await session.write<{ seq: number; depth: number; root: number }>(CHAINS, [
    events.map(({ seq }) => seq),
    events.map(({ handle }) => handle),
  ]);
  const bySeq = new Map(chains.map((chain) => [chain.seq, chain]));
  return events.map((event) => ({ ...event, ...(bySeq.get(event.seq) ?? { depth: 1, root: event.seq }) }));
}

async function startsOf(
  session: Session,
  { id, name, event, project, afterSeq, filter }: ActiveTrigger,
  events: readonly ChainedEvent[],
  verdictOf: VerdictOf | undefined,
): Promise<NewStart[]> {
  const matches = eventMatcher(event);
  const starts: NewStart[] = [];
  for (const { seq, depth, root, ...published } of events) {
    if (seq <= afterSeq || (published.project !== null && published.project !== project) || !matches(published.name))
      continue;
    const verdict = filter === null ? { holds: true } : await askFilter(session, filter, seq, verdictOf);
    if ('holds' in verdict && !verdict.holds) continue;
    const reason = 'fault' in verdict ? `its filter ${filter ?? ''} failed: ${verdict.fault}` : null;
    starts.push({ trigger: id, seq, handle: startHandle(name, id, seq), depth, root, reason });
  }
  return starts;
}

/** What an event carries is read for filters alone, one event after the other. */
async function askFilter(
  session: Session,
  filter: string,
  seq: number,
  verdictOf: VerdictOf | undefined,
): Promise<ReturnType<VerdictOf>> {
  if (verdictOf === undefined) throw new Error('bug: a trigger has a filter, and nothing here reads it');
  const [event] = await session.write<{ id: string; name: string; data: Json; at: Date }>(
    `select handle || '/' || key as id, name, data, at from published_events where seq = $1`,
    [seq],
  );
  // A lost worker had published it, and it is taken back meanwhile.
  if (event === undefined) return { holds: false };
  return verdictOf(filter, { ...event, seq, at: event.at.getTime() });
}

async function writeStarts(session: Session, starts: readonly NewStart[]): Promise<void> {
  if (starts.length === 0) return;
  const chain = `a chain of ${CHAIN_MAX} runs, each started by an event of the one before, ends here: let its definitions publish something the trigger does not match`;
  const bounded = await withinRoots(session, starts);
  const reasons = bounded.map(({ depth, reason }) => (depth > CHAIN_MAX ? chain : reason && withoutNul(reason)));
  await session.write(
    `insert into trigger_starts (trigger_id, seq, handle, depth, state, reason, root)
     select n.id, n.seq, n.handle, n.depth, case when n.reason is null then 'waiting' else 'refused' end, n.reason, n.root
     from unnest($1::text[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::bigint[]) as n(id, seq, handle, depth, reason, root)
     on conflict do nothing`,
    [
      starts.map((start) => start.trigger),
      starts.map((start) => start.seq),
      starts.map((start) => start.handle),
      starts.map((start) => start.depth),
      reasons,
      starts.map((start) => start.root),
    ],
  );
}

/** Whatever an event from outside matches is started; what its runs start by their own events is counted. */
async function withinRoots(session: Session, starts: readonly NewStart[]): Promise<NewStart[]> {
  const roots = [...new Set(starts.flatMap(({ depth, root }) => (depth > 1 ? [root] : [])))];
  if (roots.length === 0) return [...starts];
  const counts = await session.write<{ root: number; runs: number }>(
    `select root, count(*)::int as runs from trigger_starts
     where root = any($1::bigint[]) and state in ('waiting', 'started') group by root`,
    [roots],
  );
  const runs = new Map(counts.map(({ root, runs: count }) => [root, count]));
  return starts.map((start) => {
    const { depth, root, reason } = start;
    if (reason !== null) return start;
    const count = runs.get(root) ?? 0;
    if (depth > 1 && count >= RUNS_OF_EVENT_MAX)
      return {
        ...start,
        reason: `${RUNS_OF_EVENT_MAX} runs came of event ${root} already, each by an event of another of them: let the trigger match less (a name, or a filter over $event)`,
      };
    runs.set(root, count + 1);
    return start;
  });
}

/** The last event waits for quiet; those before it have had their time. */
async function supersede(session: Session, { id, debounceMs }: ActiveTrigger): Promise<void> {
  await session.write(
    `with last as (
       select seq, handle from trigger_starts where trigger_id = $1 and state = 'waiting' and attempts = 0
       order by seq desc limit 1)
     update trigger_starts s set
       state = case when s.seq = last.seq then 'waiting' else 'superseded' end,
       held_by = case when s.seq = last.seq then null else last.handle end,
       not_before = clock_timestamp() + $2 * interval '1 ms'
     from last where s.trigger_id = $1 and s.state = 'waiting' and s.attempts = 0`,
    [id, debounceMs],
  );
}

/** Readable, and the same whoever computes it: that makes starting idempotent. */
export function startHandle(name: string, triggerId: string, seq: number): string {
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, 60);
  const digest = createHash('sha256').update(`${triggerId} ${seq}`).digest('hex').slice(0, 16);
  return `${words === '' ? 'run' : words}-${digest}`;
}
