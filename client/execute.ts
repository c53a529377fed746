/** A command that a program performs: at once where it is quick, else as a run of one step, to its end. */
import { findCommand } from '../language/catalogue.ts';
import type { Json, JsonObject } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import { isOfWorker } from './lookup/command-outline.ts';
import { ClientError } from '../runs/client-error.ts';
import { resultOfRun, startCommandRun, type RunsCommands } from './command-run.ts';
import type { ExecuteOptions } from './contract/requests.ts';
import { nearestOf } from './nearest.ts';
import { performCommand, type Performing } from './perform.ts';

export async function executeCommand(
  { client, parts }: { client: RunsCommands; parts: Performing },
  command: string,
  params: JsonObject,
  { project = process.cwd(), by = 'local', id, host, signal }: ExecuteOptions,
): Promise<Json> {
  const catalogue = await client.catalogue(project);
  const entry = findCommand(catalogue, command);
  if (entry === undefined) {
    const near = nearestOf(command, Object.keys(catalogue), (one) => `write "${one}", or `);
    throw new ClientError('USAGE', `There is no command "${command}"; ${near}see "sentinel commands".`);
  }
  if (entry.planned === true) throw new ClientError('USAGE', `The command "${command}" is not built yet.`);
  if (entry.speed === 'quick' && !isOfWorker(command))
    return performCommand(parts, command, params, { by, project, ...defined({ id }) });
  const { handle } = await startCommandRun(client, { command, params, project, by, ...defined({ handle: id, host }) });
  const { outcome, failure } = await client.result(handle, defined({ signal }));
  if (outcome === 'completed') return resultOfRun(client, await parts.store(), handle);
  throw new ClientError(
    'COMMAND_FAILED',
    `${command}: ${failure?.message ?? `its run ${handle} ended as ${String(outcome)}`}; "sentinel trace ${handle}" shows it.`,
    { details: { handle, ...defined({ failure: failure?.code }) } },
  );
}
