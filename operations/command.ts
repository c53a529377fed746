/**
 * A command: the unit of work a `command` step names. One file a family; a command states here all there is
 * to know of it: its facts (permission class, speed, timeout, text field), its parameters and its result as
 * schemas, and its code. The facts alone are its entry in the catalogue (language/catalogue.ts), because the
 * interpreter and the reader need them without its code.
 */
import { createHash } from 'node:crypto';
import type * as z from 'zod';
import type { Catalogue, CommandFacts } from '../language/catalogue.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Caller, Door } from './caller.ts';
import type { StepCheckpoints } from './checkpoints/step-checkpoints.ts';
import type { Leases, LeaseTerms, LeaveLease } from './lease-terms.ts';
import type { Metrics } from './metrics.ts';
import type { Embed } from '../world/models/embedding.ts';
import type { Predicted, SimulatedWorld } from './predicted.ts';
import type { BackgroundProcesses } from './shell/background.ts';
import type { Keeping } from './shell/request.ts';
import type { Training } from './training.ts';
import type { Tx } from './tx.ts';
import type { Secrets, TakesSecrets } from './secrets/secrets.ts';
import type { Confinement } from '../language/permissions.ts';
import type { StepOptions, TurnRequest } from '../interpreter/contract.ts';
import type { Policy } from '../language/policy/policy.ts';
import type { Inheritance, TurnOutcome } from '../interpreter/effect.ts';
import type { Reach } from '../language/rights/reach.ts';
import type { Handed, Library } from '../language/read/started-program.ts';
import type { EditReply, EditRequest, StepList } from '../interpreter/edits.ts';
import type { TellReply, TellRequest } from '../interpreter/models/telling.ts';
import type { AnswerReply, AnswerRequest } from '../interpreter/questions.ts';
import type { Answer, Question } from '../language/events/question.ts';
import type { Word, WordCommands, Words } from './words.ts';
import type { RunContext, Session, Store } from '../prisma/store/contract/contract.ts';

export type RunVerb = 'pause' | 'resume' | 'stop' | 'cancel';

/** How a run stands after it was told something; `ending` from then on until it has ended. */
export interface Told {
  status: string;
  /** Why it is held. */
  reason: string | null;
  ending: boolean;
}

/** What a run asks now, and what it was answered before to what it no longer asks. */
export interface RunAsks {
  questions: Question[];
  answered: { id: string; answer: Answer }[];
}

/** Starting, looking at, editing, controlling and speaking to runs from inside a run; implemented by the client. */
export interface RunPort {
  /** `inherited`: from the run that starts it. `library`: all that names in the definition mean; without it they are looked up. */
  start(request: {
    handed: Handed;
    library?: Library;
    inputs: JsonObject;
    project: string;
    persona: string;
    handle: string;
    inherited: Inheritance;
    /** What is to hold for its actions besides what it inherits. */
    policies?: readonly Policy[];
    /** What the model that starts it may call. */
    offered?: string[];
    /** Tokens in what is handed over, by the names of their variables: the run gets the values of these, too. */
    secrets?: { readonly [name: string]: string };
    /** The run whose step starts it. */
    by: string;
  }): Promise<{ handle: string; workflowId: string }>;
  steps(handle: string): Promise<StepList>;
  /** The same id edits once. */
  edit(handle: string, request: EditRequest, id: string): Promise<EditReply>;
  /** The same id tells once. Null: the run has ended. `byModelOf`: the outermost run, where a model of it says so. */
  control(
    handle: string,
    verb: RunVerb,
    said: { reason: string; id: string; byModelOf?: string },
  ): Promise<Told | null>;
  /** Tells a run to look again for what it waits for. Resolves also where there is no such run any more. */
  wake(handle: string): Promise<void>;
  /** Of a run that has ended, too, while its history is kept. */
  asks(handle: string): Promise<RunAsks>;
  /** The first answer counts. Null: the run has ended. */
  answer(handle: string, request: AnswerRequest): Promise<AnswerReply | null>;
  /** The same id tells once. Null: the run has ended. */
  tell(handle: string, request: TellRequest): Promise<TellReply | null>;
}

/** All commands there are, for one that stands on others. */
export interface CommandList {
  catalogue: Catalogue;
  words: WordCommands;
  /** Those that are built. */
  all(): readonly Command[];
}

export interface CommandContext {
  /** Of a person who calls it outside of runs, it has the name that events of persons have. */
  run: RunContext;
  /** Absent: the step that is performed. */
  caller?: Caller;
  /** The step's key: label of its log and its idempotency key. */
  key: string;
  attempt: number;
  /** What the attempt before had handed to `heartbeat`. */
  resumed?: Json;
  store: Store;
  /** Quick commands read and write the store through this, so that a segment commits as one. */
  session: Session;
  runPort: RunPort;
  /** One turn of a model, kept in the conversation that it names. */
  turn(request: TurnRequest, until?: AbortSignal): Promise<TurnOutcome>;
  signal: AbortSignal;
  /** Before it acts on the world: throws `LeftBehind` where another attempt may have begun. Absent: there is no other. */
  checkAttempt?: () => void;
  timeoutMs: number;
  now(): number;
  /** Tells the server the step is alive; a no-op for quick commands. */
  heartbeat(details?: Json): void;
  /** How the step's processes are held in; absent means not at all. */
  confinement?: Confinement;
  secrets?: Secrets;
  /** Absent: a process that it starts ends with its worker. */
  keeping?: Keeping;
  /** States of the project before and after steps; absent where none are taken. */
  checkpoints?: StepCheckpoints;
  /** What of the protected the step may reach. */
  reach?: Reach;
  /** Places of the step; absent where no command takes long. */
  leases?: Leases;
  /** Of a command that starts runs: what they inherit. */
  starts?: StepOptions['starts'];
  /** What a person was shown that the command does; anything else fails. */
  resolved?: Json;
  /** Within another command: whether that one has started the run. */
  hasStarted?(handle: string): boolean;
}

/** What a command works with: the words that a project's command has (services/commands/define-command.ts), and what is ours. */
export interface Context extends CommandContext, Words {
  caller: Caller;
  /** Of its system; undefined where that has none, and where its code runs elsewhere, which has them there. */
  settings: unknown;
  tx: Tx;
  /** Performs another command within the same step and its rights (calls-within.ts): the only way into another system. `over`: what is otherwise for that one. */
  call(name: string, params: JsonObject, over?: Partial<CommandContext>): Promise<Json>;
  /**
   * Of a long command: waits for a place in the lease, among all steps that ask for it, and has it until it leaves or has
   * ended. To be asked for before anything is written.
   */
  lease(name: string, terms: LeaseTerms): Promise<LeaveLease>;
  commands: CommandList;
  /** Of the process that performs it. */
  worker: WorkerParts;
}

/** What the commands of a process share. */
export interface WorkerParts {
  background: BackgroundProcesses;
  metrics: Metrics;
  /** Vectors of texts by the model that the project names for it. */
  embed: Embed;
  training: Training;
}

/** What a command knows of its system (system.ts). */
export interface OwnSystem {
  name: string;
  /** What its schema made of the configuration. */
  settings?: unknown;
  events?: { readonly [event: string]: z.ZodType };
}

export interface Command<Params = unknown, Result extends Json = Json> extends CommandFacts, TakesSecrets {
  name: string;
  /** Whose it is; set by the registry's maker (system.ts). */
  system?: OwnSystem;
  /** One sentence, for models that may call it. */
  description?: string;
  params: z.ZodType<Params>;
  /** They as JSON Schema, where `params` does not say it: the code holds them against it. */
  parameters?: JsonObject;
  /** Parameters of which one group at least has to be there whole, as `params` refuses them otherwise. */
  needs?: readonly (readonly string[])[];
  result: z.ZodType<Result>;
  /** Through which it may be called; absent: through all. */
  doors?: readonly Door[];
  run(params: Params, context: Context): Promise<Result>;
  /** It does what this word of a context says (words.ts). */
  word?: Word;
  /** Parameters that name a run of which it says or does something: a model names none of other projects. */
  runParams?: readonly string[];
  /** `file`: the parameter that names the file of a definition; `definition`: the one that holds what stands in such a file. */
  definitionFile?: { file: string; definition: string };
  /** What it says is of the process that performs it: called by a person, it is the step of a run, which a worker performs. */
  ofWorker?: true;
  /** It only begins a process, which goes on after the step. */
  isBackground?(params: JsonObject): boolean;
  /** Its process outlives its worker, and the next attempt goes on with it. */
  keepsProcess?(params: JsonObject): boolean;
  /** Whether it changes files of the project, of one with a permission that does not say so. */
  writesFiles?(params: JsonObject): boolean;
  /** All files that it can write, from the root of the project; absent where nobody can say before. */
  writes?(params: Params, context: CommandContext): string[];
  /** What it would do, for a simulation; absent: nobody can say. */
  predict?(params: JsonObject, world: SimulatedWorld): Predicted;
  /** What it would do, for a person who is to approve it; of one that `resolves`. A `summary` ("change 3 files") stands in the question before the command's name. */
  resolve?(params: Params, context: CommandContext): Json | Promise<Json>;
}

export function defineCommand<Params, Result extends Json>(command: Command<Params, Result>): Command {
  return command;
}

/** Twelve digits that this step of this run has for itself, in every attempt. */
export const shortMark = ({ run, key }: Pick<CommandContext, 'run' | 'key'>): string =>
  createHash('sha256').update(`${run.handle}:${key}`).digest('hex').slice(0, 12);
