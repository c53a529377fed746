/**
 * Logs of steps, kept in chunks, read in lines. Writing the same part again replaces it: the last
 * chunk of a long log is rewritten while it moves on.
 */
import type { BegunChunk, LogChunk, LogQuery, Session, Store } from '../contract/contract.ts';
import type { BulkInsert } from '../contract/session-contract.ts';
import type { Database } from '../connection/database.ts';
import { followLog } from './follow-log.ts';
import { LogReader } from './log-reader.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { LogLines, shown } from './log-lines.ts';
import type { StoredChunk } from './log-lines.ts';
import { COLUMNS, handlesOf, WANTED, wanted, wantedParameters, type Wanted } from './wanted-chunks.ts';
import { LOG_CHANNEL } from '../events/wakeups.ts';
import type { Announcer, Listener } from '../events/wakeups.ts';

const CHUNKS_PAGE = 50;

export function logs(database: Database, announcer: Announcer, listener: Listener): Store['logs'] {
  return {
    async append(chunks, fence) {
      if (chunks.length === 0) return;
      await append(database, chunks, fence);
      announce(announcer, chunks);
    },

    add: (session, chunks) => add(session, chunks, announcer),

    begun: (log) => begun(database, log),

    streams: (handle) =>
      database.query<{ stream: string; bytes: number }>(
        'select stream, sum(bytes)::bigint as bytes from log_chunks where handle = $1 group by stream order by stream',
        [handle],
      ),

    async read(handle, stream, offset, limit) {
      const end = offset + limit;
      const log = new LogLines();
      const from = { handles: [handle], wanted: wanted(handle, { stream }) };
      for (let after = 0; log.settled < end;) {
        const page = await readPage(database, from, 'asc', after);
        for (const chunk of page) log.add(chunk);
        const last = page.at(-1);
        if (last === undefined || page.length < CHUNKS_PAGE) break;
        after = last.position;
      }
      return log.lines.slice(offset, end).map((line) => shown(line).text);
    },

    async tail(handle, query, lines) {
      const from = { handles: await handlesOf(database, handle, query), wanted: wanted(handle, query) };
      const chunks: StoredChunk[] = [];
      let breaks = 0;
      // One more line break than lines: the first line of what was read may lack its beginning.
      for (let before = Number.MAX_SAFE_INTEGER; breaks <= lines;) {
        const page = await readPage(database, from, 'desc', before);
        chunks.push(...page);
        for (const chunk of page) breaks += chunk.text.split('\n').length - 1;
        const last = page.at(-1);
        if (last === undefined || page.length < CHUNKS_PAGE) break;
        before = last.position;
      }
      const log = new LogLines();
      for (const chunk of chunks.toReversed()) log.add(chunk);
      return lines === 0 ? [] : log.lines.slice(-lines).map(shown);
    },

    isOfSeveralSteps: (handle, query) => isOfSeveralSteps(database, handle, query),

    follow: (handle, query, options) => followLog({ database, listener, handle, query, signal: options.signal }),

    reader: (handle, stream) => new LogReader({ database, handle, wanted: wanted(handle, { stream }) }),

    listen: (handle) => listener.listen(LOG_CHANNEL, handle),
  };
}

function begun(
  database: Database,
  { handle, key, attempt }: Pick<LogChunk, 'handle' | 'key' | 'attempt'>,
): Promise<BegunChunk[]> {
  return database.query<BegunChunk>(
    `select stream, part, bytes, dropped_bytes as "droppedBytes", read_bytes as "readBytes" from log_chunks
     where handle = $1 and key = $2 and attempt = $3 order by part`,
    [handle, key, attempt],
  );
}

async function isOfSeveralSteps(database: Database, handle: string, query: LogQuery): Promise<boolean> {
  const parameters = wantedParameters(await handlesOf(database, handle, query), wanted(handle, query));
  const sql = `select distinct handle, key from log_chunks where ${WANTED} limit 2`;
  return (await database.query(sql, parameters)).length > 1;
}

function add(session: Session, chunks: readonly LogChunk[], announcer: Announcer): () => void {
  for (const chunk of lastOfEachPart(chunks)) session.later(ROWS, JSON.stringify(valuesOf(chunk)));
  return () => announce(announcer, chunks);
}

function announce(announcer: Announcer, chunks: readonly LogChunk[]): void {
  for (const handle of new Set(chunks.flatMap((chunk) => withRunsAround(chunk.handle))))
    announcer.announce(LOG_CHANNEL, handle);
}

/** Followers of a run follow those nested in it, too. */
function withRunsAround(handle: string): string[] {
  const words = handle.split('/');
  return words.map((_, index) => words.slice(0, index + 1).join('/'));
}

/** The next page after a position, or the one before it. */
function readPage(
  database: Database,
  from: { handles: readonly string[]; wanted: Wanted },
  direction: 'asc' | 'desc',
  position: number,
): Promise<StoredChunk[]> {
  return database.query<StoredChunk>(
    `select ${COLUMNS} from log_chunks where ${WANTED} and position ${direction === 'asc' ? '>' : '<'} $7
     order by position ${direction} limit ${CHUNKS_PAGE}`,
    [...wantedParameters(from.handles, from.wanted), position],
  );
}

async function append(database: Database, chunks: readonly LogChunk[], fence: number | undefined): Promise<void> {
  const rows = lastOfEachPart(chunks);
  for (let start = 0; start < rows.length; start += CHUNKS_PAGE)
    await write(database, rows.slice(start, start + CHUNKS_PAGE), fence);
}

/** A statement may write a row once only. */
function lastOfEachPart(chunks: readonly LogChunk[]): LogChunk[] {
  const parts = new Map(
    chunks.map((chunk) => [JSON.stringify([chunk.handle, chunk.key, chunk.stream, chunk.attempt, chunk.part]), chunk]),
  );
  return [...parts.values()];
}

const COLUMNS_WRITTEN = 'handle, key, stream, attempt, part, text, bytes, dropped_bytes, read_bytes';
const WRITTEN_AGAIN = `on conflict (handle, key, stream, attempt, part) do update set text = excluded.text, bytes = excluded.bytes,
  dropped_bytes = excluded.dropped_bytes, read_bytes = excluded.read_bytes, written_at = now(), revision = nextval('log_chunks_revision_seq')`;

const ROWS: BulkInsert = {
  text: (rows) => `insert into log_chunks (${COLUMNS_WRITTEN})
    select e.value->>0, e.value->>1, e.value->>2, (e.value->>3)::int, (e.value->>4)::int, e.value->>5, (e.value->>6)::int,
      (e.value->>7)::bigint, (e.value->>8)::bigint
    from json_array_elements(${rows}::json) as e
    ${WRITTEN_AGAIN}`,
};

/** In the order of the columns. */
function valuesOf(chunk: LogChunk): (string | number | null)[] {
  const { handle, key, stream, attempt, part, text, droppedBytes, readBytes = null } = chunk;
  return [handle, key, stream, attempt, part, withoutNul(text), Buffer.byteLength(text), droppedBytes, readBytes];
}

/** One parameter a text: inside an array it would be escaped and parsed once more. */
async function write(database: Database, chunks: readonly LogChunk[], fence: number | undefined): Promise<void> {
  const values: unknown[] = [];
  const rows = chunks.map((chunk) => {
    return `(${valuesOf(chunk)
      .map((value, column) => `$${values.push(value)}::${TYPES[column]}`)
      .join(', ')})`;
  });
  await database.query(
    `insert into log_chunks (${COLUMNS_WRITTEN})
     ${fence === undefined ? `values ${rows.join(', ')}` : fenced(rows, values.push(fence))}
     ${WRITTEN_AGAIN}`,
    values,
  );
}

const TYPES = ['text', 'text', 'text', 'int', 'int', 'text', 'int', 'bigint', 'bigint'];

/** The rows get their positions in their order, which a join alone does not keep. */
const fenced = (rows: readonly string[], fence: number): string =>
  `select handle, key, stream, attempt, part, text, bytes, dropped, read from (values ${rows
    .map((row, index) => `(${index}, ${row.slice(1)}`)
    .join(', ')}) as chunk (place, handle, key, stream, attempt, part, text, bytes, dropped, read)
   where not exists (select from log_chunks later where later.handle = chunk.handle and later.key = chunk.key
     and later.attempt > $${fence})
   order by place`;
