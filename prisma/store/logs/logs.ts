/**
 * Logs of steps, kept in chunks, read in lines. Writing the same part again replaces it: the last
 * chunk of a long log is rewritten while it moves on.
 */
import type { LogChunk, Store } from '../contract/contract.ts';
import type { Database } from '../connection/database.ts';
import { followLog } from './follow-log.ts';
import { LogReader } from './log-reader.ts';
import { modelStreams } from '../../../language/models/model-streams.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import { LogLines, shown } from './log-lines.ts';
import type { StoredChunk } from './log-lines.ts';
import { LOG_CHANNEL } from '../events/wakeups.ts';
import type { Announcer, Listener } from '../events/wakeups.ts';

const CHUNKS_PAGE = 50;

/** `combined` is what a terminal would have shown; `model` what models said. */
function streamNames(stream: string): string[] {
  switch (stream) {
    case 'combined':
      return ['stdout', 'stderr', ...modelStreams];
    case 'model':
      return modelStreams;
    default:
      return [stream];
  }
}

export function logs(database: Database, announcer: Announcer, listener: Listener): Store['logs'] {
  return {
    async append(chunks) {
      if (chunks.length === 0) return;
      await append(database, chunks);
      for (const handle of new Set(chunks.map((chunk) => chunk.handle))) announcer.announce(LOG_CHANNEL, handle);
    },

    streams: (handle) =>
      database.query<{ stream: string; bytes: number }>(
        'select stream, sum(bytes)::bigint as bytes from log_chunks where handle = $1 group by stream order by stream',
        [handle],
      ),

    async read(handle, stream, offset, limit) {
      const wanted = offset + limit;
      const log = new LogLines();
      for (let after = 0; log.settled < wanted;) {
        const page = await readPage(database, handle, stream, 'position > $3', 'asc', after);
        for (const chunk of page) log.add(chunk);
        const last = page.at(-1);
        if (last === undefined || page.length < CHUNKS_PAGE) break;
        after = last.position;
      }
      return log.lines.slice(offset, wanted).map(shown);
    },

    async tail(handle, stream, lines) {
      const chunks: StoredChunk[] = [];
      let breaks = 0;
      // One more line break than lines: the first line of what was read may lack its beginning.
      for (let before = Number.MAX_SAFE_INTEGER; breaks <= lines;) {
        const page = await readPage(database, handle, stream, 'position < $3', 'desc', before);
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

    follow: (handle, stream, options) =>
      followLog({ database, listener, handle, streams: streamNames(stream), signal: options.signal }),

    reader: (handle, stream) => new LogReader({ database, handle, streams: streamNames(stream) }),

    listen: (handle) => listener.listen(LOG_CHANNEL, handle),
  };
}

function readPage(
  database: Database,
  handle: string,
  stream: string,
  bound: 'position > $3' | 'position < $3',
  direction: 'asc' | 'desc',
  position: number,
): Promise<StoredChunk[]> {
  return database.query<StoredChunk>(
    `select position, revision, key, stream, attempt, text, bytes, dropped_bytes as "droppedBytes" from log_chunks
     where handle = $1 and stream = any($2::text[]) and ${bound} order by position ${direction} limit ${CHUNKS_PAGE}`,
    [handle, streamNames(stream), position],
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
       dropped_bytes = excluded.dropped_bytes, revision = nextval('log_chunks_revision_seq')`,
    values,
  );
}
