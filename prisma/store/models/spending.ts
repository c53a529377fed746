/** What models cost: one row a request, and their sums. */
import type { CostGroup, CostSum, Spent, SpendingOf, SpendingStore } from '../contract/models/spending-contract.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';

type Query = (text: string, values: readonly unknown[]) => Promise<unknown>;

export const SETTLE = `insert into spending (handle, conversation, turn, attempt, outcome, model, input, output, cache_read, cache_write, thinking, estimated, usd, persona)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, (select persona from runs where runs.handle = $1))
  on conflict (handle, conversation, turn, attempt) do update set outcome = excluded.outcome, model = excluded.model,
    input = excluded.input, output = excluded.output, cache_read = excluded.cache_read, cache_write = excluded.cache_write,
    thinking = excluded.thinking, estimated = excluded.estimated, usd = excluded.usd`;

/** Of `SETTLE`: `$1` to `$13`. */
export function settledValues(
  { handle, conversation, turn, attempt }: SpendingOf,
  outcome: 'answered' | 'failed',
  { model, tokens, usd }: Spent,
): unknown[] {
  const { input, output, cacheRead, cacheWrite, thinking, estimated } = tokens;
  return [
    handle,
    conversation,
    turn,
    attempt,
    outcome,
    model === null ? null : withoutNul(model),
    input,
    output,
    cacheRead,
    cacheWrite,
    thinking,
    estimated,
    usd,
  ];
}

export async function settleSpending(
  query: Query,
  of: SpendingOf,
  outcome: 'answered' | 'failed',
  spent: Spent,
): Promise<void> {
  await query(SETTLE, settledValues(of, outcome, spent));
}

/** `$1` is the run whose tree is summed, or null. */
const GROUPS: Record<CostGroup, string> = {
  model: `coalesce(model, '')`,
  sentinel: `coalesce(name, '')`,
  day: `to_char(at at time zone 'UTC', 'YYYY-MM-DD')`,
  persona: `coalesce(persona, '')`,
  run: 'handle',
  step: `case when $1::text is null then coalesce(name, '') || ' ' || regexp_replace(conversation, '[@#~].*$', '')
    else substr(handle || '/' || regexp_replace(conversation, '/turn\\..*$', ''), length($1) + 2) end`,
};

const sumOf = (group: CostGroup): string => `with spent as (
    select s.*, r.name,
      s.outcome = 'asked' and (r.finished_at is not null
        or lead(s.at) over (partition by s.handle, s.conversation, s.turn order by s.position) is not null) as is_lost
    from spending s left join runs r on r.handle = s.handle
    where ($1::text is null or s.handle = $1 or starts_with(s.handle, $1 || '/'))
      and ($2::timestamptz is null or s.at >= $2) and ($3::text is null or r.persona = $3))
  select ${GROUPS[group]} as "group", grouping(${GROUPS[group]}) = 1 as "isTotal",
    count(*)::float8 as requests,
    count(*) filter (where outcome = 'failed')::float8 as failed,
    count(*) filter (where is_lost)::float8 as lost,
    count(*) filter (where estimated)::float8 as estimated,
    coalesce(sum(input), 0)::float8 as input, coalesce(sum(output), 0)::float8 as output,
    coalesce(sum(cache_read), 0)::float8 as "cacheRead", coalesce(sum(cache_write), 0)::float8 as "cacheWrite",
    coalesce(sum(thinking), 0)::float8 as thinking,
    coalesce(sum(usd), 0)::float8 as usd,
    coalesce(sum(input + output + cache_read + cache_write) filter (where usd is null), 0)::float8 as "unpricedTokens"
  from spent group by grouping sets ((${GROUPS[group]}), ())
  order by ${group === 'day' ? '' : 'usd desc, sum(input + output + cache_read + cache_write) desc,'} "group"`;

interface Row extends CostSum {
  group: string | null;
  isTotal: boolean;
}

const nothing: CostSum = {
  requests: 0,
  failed: 0,
  lost: 0,
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  thinking: 0,
  estimated: 0,
  usd: 0,
  unpricedTokens: 0,
};

export function spending(database: Database): SpendingStore {
  return {
    failed: (of, spent) => settleSpending((text, values) => database.query(text, values), of, 'failed', spent),
    async withdraw({ handle, conversation, turn, attempt }) {
      await database.query(
        `delete from spending where handle = $1 and conversation = $2 and turn = $3 and attempt = $4 and outcome = 'asked'`,
        [handle, conversation, turn, attempt],
      );
    },
    async sum({ handle, persona, since, by }) {
      const found = await database.query<Row>(sumOf(by), [
        handle === undefined ? null : withoutNul(handle),
        since === undefined ? null : new Date(since),
        persona === undefined ? null : withoutNul(persona),
      ]);
      const total = found.find(({ isTotal }) => isTotal);
      const sum = ({ group: _group, isTotal: _isTotal, ...rest }: Row): CostSum => rest;
      return {
        total: total === undefined ? nothing : sum(total),
        rows: found.flatMap((row) => (row.isTotal ? [] : [{ group: row.group ?? '', ...sum(row) }])),
      };
    },
  };
}
