/** A command that a person calls through a door of this process: performed here, at once, over the store. */
import { randomUUID } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import { defined } from '../language/defined.ts';
import type { Store } from '../prisma/store/contract/contract.ts';
import type { OwnParts } from '../runs/own/open-own.ts';
import type { ProjectConfig } from '../services/config/project-config.ts';
import { configFileOf } from '../services/config/project-file.ts';
import type { RunPort } from '../operations/command.ts';
import { ClientError } from '../runs/client-error.ts';
import type { RunServices } from '../runs/start-run.ts';
import { ProjectEmbedding } from '../runs/commands/project-embedding.ts';

/** What it is performed over. */
export interface Performing {
  store(): Promise<Store>;
  parts(host?: string, project?: string): Promise<RunServices>;
}

/** How long a call may take. */
const CALL_MS = 30_000;

export interface CommandCall {
  /** The person, or the program of the agent. */
  by: string;
  as?: 'person' | 'agent';
  /** Where it looks for files and runs; the folder one is in where it is left out. */
  project?: string;
  /** The same again gives the result of the first; a new one where it is left out. */
  id?: string;
}

/** Throws `USAGE` where the parameters are not taken, and `COMMAND_FAILED` with the code of the failure in its details. */
export async function performCommand<Result extends Json = Json>(
  client: Performing,
  command: string,
  params: JsonObject,
  { by, as = 'person', project = process.cwd(), id = randomUUID() }: CommandCall,
): Promise<Result> {
  const [{ builtInRegistry, builtInSystems }, { makeTables }, { perform }, { Failure }, store] = await Promise.all([
    import('../systems/built-in.ts'),
    import('../operations/system.ts'),
    import('../operations/perform.ts'),
    import('../world/failures/failures.ts'),
    client.store(),
  ]);
  await makeTables(store, builtInSystems);
  const own = await ownParts(command, project, store);
  const settings = await settingsFor(command, project);
  const embedding = new ProjectEmbedding(project);
  const registry = builtInRegistry({ settings, embed: embedding.embed }, own?.commands);
  const parts = { store, registry, runs: runsOf(client, project) };
  try {
    const asked = { command, params, project, by, as, id, timeoutMs: CALL_MS };
    return (await perform(parts, asked)) as Result;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { code, message, details } = error.toInfo();
    const isUsage = code === 'COMMAND_PARAMS_INVALID' || code === 'UNKNOWN_COMMAND' || code === 'COMMAND_NOT_BUILT';
    const words = paramWords(command, details) ?? `${message}.`;
    throw new ClientError(isUsage ? 'USAGE' : 'COMMAND_FAILED', words, {
      cause: error,
      details: { failure: code, ...defined({ details }) },
    });
  } finally {
    await Promise.all([own?.processes.close(), embedding.close()]);
  }
}

/** What the project brings itself, where the command is none of ours. Throws `SETTINGS` where it is not trusted. */
async function ownParts(command: string, project: string, store: Store): Promise<OwnParts | null> {
  const { builtIn } = await import('./lookup/project-catalogue.ts');
  const engine = builtIn();
  const file = Object.hasOwn(engine.catalogue, command) ? null : configFileOf(project);
  if (file === null) return null;
  const [{ openOwn }, { configIn }, { trustedCode }] = await Promise.all([
    import('../runs/own/open-own.ts'),
    import('../runs/commands/open-project.ts'),
    import('../services/config/project-config.ts'),
  ]);
  const code = trustedCode(file.path);
  return openOwn({ code, config: await configIn(file), builtIn: engine, store, say: () => undefined });
}

/** Of the command's system, where that has settings. Throws `SETTINGS` where the configuration is not trusted. */
async function settingsFor(command: string, project: string): Promise<ProjectConfig['settings'] | undefined> {
  const { builtInSystems } = await import('../systems/built-in.ts');
  const system = builtInSystems.find(({ commands }) => commands.some(({ name }) => name === command));
  const file = system?.settings === undefined ? null : configFileOf(project);
  if (file === null) return undefined;
  const [{ settingsIn }, { builtIn }] = await Promise.all([
    import('../runs/commands/open-project.ts'),
    import('./lookup/project-catalogue.ts'),
  ]);
  return settingsIn(builtIn(), file);
}

/** What a command found wrong with one of its parameters, for a door that has words of its own for it. */
export function refusedParam(error: unknown, param: string): string | undefined {
  const details = error instanceof ClientError && isJsonObject(error.details) ? error.details['details'] : undefined;
  return refusedParams(isJsonObject(details) ? details : undefined)?.find(({ field }) => field === param)?.message;
}

function refusedParams(details: JsonObject | undefined): { field: string; message: string }[] | undefined {
  const problems = details?.['problems'];
  if (!Array.isArray(problems)) return undefined;
  return problems.filter(isJsonObject).flatMap(({ path, message }) => {
    if (typeof path !== 'string' || typeof message !== 'string') return [];
    return [{ field: path.replace(/^params\.?/, ''), message }];
  });
}

/** Of parameters that are not taken: whoever calls has no step to correct. */
function paramWords(command: string, details: JsonObject | undefined): string | undefined {
  const words = refusedParams(details)?.map(
    ({ field, message }) => `${field === '' ? 'the parameters' : `"${field}"`}: ${message}`,
  );
  if (words === undefined) return undefined;
  return `${command}: ${words.join('; ')}; "sentinel commands ${command}" shows what it takes.`;
}

/** Temporal is asked for once a command does something with a run. */
function runsOf(client: Pick<Performing, 'parts'>, project: string): RunPort {
  const opened = async (): Promise<RunPort> => {
    const [{ runStarter }, parts] = await Promise.all([
      import('../runs/start-run.ts'),
      client.parts(undefined, project),
    ]);
    return runStarter(parts);
  };
  return {
    start: async (request) => (await opened()).start(request),
    steps: async (handle) => (await opened()).steps(handle),
    edit: async (...asked) => (await opened()).edit(...asked),
    control: async (...asked) => (await opened()).control(...asked),
    wake: async (handle) => (await opened()).wake(handle),
    asks: async (handle) => (await opened()).asks(handle),
    answer: async (...asked) => (await opened()).answer(...asked),
    tell: async (...asked) => (await opened()).tell(...asked),
  };
}
