/** A command that takes long, or whose code the worker has, as a run of one step. */
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { Definition } from '../language/model.ts';
import { defined } from '../language/defined.ts';
import type { Started, StartOptions } from './contract/requests.ts';
import type { SentinelClient } from './client.ts';
import type { Store } from '../prisma/store/contract/contract.ts';

/** What starts runs and looks at them. */
export type RunsCommands = Pick<SentinelClient, 'start' | 'status' | 'result' | 'catalogue'>;

export interface CommandRun extends Pick<StartOptions, 'host' | 'policy'> {
  command: string;
  params: JsonObject;
  /** Absolute. */
  project: string;
  /** Whose run it is. */
  by: string;
  /** A new one where it is left out. */
  handle?: string;
}

const RESULT = 'result';

export async function startCommandRun(
  client: Pick<RunsCommands, 'start'>,
  { command, params, project, by, handle, host, policy }: CommandRun,
): Promise<Started> {
  const inputs: JsonObject = {};
  const handed = Object.entries(params).map(([name, value], index): [string, Json] => {
    if (saysItself(value)) return [name, value];
    // What a person gives is a value: no reference in it is looked up.
    inputs[`given${index}`] = value;
    return [name, `$given${index}`];
  });
  const definition: Definition = {
    name: command.replaceAll(/[^A-Za-z0-9]+/g, '-'),
    description: `${command}, by hand`,
    steps: [{ type: 'command', command, params: Object.fromEntries(handed), outputTo: RESULT }],
    loop: { type: 'once' },
    outputs: { [RESULT]: `$${RESULT}` },
  };
  return client.start(definition, {
    project,
    persona: by,
    inputs,
    saves: false,
    ...defined({ handle, host, policy }),
  });
}

/** Whether a definition may hold it as it is. */
const saysItself = (value: Json): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && /^[\w ./-]*$/.test(value));

/** What the command gave, however large. */
export async function resultOfRun(
  client: Pick<RunsCommands, 'status'>,
  { payloads }: Pick<Store, 'payloads'>,
  handle: string,
): Promise<Json> {
  const { outputs } = await client.status(handle);
  const value = outputs[RESULT] ?? null;
  const hash = isJsonObject(value) ? value['$payload'] : undefined;
  if (typeof hash !== 'string') return value;
  const content = await payloads.get(hash);
  return content === null ? value : (JSON.parse(Buffer.from(content).toString('utf8')) as Json);
}
