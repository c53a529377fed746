/** `--record` and `--replay` of the verbs that start runs. */
import type { OpenClient } from '../../client/open-client.ts';
import type { Output } from '../output/output.ts';
import { usage } from '../request/usage.ts';

export function refuseBoth({ record, replay }: { record?: string; replay?: string }): void {
  if (record !== undefined && replay !== undefined)
    throw usage('--record and --replay cannot go together: a replay asks no model that could be recorded.');
}

/** The cassette of runs that have ended. */
export async function recordRuns(
  client: OpenClient,
  handles: readonly string[],
  file: string,
  output: Output,
): Promise<void> {
  const [{ writeWholeFile }, { recordCassette }] = await Promise.all([
    import('./whole-file.ts'),
    import('../../client/cassettes/recorded-cassette.ts'),
  ]);
  const { text, requests } = await recordCassette(client, handles);
  await writeWholeFile('--record', file, [text]);
  output.note(`sentinel: ${file} holds ${requests} ${requests === 1 ? 'request' : 'requests'}`);
}
