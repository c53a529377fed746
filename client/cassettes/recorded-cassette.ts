/** Cassettes of runs: made of what the store kept of their requests, and of those of the runs below them. */
import { cassetteText, type CassetteEntry } from '../../world/models/cassette/cassette.ts';
import { entryOf } from '../../world/models/cassette/record-cassette.ts';
import type { Run, Store } from '../../prisma/store/contract/contract.ts';

/** What a client is for this. */
export interface RunFinder {
  find(handle: string): Promise<Pick<Run, 'handle' | 'name' | 'definitionHash' | 'project'>>;
  store(): Promise<Pick<Store, 'cassettes'>>;
}

export interface RecordedCassette {
  text: string;
  requests: number;
}

/**
 * Of several runs, as an evaluation has them, the requests of one after those of the other; the first gives its
 * name. Throws `RUN_NOT_FOUND`.
 */
export async function recordCassette(client: RunFinder, handles: readonly string[]): Promise<RecordedCassette> {
  const runs = await Promise.all(handles.map((handle) => client.find(handle)));
  const { cassettes } = await client.store();
  const entries: CassetteEntry[] = [];
  for (const { handle, project } of runs)
    for await (const stored of cassettes.requests(handle)) entries.push(entryOf(stored, { project, root: handle }));
  const { name = '', definitionHash = '' } = runs[0] ?? {};
  return { text: cassetteText({ name, definitionHash, entries }), requests: entries.length };
}
