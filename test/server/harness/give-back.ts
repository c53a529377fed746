/** What a worker has lost is given back, as the supervisor does it, which sees a worker end; what it says of each. */
import { join } from 'node:path';
import { giveLostBack } from '../../../services/supervisor/lost-workers.ts';
import type { Harness } from './harness.ts';

export async function giveBack({ client, project }: Harness, isLast = false): Promise<string[]> {
  const said: string[] = [];
  const { connection } = client;
  const home = join(project, '.sentinel');
  await giveLostBack({ home, connected: (use) => use(connection), say: (text) => said.push(text) }, isLast);
  return said.map((text) =>
    / of the worker .* which has ended, go on/.exec(text)?.[0] === undefined ? text : (text.split(' of the')[0] ?? ''),
  );
}
