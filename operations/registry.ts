/**
 * The commands that are built, by name, their catalogue, and the one way to run them: parameters are
 * parsed before, the result is checked after, and what it took is recorded.
 */
import type * as z from 'zod';
import { findCommand, type Catalogue, type CommandFacts } from '../language/catalogue.ts';
import { depthFault, isJsonObject, valueFault, type Json, type JsonObject, type ValueFault } from '../language/json.ts';
import { Failure } from '../world/failures/failures.ts';
import { toolNameProblems } from '../language/models/tool-names.ts';
import { durationIn } from '../language/references/times.ts';
import { defined } from '../language/defined.ts';
import { noEmbedding } from '../world/models/embedding.ts';
import { CallsWithin } from './calls-within.ts';
import { callerOf, doorOf, type Door } from './caller.ts';
import type { Command, CommandContext, Context, WorkerParts } from './command.ts';
import type { LeaseTerms, LeaveLease } from './lease-terms.ts';
import { processMetrics } from './metrics.ts';
import { CommandTx } from './command-tx.ts';
import { BackgroundProcesses } from './shell/background.ts';
import { noTraining } from './training.ts';
import { wordCommands, wordsOver, type WordCommands } from './words.ts';

export interface Registry {
  /** Its commands, and those that are planned. */
  readonly catalogue: Catalogue;
  /** The command behind each word of a context. */
  readonly words: WordCommands;
  find(name: string): Command | undefined;
  names(): string[];
  all(): readonly Command[];
  run(name: string, params: Json, context: CommandContext): Promise<Json>;
  /** All files that it can write; null where nobody can say before. */
  writes(name: string, params: Json, context: CommandContext): string[] | null;
  /** What a command that `resolves` would do. */
  resolve(name: string, params: Json, context: CommandContext): Promise<Json>;
}

/** Commands that may come and go while a worker runs. */
export interface ChangingCommands {
  /** The same array for as long as they are the same. */
  list(): readonly Command[];
  /** Why there is none of a name, where that is known. */
  missing(name: string): Failure | null;
}

const NONE: readonly Command[] = [];

export interface RegistryParts extends Partial<WorkerParts> {
  changing?: ChangingCommands | undefined;
  /** Part of the format, and not built by anybody yet. */
  planned?: Catalogue;
}

export function createRegistry(
  commands: readonly Command[],
  {
    metrics = processMetrics,
    background = new BackgroundProcesses(),
    embed = noEmbedding,
    training = noTraining,
    changing,
    planned = {},
  }: RegistryParts = {},
): Registry {
  const indexed = (list: readonly Command[]): Index => indexOf(commands, list, planned);
  let at = indexed(changing?.list() ?? NONE);
  const now = (): Index => {
    const list = changing?.list() ?? NONE;
    if (list !== at.changing) at = indexed(list);
    return at;
  };
  const found = (name: string): Command => {
    const { byName, catalogue } = now();
    const command = byName.get(name);
    if (command === undefined) throw changing?.missing(name) ?? notFound(catalogue, name);
    return command;
  };
  const worker: WorkerParts = { metrics, background, embed, training };
  const registry: Registry = {
    get catalogue() {
      return now().catalogue;
    },
    get words() {
      return now().words;
    },
    find: (name) => now().byName.get(name),
    names: () => [...now().byName.keys()],
    all: () => [...now().byName.values()],
    writes(name, params, context) {
      const command = found(name);
      try {
        return command.writes?.(readParams(command, params), context) ?? null;
      } catch (error) {
        // It says itself what is wrong with its parameters, and where it may not write.
        if (error instanceof Failure) return null;
        throw error;
      }
    },
    async resolve(name, params, context) {
      const command = found(name);
      return (await command.resolve?.(readParams(command, params), context)) ?? null;
    },
    run: (name, params, context) => performed({ registry, worker, found }, name, params, context),
  };
  return registry;
}

interface Performing {
  registry: Registry;
  worker: WorkerParts;
  found: (name: string) => Command;
}

/** One function, and not one around another: each costs a quick step as much as half of its work. */
async function performed(
  { registry, worker, found }: Performing,
  name: string,
  params: Json,
  context: CommandContext,
): Promise<Json> {
  const command = found(name);
  const startedAt = performance.now();
  const tx = new CommandTx(command, context);
  let isError = true;
  try {
    const within = contextWithin(registry, worker, command, context, tx);
    const given = readParams(command, params);
    refuseDoor(command, doorOf(within.caller));
    if (context.confinement?.byModel === true) await refuseOtherProjects(command, given, context);
    const result = checkedResult(command, await command.run(given, within));
    if (tx.isMarked) await tx.keep();
    isError = false;
    return result;
  } catch (error) {
    // A command that fails leaves nothing of what it wrote.
    if (tx.isMarked && error instanceof Failure) await tx.takeBack();
    throw error;
  } finally {
    worker.metrics.record(name, performance.now() - startedAt, isError);
  }
}

function contextWithin(
  registry: Registry,
  worker: WorkerParts,
  command: Command,
  context: CommandContext,
  tx: CommandTx,
): Context {
  // Most commands call no other.
  let calls: CallsWithin | undefined;
  const call: Context['call'] = (...asked) => (calls ??= new CallsWithin(command, context, registry)).call(...asked);
  const words = wordsOver((name, params, { signal } = {}) => call(name, params, defined({ signal })), registry.words);
  const own = {
    tx,
    caller: context.caller ?? callerOf(context.run, context.confinement?.byModel === true),
    settings: command.system?.settings,
    commands: registry,
    worker,
    lease: (name: string, terms: LeaseTerms) => leaseFor(command, context, name, terms),
    call,
  };
  // V8 takes microseconds for each field that a literal adds to a copy.
  return Object.assign({ ...context }, words, own);
}

function leaseFor(
  { name: of, speed }: Command,
  { leases, session }: CommandContext,
  name: string,
  terms: LeaseTerms,
): Promise<LeaveLease> {
  const finding =
    speed === 'quick' || leases === undefined
      ? 'only a long command waits for a lease; make it "long"'
      : session.isWriting
        ? 'a lease is asked for before the first statement, since what was written would wait, too'
        : null;
  if (finding !== null || leases === undefined)
    return Promise.reject(new Failure('LEASE_REFUSED', `${of}: ${finding ?? ''}`));
  return leases.take(of, name, terms);
}

interface Index {
  changing: readonly Command[];
  byName: Map<string, Command>;
  catalogue: Catalogue;
  words: WordCommands;
}

function indexOf(fixed: readonly Command[], changing: readonly Command[], planned: Catalogue): Index {
  const commands = [...fixed, ...changing];
  const catalogue = catalogueOf(commands, planned);
  // Each may be offered to a model as a tool.
  const [misnamed] = toolNameProblems(Object.keys(catalogue));
  if (misnamed !== undefined) throw new Error(misnamed);
  const byName = new Map(commands.map((command) => [command.name, command]));
  // No command that a worker loads speaks for one of ours.
  return { changing, byName, catalogue, words: wordCommands(fixed) };
}

/** A command that is built is planned no longer, whoever built it. */
function catalogueOf(commands: readonly Command[], ofFormat: Catalogue): Catalogue {
  const built = Object.fromEntries(commands.map((command) => [command.name, factsOf(command)]));
  const planned = Object.entries(ofFormat).filter(([name]) => !Object.hasOwn(built, name));
  return { ...built, ...Object.fromEntries(planned) };
}

const FACTS: { [Fact in keyof CommandFacts]-?: true } = {
  permission: true,
  operations: true,
  speed: true,
  timeoutMs: true,
  textField: true,
  textParams: true,
  programParams: true,
  takesShellLine: true,
  otherRuns: true,
  unconfined: true,
  asksModel: true,
  uses: true,
  resolves: true,
  failures: true,
  queue: true,
  movesRun: true,
};

/** Schemas and code do not serialise; neither need whatever else a project's command carries. */
function factsOf(command: Command): CommandFacts {
  return Object.fromEntries(
    Object.entries(command).filter(([key]) => Object.hasOwn(FACTS, key)),
  ) as unknown as CommandFacts;
}

const DOORS: Readonly<Record<Door, string>> = {
  step: 'by a step',
  model: 'by a model',
  person: 'by a person',
  agent: 'by an agent',
  follower: 'for an event',
  background: 'in the background',
};

function refuseDoor({ name, doors }: Command, door: Door): void {
  if (doors?.includes(door) !== false) return;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `${name} is not called ${DOORS[door]}; it is called ${doors.map((one) => DOORS[one]).join(' or ')}`,
  );
}

function checkedResult(command: Command, result: Json): Json {
  refuse(valueFault(result, `the result of ${command.name}`));
  const checked = command.result.safeParse(result);
  if (!checked.success)
    throw new Error(`bug: ${command.name} returned what its schema refuses: ${describe(checked.error)}`, {
      cause: checked.error,
    });
  return result;
}

/** A model says nothing to runs of other projects, and hears nothing of them. */
async function refuseOtherProjects(
  { name, runParams = [] }: Command,
  given: unknown,
  context: CommandContext,
): Promise<void> {
  for (const param of runParams) {
    const handle = (given as { [param: string]: unknown })[param];
    if (typeof handle !== 'string') continue;
    const found = await context.store.runs.find(handle);
    if (found !== null && found.project !== context.run.project)
      throw new Failure(
        'RIGHTS_EXCEEDED',
        `${name}: "${handle}" is a run of another project, and a model has to do with those of its own`,
      );
  }
}

function readParams(command: Command, params: Json): unknown {
  refuse(depthFault(params, `what ${command.name} is given`));
  const read = command.params.safeParse(withTimes(params ?? {}));
  if (!read.success) throw invalidParams(command.name, read.error);
  return read.data;
}

/** A reference may give a time as a definition writes it (`30s`). */
function withTimes(params: Json): Json {
  if (!isJsonObject(params)) return params;
  let read: JsonObject | undefined;
  for (const key of Object.keys(params)) {
    const value = params[key];
    if (typeof value === 'string' && key.endsWith('Ms')) (read ??= { ...params })[key] = durationIn(value) ?? value;
  }
  return read ?? params;
}

function refuse(fault: ValueFault | null): void {
  if (fault !== null) throw new Failure(fault.code, fault.message);
}

function invalidParams(name: string, error: z.ZodError): Failure {
  return new Failure('COMMAND_PARAMS_INVALID', `${name}: ${describe(error)}; correct the step's params`, {
    details: { problems: error.issues.map(({ path, message }) => ({ path: pathOf(path), message })) },
  });
}

function describe(error: z.ZodError): string {
  return error.issues.map(({ path, message }) => `${pathOf(path)}: ${message}`).join('; ');
}

const pathOf = (path: readonly PropertyKey[]): string => ['params', ...path.map(String)].join('.');

function notFound(catalogue: Catalogue, name: string): Failure {
  if (findCommand(catalogue, name) !== undefined) {
    return new Failure(
      'COMMAND_NOT_BUILT',
      `command "${name}" is part of the format but not built yet; use another command or a shell step`,
    );
  }
  const built = Object.keys(catalogue).filter((known) => catalogue[known]?.planned !== true);
  return new Failure(
    'UNKNOWN_COMMAND',
    `the worker has no command "${name}"; if the project's sentinel.config defines it, run "sentinel up" there; the worker's commands are ${built.join(', ')}`,
  );
}
