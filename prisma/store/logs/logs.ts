/**
 * Logs of steps, kept in chunks, read in lines. Writing the same part again replaces it: the last
 * chunk of a long log is rewritten while it moves on.
 */
import type { LogChunk, Store } from '../contract/contract.ts';
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
    async append(chunks) {
      if (chunks.length === 0) return;
      await append(database, chunks);
      for (const handle of new Set(chunks.flatMap((chunk) => withRunsAround(chunk.handle))))
        announcer.announce(LOG_CHANNEL, handle);
    },

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

    async isOfSeveralSteps(handle, query) {
      const parameters = wantedParameters(await handlesOf(database, handle, query), wanted(handle, query));
      const sql = `select distinct handle, key from log_chunks where ${WANTED} limit 2`;
      return (await database.query(sql, parameters)).length > 1;
    },

    follow: (handle, query, options) => followLog({ database, listener, handle, query, signal: options.signal }),

    reader: (handle, stream) => new LogReader({ database, handle, wanted: wanted(handle, { stream }) }),

    listen: (handle) => listener.listen(LOG_CHANNEL, handle),
  };
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

async function append(database: Database, chunks: readonly LogChunk[]): Promise<void> {
  // A statement may write a row once only; of equal parts the last one counts.
  const parts = new Map(
    chunks.map((chunk) => [JSON.stringify([chunk.handle, chunk.key, chunk.stream, chunk.attempt, chunk.part]), chunk]),
  );
  const rows = [...parts.values()];
  for (let start = 0; start < rows.length; start += CHUNKS_PAGE)
    await write(database, rows.slice(start, start + CHUNKS_PAGE));
}

/** One parameter a text: inside an array it would be escaped and parsed once more. */
async function write(database: Database, chunks: readonly LogChunk[]): Promise<void> {
  const values: unknown[] = [];
  const rows = chunks.map((chunk) => {
    const row = [
      chunk.handle,
      chunk.key,
      chunk.stream,
      chunk.attempt,
      chunk.part,
      withoutNul(chunk.text),
      Buffer.byteLength(chunk.text),
      chunk.droppedBytes,
    ];
    return `(${row.map((value) => `$${values.push(value)}`).join(', ')})`;
  });
  await database.query(
    `insert into log_chunks (handle, key, stream, attempt, part, text, bytes, dropped_bytes)
     values ${rows.join(', ')}
     on conflict (handle, key, stream, attempt, part) do update set text = excluded.text, bytes = excluded.bytes,
       dropped_bytes = excluded.dropped_bytes, written_at = now(), revision = nextval('log_chunks_revision_seq')`,
    values,
  );
}
