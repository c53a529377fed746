/** What runs of a persona may use in a day: counted exactly, summed over its own rows alone, and free for those without. */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { DayBudgets } from '../../../activities/limits/day-budgets.ts';
import { askForDay } from '../../../activities/local/days.ts';
import { dayAt } from '../../../language/references/days.ts';
import type { PersonaDayStore } from '../../../prisma/store/contract/persona-contract.ts';
import { USED } from '../../../prisma/store/runs/persona-days.ts';
import { WaitingRows } from '../../../prisma/store/contract/session-contract.ts';
import { finished, useStore } from '../harness/opened.ts';

const opened = useStore();

async function sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: opened.database.url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

async function run(handle: string, persona: string): Promise<void> {
  const row = { handle, name: 'stored', definitionHash: 'h', project: '/one', persona, parent: null, inputs: {} };
  await opened.store.runs.create({ ...row, startedAt: 5 });
}

const limit = (persona: string, { usd = null, tokens = null, steps = null, zone = 'UTC' }: Partial<Bounds>) =>
  sql(
    `insert into limits_of_personas (persona, usd_a_day, tokens_a_day, steps_a_day, time_zone, set_by)
     values ($1, $2, $3, $4, $5, 'ada')
     on conflict (persona) do update set usd_a_day = $2, tokens_a_day = $3, steps_a_day = $4, time_zone = $5`,
    [persona, usd, tokens, steps, zone],
  );
interface Bounds {
  usd: number | null;
  tokens: number | null;
  steps: number | null;
  zone: string;
}

async function turn(handle: string, number: number, usd: number | null): Promise<void> {
  const of = { handle, conversation: 'steps.0@1' };
  const attempt = `steps.0@1/turn.${number} 1`;
  await opened.store.conversations.claim(of, number, attempt);
  const tokens = { input: 100, output: 10, cacheRead: 5, cacheWrite: 1, thinking: 3, estimated: false };
  await opened.store.conversations.answer(
    of,
    number,
    {},
    { role: 'assistant', blocks: [] },
    {
      attempt,
      spent: { model: 'a/b', tokens, usd },
      asked: { asker: attempt, requests: [] },
    },
  );
}

test('sums dollars and tokens of its runs, the nested ones too, since the day began', async () => {
  await run('one', 'sum-ai');
  await run('one/steps.0@1', 'sum-ai');
  await run('other', 'ada');
  await turn('one', 1, 0.5);
  await turn('one/steps.0@1', 1, 0.25);
  await turn('one', 2, null);
  await turn('other', 1, 8);
  // Paid for, and of no use; and asked for, with nothing known of it yet.
  const tokens = { input: 10, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0, estimated: false };
  await opened.store.spending.failed(
    { handle: 'one', conversation: 'steps.1@1', turn: 1, attempt: 'a' },
    { model: 'a/b', tokens, usd: 0.125 },
  );
  await opened.store.conversations.claim({ handle: 'one', conversation: 'steps.2@1' }, 1, 'a');
  await turn('one', 3, 100);
  await sql(`update spending set at = now() - interval '3 days' where handle = 'one' and turn = 3`);
  const day = dayAt(Date.now() - 60_000, 'UTC');
  expect(await opened.store.personaDays.used('sum-ai', day)).toEqual({ usd: 0.875, tokens: 3 * 116 + 10, steps: 0 });
  expect(await opened.store.personaDays.used('nobody', day)).toEqual({ usd: 0, tokens: 0, steps: 0 });
});

test('what many have used is one statement, in their order, each since its own day began', async () => {
  const { personaDays } = opened.store;
  const ids = ['each-0', 'each-1', 'each-2'];
  for (const [at, id] of ids.entries()) {
    await run(`of-${id}`, id);
    await turn(`of-${id}`, 1, at + 1);
    for (let n = 0; n < at; n += 1) await personaDays.beginStep(id, '2026-11-30', 10);
  }
  const now = Date.now();
  const asked = ids.map((persona, at) => ({ persona, day: { date: '2026-11-30', from: at === 1 ? now + 60_000 : 0 } }));
  expect(await personaDays.usedByEach(asked.toReversed())).toEqual([
    { usd: 3, tokens: 116, steps: 2 },
    { usd: 0, tokens: 0, steps: 1 },
    { usd: 1, tokens: 116, steps: 0 },
  ]);
  expect(await personaDays.usedByEach([])).toEqual([]);
});

test('a look reads the rows of the persona and of the day alone, however many there are', async () => {
  await sql(
    `insert into spending (handle, conversation, turn, attempt, at, persona, usd)
     select 'many-' || n, 'c', 1, 'a', now() - (n % 400) * interval '1 hour', case n % 50 when 0 then 'rare-ai' else 'much-ai' end, 0.01
     from generate_series(1, 40000) n`,
  );
  await sql('analyze spending');
  const from = new Date(Date.now() - 24 * 3_600_000).toISOString();
  const text = USED.replace('$1', `'rare-ai'`)
    .replace('$1', `'rare-ai'`)
    .replace('$2', `'2026-11-30'`)
    .replace('$3', `'${from}'`);
  const [row] = await sql<{ 'QUERY PLAN': { Plan: Node }[] }>(`explain (analyze, format json) ${text}`);
  const nodes = nodesOf(row?.['QUERY PLAN'][0]?.Plan ?? {});
  expect(nodes.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  expect(nodes.find((node) => node['Index Name'] === 'spending_persona_at_idx')).toBeDefined();
  const removed = nodes.map((node) => node['Rows Removed by Filter'] ?? 0);
  expect(Math.max(...removed)).toBe(0);
});

interface Node {
  'Node Type'?: string;
  'Index Name'?: string;
  'Rows Removed by Filter'?: number;
  Plans?: Node[];
}
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap((one) => nodesOf(one))];

const codeOf = (result: PromiseSettledResult<unknown>): string =>
  result.status === 'fulfilled' ? 'begun' : (result.reason as { code: string }).code;

test('of many steps that begin at once, on several workers, no more begin than there may', async () => {
  await limit('race-ai', { steps: 10 });
  const [worker, other] = [new DayBudgets(opened.store.personaDays), new DayBudgets(opened.store.personaDays)];
  const begun = await Promise.allSettled(
    Array.from({ length: 30 }, (_, n) =>
      (n % 2 === 0 ? worker : other).begin({ persona: 'race-ai', handle: 'run', key: `steps.${n}@1` }),
    ),
  );
  const codes = begun.map(codeOf);
  expect(codes.filter((code) => code === 'begun')).toHaveLength(10);
  expect(new Set(codes)).toEqual(new Set(['begun', 'PERSONA_BUDGET_SPENT']));
  const refused = worker.begin({ persona: 'race-ai', handle: 'run', key: 'steps.0@1' });
  await expect(refused).rejects.toMatchObject({
    message: expect.stringMatching(
      /^10 of 10 steps are used that race-ai has on \d{4}-\d\d-\d\d \(UTC\); "sentinel persona limit race-ai --budget-steps …" gives it more$/,
    ) as string,
    details: { persona: 'race-ai', kind: 'steps' },
  });
  // A clean-up is done all the same, and counted.
  await worker.begin({ persona: 'race-ai', handle: 'run', key: 'always.0@1' });
  await worker.begin({ persona: 'race-ai', handle: 'run', key: 'steps.2.always.0@1.3' });
  // So are the runs nested in it, and no run whose name only looks like it.
  await worker.begin({ persona: 'race-ai', handle: 'run/always.0@1/steps.0@1', key: 'steps.3@1' });
  const named = { persona: 'race-ai', handle: 'always.0@1', key: 'steps.3@1' };
  await expect(worker.begin(named)).rejects.toMatchObject({ code: 'PERSONA_BUDGET_SPENT' });
  await expect(worker.begin({ persona: 'race-ai', handle: 'run', key: 'steps.1@1' })).rejects.toMatchObject({
    code: 'PERSONA_BUDGET_SPENT',
  });
  expect((await opened.store.personaDays.used('race-ai', dayAt(Date.now(), 'UTC'))).steps).toBe(13);
});

test('quick steps are counted with the commit of their segment, and bounded before it', async () => {
  await limit('quick-ai', { steps: 3 });
  const days = new DayBudgets(opened.store.personaDays);
  const rows = new WaitingRows();
  for (const n of [0, 1, 2]) await days.beginQuick({ persona: 'quick-ai', handle: 'run', key: `steps.${n}@1` }, rows);
  await expect(days.beginQuick({ persona: 'quick-ai', handle: 'run', key: 'steps.3@1' }, rows)).rejects.toMatchObject({
    code: 'PERSONA_BUDGET_SPENT',
  });
  const day = dayAt(Date.now(), 'UTC');
  expect((await opened.store.personaDays.used('quick-ai', day)).steps).toBe(0);
  const session = opened.store.session();
  for (const row of rows.all) session.later(...row);
  await session.end();
  expect((await opened.store.personaDays.used('quick-ai', day)).steps).toBe(3);
});

const not = (): Promise<boolean> => Promise.resolve(false);

test('a turn is held back once dollars are spent, and goes on where it is under way', async () => {
  await run('turns', 'turn-ai');
  await limit('turn-ai', { usd: 1 });
  const days = new DayBudgets(opened.store.personaDays);
  const asks = { run: { handle: 'run' }, asker: 'steps.0@1/turn.2', heldTo: 'turn-ai' };
  await days.hold(asks, not);
  await turn('turns', 1, 1.25);
  await expect(days.hold(asks, not)).rejects.toMatchObject({
    code: 'PERSONA_BUDGET_SPENT',
    message: expect.stringContaining('1.25 of 1 US dollars') as string,
  });
  await days.hold(asks, () => Promise.resolve(true));
  await days.hold({ run: { handle: 'run' }, asker: 'always.0@1/turn.1', heldTo: 'turn-ai' }, not);
  const nested = { run: { handle: 'run/steps.1.always.0@1' }, heldTo: 'turn-ai' };
  await days.hold({ ...nested, asker: 'steps.0@1/turn.1' }, not);
  // What asks has begun.
  await days.hold({ run: { handle: 'run' }, asker: 'steps.0@1' }, not);
  await expect(days.begin({ persona: 'turn-ai', handle: 'run', key: 'steps.1@1' })).rejects.toMatchObject({
    details: { kind: 'usd' },
  });
});

test('of a persona without a budget one small read in a second is made', async () => {
  let reads = 0;
  const counted: PersonaDayStore = {
    ...opened.store.personaDays,
    budget: (persona) => {
      reads += 1;
      return opened.store.personaDays.budget(persona);
    },
    used: () => Promise.reject(new Error('nothing is summed')),
    beginStep: () => Promise.reject(new Error('nothing is counted')),
  };
  let now = 0;
  const days = new DayBudgets(counted, () => now);
  for (let n = 0; n < 1_000; n += 1) {
    now += 1;
    await days.begin({ persona: 'free', handle: 'run', key: 'steps.0@1' });
    await days.beginQuick({ persona: 'free', handle: 'run', key: 'steps.0@1' }, new WaitingRows());
    await days.hold({ run: { handle: 'run' }, asker: 'steps.0@1/turn.1', heldTo: 'free' }, () =>
      Promise.resolve(false),
    );
  }
  expect(reads).toBe(1);
  now += 1_000;
  await limit('free', { tokens: 1 });
  await expect(days.begin({ persona: 'free', handle: 'run', key: 'steps.0@1' })).rejects.toThrow('nothing is summed');
});

test('looks that are made at the same time are one, and of one that failed nothing is kept', async () => {
  let reads = 0;
  let isAway = true;
  const counted: PersonaDayStore = {
    ...opened.store.personaDays,
    budget: async (persona) => {
      reads += 1;
      if (isAway) throw new Error('the store is away');
      return opened.store.personaDays.budget(persona);
    },
  };
  const days = new DayBudgets(counted);
  const begins = Array.from({ length: 50 }, (_, n) => ({
    persona: 'side-by-side',
    handle: 'run',
    key: `steps.${n}@1`,
  }));
  const all = () =>
    Promise.allSettled(
      begins.flatMap((one) => [
        days.begin(one),
        days.beginQuick(one, new WaitingRows()),
        days.hold({ run: { handle: 'run' }, asker: one.key, heldTo: one.persona }, not),
      ]),
    );
  expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(reads).toBe(1);
  isAway = false;
  expect(new Set((await all()).map(({ status }) => status))).toEqual(new Set(['fulfilled']));
  expect(reads).toBe(2);
});

test('a quick step is held back by what is true now, the steps of its own segment with it', async () => {
  await limit('fresh-ai', { steps: 2 });
  const days = new DayBudgets(opened.store.personaDays, () => 0);
  const rows = new WaitingRows();
  const begin = (n: number) => days.beginQuick({ persona: 'fresh-ai', handle: 'run', key: `steps.${n}@1` }, rows);
  await begin(0);
  await begin(1);
  await limit('fresh-ai', { steps: 3 });
  await begin(2);
  await expect(begin(3)).rejects.toMatchObject({ code: 'PERSONA_BUDGET_SPENT' });
});

test('a run that waits is known while it does, and no more once there is budget, or it has ended', async () => {
  const { personaDays } = opened.store;
  await run('waits', 'wait-ai');
  const context = { handle: 'waits', persona: 'wait-ai', project: '/one', definitionHash: 'h' };
  expect(await askForDay(opened.store, context)).toBeNull();
  await limit('wait-ai', { steps: 0, zone: 'Asia/Kathmandu' });
  const day = dayAt(Date.now(), 'Asia/Kathmandu');
  expect(await askForDay(opened.store, context)).toMatchObject({ until: day.until });
  expect(await personaDays.waits(['waits', 'one'])).toEqual(new Map([['waits', day.until]]));
  // Tomorrow has a budget of its own, and this one is none.
  expect(await askForDay(opened.store, context, day.until)).not.toBeNull();
  await limit('wait-ai', { steps: 5, zone: 'Asia/Kathmandu' });
  // Another line of the run may wait for that day; the last one that leaves says that the run waits no more.
  expect(await askForDay(opened.store, context)).toBeNull();
  const { until } = dayAt(day.until, 'Asia/Kathmandu');
  expect(await personaDays.waits(['waits'])).toEqual(new Map([['waits', until]]));
  await personaDays.go('waits');
  expect(await personaDays.waits(['waits'])).toEqual(new Map());
  await personaDays.wait('waits', 'wait-ai', day.until);
  await opened.store.events.append('waits', [finished(9)]);
  expect(await personaDays.waits(['waits'])).toEqual(new Map());
  await personaDays.sweep();
  expect(await sql('select 1 from waits_for_days')).toEqual([]);
});
