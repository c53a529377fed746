/**
 * Items that somebody has posted for a persona, and how one is dealt with once:
 *
 * - I1 An item is taken by one run, or by one person. It is free again once that run has ended, or its time is over.
 * - I2 Only who has it closes it; so nobody does who has lost it to another.
 * - I3 Of several who take at the same time, each gets another item, and none waits.
 */
import type { Json } from '../../language/json.ts';
import type { Priority } from '../../language/events/question.ts';
import { personaOfCaller, projectOfModel } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { withoutNul } from '../../prisma/store/connection/jsonb-text.ts';

export const KINDS = ['task', 'question', 'notice', 'completion'] as const;
export type Kind = (typeof KINDS)[number];
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const satisfies readonly Priority[];

export interface Posted {
  id: string;
  persona: string;
  kind: Kind;
  message: string;
  show: Json;
  domain: string | null;
  priority: Priority;
}

export interface Item extends Posted {
  /** Who posted it; `handle`: the run that did, null for a person. */
  by: string;
  handle: string | null;
  byModel: boolean;
  at: number;
  state: 'open' | 'taken' | 'done' | 'dropped';
  takenBy: string | null;
  takenHandle: string | null;
  takenUntil: number | null;
  answer: Json;
  closedBy: string | null;
}

interface Row extends Omit<Item, 'at' | 'takenUntil'> {
  at: Date;
  takenUntil: Date | null;
}

const IS_FREE = `(i.state = 'open' or (i.state = 'taken' and (i.taken_until <= clock_timestamp()
  or exists (select 1 from runs r where r.handle = i.taken_handle and r.finished_at is not null))))`;

const COLUMNS = `i.id, i.persona, i.kind, i.message, i.show, i.domain, i.priority, i.posted_by as "by", i.posted_handle as "handle",
  i.by_model as "byModel", i.posted_at as "at", i.taken_by as "takenBy", i.taken_handle as "takenHandle", i.taken_until as "takenUntil",
  i.answer, i.closed_by as "closedBy", i.state`;

const toItem = ({ at, takenUntil, ...row }: Row): Item => ({
  ...row,
  at: at.getTime(),
  takenUntil: takenUntil?.getTime() ?? null,
});

/** The same step posts the same once. False: it has. */
export async function post(context: Context, { id, persona, kind, message, show, domain, priority }: Posted) {
  const { tx, run, caller } = context;
  const isStep = caller.kind === 'step';
  const rows = await tx.query(
    `insert into inbox_items (id, persona, kind, message, show, domain, priority, posted_by, posted_handle, by_model, project)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing returning 1`,
    [
      id,
      persona,
      kind,
      withoutNul(message),
      JSON.stringify(show),
      domain === null ? null : withoutNul(domain),
      priority,
      withoutNul(personaOfCaller(context)),
      isStep ? run.handle : null,
      isStep && caller.byModel,
      isStep ? run.project : null,
    ],
  );
  return rows.length > 0;
}

export interface Wanted {
  persona?: string | undefined;
  domain?: string | undefined;
  kind?: Kind | undefined;
  /** Posted by this run, or one nested in it. */
  handle?: string | undefined;
  id?: string | undefined;
}

/** Of what waits, the most pressing and oldest first; of all, the newest first. */
export async function items(
  context: Context,
  wanted: Wanted,
  { order, limit }: { order: 'next' | 'newest' | 'all'; limit: number },
): Promise<Item[]> {
  const { persona, domain, kind, handle, id } = wanted;
  const rows = await context.tx.query<Row & { isFree: boolean }>(
    `select ${COLUMNS}, ${IS_FREE} as "isFree" from inbox_items i
     where ($1::text is null or i.persona = $1) and ($2::text is null or i.domain = $2) and ($3::text is null or i.kind = $3)
       and ($4::text is null or i.posted_handle = $4 or starts_with(i.posted_handle, $4 || '/')) and ($5::text is null or i.id = $5)
       and ($6::text is null or i.project is null or i.project = $6)
       and ${order === 'all' ? 'true' : order === 'next' ? IS_FREE : "i.state in ('open', 'taken')"}
     order by ${order === 'next' ? 'i.rank, i.seq' : 'i.seq desc'} limit $7`,
    [persona, domain, kind, handle, id, projectOfModel(context), limit].map(textOrNull),
  );
  return rows.map(({ isFree, ...row }) => toItem(isFree ? freed(row) : row));
}

const textOrNull = (value: string | number | null | undefined): string | number | null =>
  typeof value === 'string' ? withoutNul(value) : (value ?? null);

const freed = (row: Row): Row => ({ ...row, state: 'open', takenBy: null, takenHandle: null, takenUntil: null });

export interface Taker {
  name: string;
  /** Of the run; null for a person. */
  handle: string | null;
}

/** Null: there is none that is free. Whoever has the item that is named has it for longer. */
export async function take(
  { tx }: Context,
  { persona, domain, kind, id }: Omit<Wanted, 'handle'>,
  { taker, forMs }: { taker: Taker; forMs: number },
): Promise<Item | null> {
  const [row] = await tx.query<Row>(
    `with next as (
       select i.seq from inbox_items i
       where i.persona = $1 and ($2::text is null or i.domain = $2) and ($3::text is null or i.kind = $3)
         and ($4::text is null or i.id = $4) and i.state in ('open', 'taken')
         and (${IS_FREE} or ($4::text is not null and i.taken_by = $5 and i.taken_handle is not distinct from $6))
       order by i.rank, i.seq limit 1 for update skip locked
     )
     update inbox_items i set state = 'taken', taken_by = $5, taken_handle = $6,
       taken_until = clock_timestamp() + $7::double precision * interval '1 millisecond'
     from next where i.seq = next.seq returning ${COLUMNS}`,
    [persona, domain, kind, id, taker.name, taker.handle, forMs].map(textOrNull),
  );
  return row === undefined ? null : toItem(row);
}

export async function find({ tx }: Context, id: string): Promise<Item | null> {
  const [row] = await tx.query<Row>(`select ${COLUMNS} from inbox_items i where i.id = $1`, [withoutNul(id)]);
  return row === undefined ? null : toItem(row);
}

/** Null where it is not theirs to close. A person also closes what waits for them, without taking it. */
export async function close(
  { tx }: Context,
  id: string,
  { taker, state, answer }: { taker: Taker; state: 'done' | 'dropped'; answer: Json },
): Promise<Item | null> {
  const [row] = await tx.query<Row>(
    `update inbox_items i set state = $4, answer = $5, closed_by = $2, closed_at = clock_timestamp()
     where i.id = $1 and ((i.state = 'taken' and i.taken_by = $2 and i.taken_handle is not distinct from $3)
       or ($3::text is null and i.persona = $2 and ${IS_FREE}))
     returning ${COLUMNS}`,
    [withoutNul(id), withoutNul(taker.name), taker.handle, state, JSON.stringify(answer)],
  );
  return row === undefined ? null : toItem(row);
}

/** Closes what is for `by`, needs no answer, and is with nobody: one item, or the notices and completions, of a run if one is named. How many. */
export async function acknowledge(
  { tx }: Context,
  { id, handle, by }: { id?: string; handle?: string; by: string },
): Promise<number> {
  const rows = await tx.query(
    `update inbox_items i set state = 'done', closed_by = $3, closed_at = clock_timestamp()
     where i.persona = $3 and ${IS_FREE} and i.kind <> 'question' and ($1::text is not null or i.kind <> 'task')
       and ($1::text is null or i.id = $1) and ($2::text is null or i.posted_handle = $2)
     returning 1`,
    [id, handle, by].map(textOrNull),
  );
  return rows.length;
}
