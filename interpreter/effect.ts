/**
 * What a step asks of the world, what the world answers, and what a line of execution comes to: values that
 * the walk, its host and the position share.
 */
import type { Stillness, ToldAround } from './holds.ts';
import type { Catalogue } from '../language/catalogue.ts';
import type { FailureInfo } from '../language/failure.ts';
import type { ItemsEnd, StepUsage } from '../language/events/run-event.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Definition, Rule } from '../language/model.ts';
import type { Policy } from '../language/policy/policy.ts';
import type { FoundPicture } from '../language/models/pictures.ts';
import type { TokenUsage } from '../language/models/token-usage.ts';
import type { Confinement, Mode } from '../language/permissions.ts';
import type { LeftOut } from '../language/models/left-out.ts';
import type { Reach } from '../language/rights/reach.ts';

export type Variables = { [name: string]: Json };

/** What was used of a budget. */
export interface Usage {
  steps: number;
  tokens: number;
  usd: number;
}

/** What the world answered, and what it cost; `cancelled` is nobody's failure. `stoppedBy`: the limit, or the `stop`, that ended a nested run. */
export type Reply = (
  { ok: true; value: Json; stoppedBy?: string } | { ok: false; failure: FailureInfo } | { ok: false; cancelled: true }
) & { usage?: Partial<Usage> };

/** A step that was claimed is not performed to its end here: another host asks for that. `isBegun`: by then it may have been. */
export interface GoesOn {
  goesOn: true;
  isBegun: boolean;
}

interface EffectFrame {
  /** Step path and pass: activity id, idempotency key, label. */
  key: string;
  label: string;
  timeoutMs: number;
  /** How its processes are held in; absent means not at all. */
  confinement?: Confinement;
  reach?: Reach;
  /** The environment variables that the run may read, as it holds them. */
  secrets?: { [name: string]: string };
  /** The most it may cost beyond the step itself; reserved before it is asked for. */
  most?: Partial<Usage>;
}

export interface ShellEffect extends EffectFrame {
  type: 'shell';
  command: string;
  args?: string[];
  cwd?: string;
  env?: { [name: string]: string };
  stdin?: string;
  /** Values too large for the environment, by variable name. */
  files?: { [name: string]: string };
  /** The run decides what becomes of an outcome that nobody knows. */
  onUnknown?: 'tell';
  /** How often it may have been begun before, under this key: then its process is looked for. */
  begun?: number;
}

export interface CommandEffect extends EffectFrame {
  type: 'command';
  command: string;
  params: JsonObject;
  /** Of one that starts a run: what that run inherits. */
  starts?: Inheritance;
  /** What the definition in its parameters refers to, as it was shown with it: nothing else is meant by a name. */
  library?: { [name: string]: Definition };
  /** What the project made of it when it was shown; nothing else is done. */
  resolved?: Json;
  /** A model called it: its result goes to the conversation, and the run gets word of it. */
  call?: CallPlace;
}

/** A command that starts runs. */
export type StartingEffect = CommandEffect & { starts: Inheritance };

/** What a run has from the one whose step started it. */
export interface Inheritance {
  depth: number;
  limits: RunLimits;
}

/** Where the result of a call belongs. */
export interface CallPlace {
  /** The key of the model step. */
  conversation: string;
  turn: number;
  /** Of the turn's calls, from 0. */
  call: number;
  /** As the model's answer names it. */
  id: string;
  /** How often it is begun, by decision, from the second time on. */
  tries?: number;
}

/** One request to a model, and its answer. */
export interface TurnEffect extends EffectFrame {
  type: 'turn';
  conversation: string;
  /** From 1. */
  turn: number;
  model: string;
  /** What the conversation begins with; it is kept when the first turn begins. */
  opening: Opening;
  /** What is said before this turn, besides the results of calls. */
  say: Said[];
  /** Answers to calls of the turn before that came to no result. */
  answers: CallAnswer[];
  /** Commands that the model may call. */
  tools: string[];
  /** Those of them that the definition points out. */
  highlighted?: string[];
  settings: TurnSettings;
  /** Of the turns before; people are told. */
  tokensBefore: number;
  /** What shortened the conversation that the model is shown; absent where it is shown all of it. */
  compaction?: CompactionPlace;
}

/** The compactions made before a turn are counted from 1. */
export interface CompactionPlace {
  turn: number;
  number: number;
}

export interface Opening {
  system?: string;
  messages: { role: 'user' | 'assistant'; text: string }[];
  /** The last thing said, with the images. */
  prompt?: string;
  images: FoundPicture[];
  /** What the first turn is told besides, as far as the model's window has room for it. */
  context?: OpeningContext;
}

export interface OpeningContext {
  /** The conversation that holds what was collected for the pass. */
  sources?: string;
  variables: { name: string; text: string }[];
  /** What was not even considered, and why. */
  leftOut: LeftOut[];
}

/**
 * `repair`: the answer did not fit the step's schema. `stuck`: the model turns in circles. `answer-now`: it is
 * to answer with what it has. `self-check`: it is to be surer of its answer (thinking-depth.ts). `note` is what a
 * person says about it. `told`: a person said it while the step was under way.
 */
export type Said =
  | { prompt: 'repair'; fault: string }
  | { prompt: 'stuck'; finding: string; note?: string }
  | { prompt: 'answer-now'; finding: string; note?: string }
  | { prompt: 'self-check'; exit: number; hasForm: boolean }
  | { prompt: 'told'; id: string; text: string; by: string };

export interface CallAnswer {
  call: number;
  id: string;
  text: string;
  /** It was done, though its result is lost. */
  ok?: true;
}

export interface TurnSettings {
  temperature?: number;
  maxTokens?: number;
  thinking?: string;
  schema?: Json;
  /** Calls are also read out of the text of an answer. */
  parseToolCalls?: true;
  /** The answer is to be given now, without a call. */
  isFinal?: true;
  /** When and how the conversation is shortened; `false`: never. */
  autoCompact?: AutoCompact | false;
  /** The text of a turn that calls something comes back too. */
  keepsText?: true;
}

export interface AutoCompact {
  /** Share of the model's window that the prompt and the room for its answer may fill. */
  threshold?: number;
  strategy?: 'summarize' | 'truncate';
}

/** What came of a turn. The answer itself is a row of the conversation. */
export interface TurnOutcome {
  stopReason: string;
  calls: TurnCall[];
  /** Present where the turn calls nothing, or `keepsText` was asked for. */
  text?: string;
  /** The reply: the value that the text holds where it is JSON, else the text. */
  value?: Json;
  /** Why the value does not fit the step's schema. */
  fault?: string;
  usage: TokenUsage;
  /** The provider said a usage that is no count of tokens, so that it is estimated. */
  isMiscounted?: true;
  /** What it called in a turn that has no calls. */
  barred?: string[];
  /** What stands in its text like a call, and the step does not read. */
  unread?: string[];
  /** US dollars; null where nobody knows the prices. */
  usd: number | null;
  /** `provider/model` that answered. */
  model: string;
  /** Why it is this one, where the step did not say so itself. */
  reason?: string;
  /** What somebody should know of the model. */
  notices?: string[];
  /** The conversation was shortened in place of the turn, which is to be asked for again with that. */
  compacted?: Compacted;
}

/** Tokens are estimated where no provider counted them. */
export interface Compacted {
  /** Of the compactions before the turn, from 1. */
  number: number;
  /** `results`: results of calls were enough. */
  strategy: 'results' | 'summarize' | 'truncate';
  /** `overflow`: the model said that the conversation is too long. */
  because: 'full' | 'overflow';
  before: number;
  after: number;
  /** Of the model; null where nobody says. */
  window: number | null;
}

export interface TurnCall {
  id: string;
  name: string;
  input: JsonObject;
  /** The arguments as the model wrote them, where they are no JSON object. */
  invalid?: string;
}

export interface EmitEffect extends EffectFrame {
  type: 'emit';
  event: string;
  data: Json;
}

export interface NestedEffect extends EffectFrame {
  type: 'sentinel';
  definition: Definition;
  /** What the definition refers to besides what the run was started with. */
  library?: { [name: string]: Definition };
  /** Commands that these name. */
  catalogue?: Catalogue;
  /** What the child starts with: its own defaults, the parent's variables, and the step's inputs, later ones winning. */
  base: Variables;
  /** Names of the runs around that have no value. */
  unset?: string[];
  wait: boolean;
  limits: RunLimits;
  depth: number;
  /** The folder that it works in, where that is not the project. */
  root?: string;
  /** It has a workspace of its own, forked from `root`, and named after this. */
  forks?: string;
}

/** Waiting for a process that an earlier step started. */
export interface WatchEffect extends EffectFrame {
  type: 'watch';
  request: {
    executionId: string;
    rules?: Rule[];
    until?: 'finished' | 'error' | 'match';
    /** Lines up to here were told by an earlier watch. */
    after?: number;
  };
}

export type Effect = ShellEffect | CommandEffect | EmitEffect | NestedEffect | WatchEffect | TurnEffect;

export type Limit = 'maxIterations' | 'timeoutMs' | `budget.${'steps' | 'tokens' | 'usd' | 'wallMs'}`;

/** What a run may use, with all runs nested in it. */
export interface RunBudget {
  steps?: number;
  tokens?: number;
  usd?: number;
  /** Wall time the run may still take when it starts. */
  wallMs?: number;
  /** Where it runs out, the run is held and not stopped. */
  pause?: boolean;
  /** A segment's part of the run's budget. */
  isShare?: true;
}

/** A class of actions that can wait for approval. */
export type Approvable = 'write' | 'shell' | 'delete' | 'network';
export type Unasked = 'notify' | 'abort';

/** What bounds a run, its own and what it inherits. Times are absolute or in milliseconds. */
export interface RunLimits {
  maxIterations: number | null;
  /** Wall time the run may still take when it starts. */
  timeoutMs: number | null;
  stepTimeoutMs: number | null;
  /** How deep sentinels may be nested, counted from the outermost run. */
  nestingDepth: number | null;
  /** Classes of actions that wait for approval. */
  requireApproval?: Approvable[];
  /** Of these classes, those whose actions nobody is asked about: the persona is told, or nothing happens. */
  unasked?: { [Class in Approvable]?: Unasked };
  /** Absent: full. */
  mode?: Exclude<Mode, 'full'>;
  /** Memory of each step's processes together. */
  memoryMb?: number;
  /** Protected files that models may reach. */
  files?: string[];
  /** A model started it. `tools`: what the model may call, where the definition is the model's own. */
  brought?: { tools?: string[] };
  budget?: RunBudget;
  /** Rules over each action: those of the runs around it first. */
  policies?: Policy[];
}

export type Flow =
  | { kind: 'done' }
  | { kind: 'failed'; failure: FailureInfo }
  | { kind: 'stopped'; limit: string; failure?: FailureInfo }
  | { kind: 'cancelled' }
  | { kind: 'yield' }
  /** `key`: the step the segment begins with, as the definition stood at `revision`. */
  | { kind: 'segment'; key: string; revision: number };

/** The run's place in the group that its definition names. */
export interface GroupPlace {
  name: string;
  since: number;
  /** How long the run had been held when it first asked. */
  held: number;
  taken?: true;
  /** The run that it waits for. */
  behind?: string;
  /** What was last recorded of the wait. */
  told?: string;
}

/** The place of the run among those of its persona: taken, or asked for. */
export interface PersonaPlace {
  taken?: true;
  /** When it was asked for, and how long the run had been held then. */
  since?: number;
  held?: number;
  /** How many waited before it when it asked last. */
  ahead?: number;
}

/** How the run stands among those of its persona. */
export interface WithOthers {
  /** Of one that takes a place of its persona, while it has one or waits for it. */
  place?: PersonaPlace;
  still?: Stillness;
  toldAround?: ToldAround;
}

/** Where a step stands: its path, the passes open around it, and the key made of both. */
export interface Place {
  path: string;
  passes: readonly number[];
  key: string;
  /** Attempts that may follow this one. */
  attemptsLeft?: number;
}

/** `usage` only where the step cost something; `beside`: fields of the result that the value itself may lack. */
export type Ending = (
  | { value: Json; beside?: JsonObject }
  /** `gave`: the result of a step that has failed for what it was. */
  | { failure: FailureInfo; gave?: Json }
  | { cancelled: true }
) & {
  usage?: StepUsage;
  /** Of a step over a list. */
  items?: ItemsEnd;
};

/** How a model step comes to rest: with its end, or with that of its line of execution. `skip`: a persona said that the run goes on without it. */
export type Halt = { flow: Flow } | { ending: Ending; skip?: true };
