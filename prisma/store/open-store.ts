/**
 * The store on Postgres: statements of SQL over one pool of connections, and Prisma beside it for work that lasts
 * (docs/internal/decisions/0003-hot-paths-speak-sql.md). The schema must be there already: migrate.ts.
 */
import type { Json } from '../../language/json.ts';
import type { Store } from './contract/contract.ts';
import { Database } from './connection/database.ts';
import { cassettes } from './models/cassettes.ts';
import { evaluations } from './evaluations/evaluations.ts';
import { definitions } from './values/definitions.ts';
import { logs } from './logs/logs.ts';
import { inbox } from './runs/inbox.ts';
import { leases } from './runs/leases.ts';
import { installation } from './values/installation.ts';
import { incidents } from './runs/incidents.ts';
import { personaDays } from './runs/persona-days.ts';
import { personaLimits } from './runs/persona-limits.ts';
import { lostSteps } from './runs/lost-steps.ts';
import { limits } from './models/limits.ts';
import { notifications } from './events/notifications.ts';
import { LazyPrisma } from './connection/prisma-client.ts';
import { evaluationsOf } from './lasting/evaluations.ts';
import { askedRuns, requestHead } from './lasting/samples.ts';
import { executions } from './logs/executions.ts';
import { calls } from './models/calls.ts';
import { checkpoints } from './values/checkpoints.ts';
import { conversations } from './models/conversations.ts';
import { rawAnswers } from './models/raw-answers.ts';
import { recordsIn } from './values/records.ts';
import { savedSentinels } from './values/saved-sentinels.ts';
import { runEvents } from './runs/run-events.ts';
import { runs } from './runs/runs.ts';
import { secrets } from './values/secrets.ts';
import { spending } from './models/spending.ts';
import { StoreSession } from './runs/session.ts';
import { SharedReads } from './runs/shared-reads.ts';
import { systemTables } from './systems/system-tables.ts';
import { cursors } from './events/cursors.ts';
import { signals } from './events/signals.ts';
import { triggers } from './events/triggers.ts';
import { webhooks } from './events/webhooks.ts';
import { Announcer, Listener } from './events/wakeups.ts';

export { JournalConflict, isJournalConflict } from './contract/journal-conflict.ts';
export { isUnavailable } from './connection/unavailable.ts';

const POOL_SIZE = 10;

export function openStore(options: { url: string; poolSize?: number }): Store {
  const database = new Database(options.url, options.poolSize ?? POOL_SIZE);
  const prisma = new LazyPrisma(database);
  const announcer = new Announcer(database);
  const listener = new Listener(options.url);
  const transactions = new Set<StoreSession>();
  const sharedReads = new SharedReads((text, values) => database.query(text, values));
  return {
    definitions: definitions(database),
    sentinels: savedSentinels,
    runs: { ...runs(database), asked: (query) => askedRuns(prisma, query) },
    events: runEvents(database, announcer, listener),
    inbox: inbox(database),
    logs: logs(database, announcer, listener),
    payloads: payloads(database),
    records: recordsIn(database),
    secrets: secrets(database),
    conversations: conversations(database),
    cassettes: { ...cassettes(database), head: (of) => requestHead(prisma, of) },
    evaluations: { ...evaluations(database), list: (file, limit) => evaluationsOf(prisma, file, limit) },
    rawAnswers: rawAnswers(database),
    calls: calls(database),
    checkpoints: checkpoints(database),
    systems: systemTables(database),
    cursors: cursors(database),
    spending: spending(database),
    incidents: incidents(database),
    lostSteps: lostSteps(database),
    limits: limits(database),
    leases: leases(database, announcer, listener),
    personaLimits: personaLimits(database),
    personaDays: personaDays(database),
    notifications: notifications(database),
    signals: signals(database, announcer, listener),
    executions: executions(database, announcer, listener),
    triggers: triggers(database, announcer, listener),
    webhooks: webhooks(database, announcer),
    journal: journal(database),
    session: () =>
      new StoreSession(database, sharedReads, transactions, (handle, events) =>
        announcer.announceEvents(handle, events),
      ),
    ...installation(database),
    async ping() {
      await database.query('select 1', []);
    },
    async close() {
      await Promise.all([...transactions].map((session) => session.close()));
      await announcer.flush();
      await listener.close();
      await prisma.close();
      await database.close();
    },
  };
}

function journal(database: Database): Store['journal'] {
  return {
    async find(handle, key) {
      const [row] = await database.query<{ result: Json }>(
        'select result from journal where handle = $1 and key = $2',
        [handle, key],
      );
      return row?.result ?? null;
    },
    async latest(handle, prefix) {
      const [row] = await database.query<{ key: string; result: Json }>(
        `select key, result from journal where handle = $1 and starts_with(key, $2) and result::text <> 'null' limit 1`,
        [handle, prefix],
      );
      return row ?? null;
    },
    async rows(handle, prefix) {
      const rows = await database.query<{ result: Json }>(
        `select result from journal where handle = $1 and starts_with(key, $2)
         order by substr(key, length($2) + 1)::integer`,
        [handle, prefix],
      );
      return rows.map(({ result }) => result);
    },
    async note(handle, key) {
      await database.query(
        `insert into journal (handle, key, result) values ($1, $2, 'true') on conflict (handle, key) do nothing`,
        [handle, key],
      );
    },
    async keep(handle, key, value) {
      await database.query(
        `insert into journal (handle, key, result) values ($1, $2, $3)
         on conflict (handle, key) do update set result = excluded.result`,
        [handle, key, JSON.stringify(value)],
      );
    },
    async isBeyond(handle, seq) {
      const rows = await database.query('select 1 from journal where handle = $1 and seq >= $2 limit 1', [handle, seq]);
      return rows.length > 0;
    },
    async sweep() {
      await database.query(
        `delete from journal using runs where journal.handle = runs.handle and runs.finished_at < now() - interval '1 day'
           and not journal.lasts`,
        [],
      );
      // As text: no operator of JSON takes what holds a NUL, as a result may.
      await database.query(
        `delete from journal where handle = '@emit' and substring(result::text from '^{"at":(\\d+)')::double precision < extract(epoch from now() - interval '1 day') * 1000`,
        [],
      );
    },
  };
}

function payloads(database: Database): Store['payloads'] {
  return {
    async put(hash, content) {
      // Shares the caller's memory: a payload can be large.
      const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
      await database.query(
        'insert into payloads (hash, content, size) values ($1, $2, $3) on conflict (hash) do nothing',
        [hash, bytes, bytes.length],
      );
    },
    async get(hash) {
      const [row] = await database.query<{ content: Buffer }>('select content from payloads where hash = $1', [hash]);
      return row?.content ?? null;
    },
  };
}
