/** Which chunks of log are wanted: of which run, and those nested in it, which streams, and which step. */
import { modelStreams } from '../../../language/models/model-streams.ts';
import type { Database } from '../connection/database.ts';
import { withoutNul } from '../connection/jsonb-text.ts';
import type { LogQuery } from '../contract/contract.ts';

export interface Wanted {
  /** The run that was asked for: keys of nested runs begin with what their handle adds to it. */
  root: string;
  streams: string[];
  step: string | null;
}

export const wanted = (root: string, { stream, step }: LogQuery): Wanted => ({
  root,
  streams: streamNames(stream),
  step: step === undefined ? null : withoutNul(step),
});

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

/** The run itself first; runs nested in it at any depth where they are asked for. */
export async function handlesOf(database: Database, handle: string, { nested = false }: LogQuery): Promise<string[]> {
  if (!nested) return [handle];
  const rows = await database.query<{ handle: string }>(
    `select handle from runs where starts_with(handle, $1 || '/') order by started_at, handle`,
    [withoutNul(handle)],
  );
  return [handle, ...rows.map((row) => row.handle)];
}

export const COLUMNS = `position, revision, handle, key, stream, attempt, text, bytes,
  dropped_bytes as "droppedBytes", written_at as "writtenAt"`;

const KEY_FROM_ROOT = `(case when handle = $3 then key else substr(handle, length($3) + 2) || '/' || key end)`;

/**
 * Takes $1 to $6: handles, streams, root, step, and the path and passes of a step that names its passes. What follows a
 * step's key in a longer one is inside that step; so are `steps.1.then.0@2` and `steps.1.steps.0@2.1` inside `steps.1@2`.
 */
export const WANTED = `handle = any($1::text[]) and stream = any($2::text[]) and ($4::text is null
  or (starts_with(${KEY_FROM_ROOT}, $4) and substr(${KEY_FROM_ROOT}, length($4) + 1, 1) in ('', '/', '@', '#', '.'))
  or (starts_with(${KEY_FROM_ROOT}, $5::text || '.')
    and starts_with(split_part(split_part(substr(${KEY_FROM_ROOT}, length($5) + 1), '/', 1), '@', 2) || '.', $6::text || '.')))`;

export function wantedParameters(handles: readonly string[], { streams, root, step }: Wanted): unknown[] {
  const [, path = null, passes = null] = step === null ? [] : (/^(.+)@([\d.]+)$/s.exec(step) ?? []);
  return [handles, streams, root, step, path, passes];
}
