/**
 * The catalogue of commands as a value: what the reader, the interpreter and `explain` know of a command
 * without its code. It comes in from outside: with the options of reading a definition, and with a run's
 * input, which holds the entries of the commands that the run can perform. So a project can have commands
 * of its own, and a replay finds a command as it was when the run began.
 *
 * An entry is plain data. Whether a command is quick decides what a run's history looks like, so changing
 * `speed` of a built command is a change of behaviour (interpreter/changes.ts).
 */
import { blocksOf } from './blocks.ts';
import type { CommandStep, Definition, LlmStep, Step } from './model.ts';
import { isRetryable, titleOf, type StatedFailures } from './stated-failures.ts';
import { verificationOf } from './unknown-outcomes.ts';

export type Permission = 'read' | 'write' | 'shell' | 'delete' | 'network';

/** What a command states of itself, besides its schemas and its code. */
export interface CommandFacts {
  permission: Permission;
  /** Where a command has several operations: the class of those that differ from `permission`. */
  operations?: { readonly [operation: string]: Permission };
  /** quick: local and short; reads, or writes to our own store only. long: everything else. */
  speed: 'quick' | 'long';
  /** How long a step may take that does not say; `commandTimeoutMs` unless stated. */
  timeoutMs?: number;
  /** The field that stands for the result where it is used as text. */
  textField?: string;
  /** Parameters that are text: what they refer to stands for its text there. */
  textParams?: readonly string[];
  /** Parameters that hold a definition or steps: their references belong to the run that reads them. */
  programParams?: readonly string[];
  /** Its parameter `command` is a line for a shell; with `args` beside it no shell reads it. */
  takesShellLine?: true;
  /** What it does to runs outside this one, which the mode of this one does not reach. */
  otherRuns?: 'starts' | 'edits' | 'controls' | 'defines';
  /** Its code runs beside the sandbox and not in it: a "sandboxed" run has only those that read. */
  unconfined?: true;
  /** It asks a model: `usage` of its result, or of its failure, counts against the run's budget. */
  asksModel?: true;
  /** What its code does by the words of its context, beside what its permission says. */
  uses?: Uses;
  /** What it does depends on how things stand: that is found out before a person is asked, and nothing else is done then. */
  resolves?: true;
  /** It opens or closes a workspace: `root` of its result is the folder in which the run goes on, null for the project. */
  movesRun?: true;
  /** Of a long one: the queue of its own on which it is performed, as `queues` of its system states it. */
  queue?: string;
  /** The codes with which nothing but it fails, or its system; a run carries those alone that no repeat changes. */
  failures?: StatedFailures;
}

/** A run judges, and sets budget aside, by what a command states here. */
export interface Uses {
  /** How many runs it starts at most, each time that it is performed. */
  runs?: number;
  /** It asks models: what that took comes beside its result. */
  models?: true;
  /** It changes steps of runs, which may be others than its own. */
  edits?: true;
}

export interface CommandEntry extends CommandFacts {
  /** Part of the format, and not built yet: the step fails when it is reached. */
  planned?: true;
}

export interface Catalogue {
  readonly [command: string]: CommandEntry;
}

export function findCommand(catalogue: Catalogue, name: string): CommandEntry | undefined {
  return Object.hasOwn(catalogue, name) ? catalogue[name] : undefined;
}

type Does = Pick<CommandFacts, 'otherRuns' | 'asksModel' | 'uses'>;

export const startsRuns = ({ otherRuns, uses }: Does): boolean => otherRuns === 'starts' || uses?.runs !== undefined;
export const editsRuns = ({ otherRuns, uses }: Does): boolean => otherRuns === 'edits' || uses?.edits === true;
export const asksModels = (does: Does): boolean => does.asksModel === true || does.uses?.models === true;

/** Of a command that a run performs: the reader lets no other into a definition, so a missing one is a bug. */
export function entryOf(catalogue: Catalogue, name: string): CommandEntry {
  const entry = findCommand(catalogue, name);
  if (entry === undefined) throw new Error(`bug: the run's catalogue has no command "${name}"`);
  return entry;
}

/** The line that a command hands to a shell. */
export function shellLineOf(
  catalogue: Catalogue,
  { command, params = {} }: Pick<CommandStep, 'command' | 'params'>,
): string | undefined {
  const { command: line, args } = params;
  const takesLine = findCommand(catalogue, command)?.takesShellLine === true;
  return takesLine && args === undefined && typeof line === 'string' ? line : undefined;
}

/** The entries of the commands that the definitions name, those written inside them included. */
export function entriesFor(catalogue: Catalogue, definitions: readonly Definition[]): Catalogue {
  const named = new Set<string>();
  for (const definition of definitions) collectFrom(definition, catalogue, named);
  return entriesNamed(catalogue, named);
}

export function entriesOfSteps(catalogue: Catalogue, steps: readonly Step[]): Catalogue {
  const named = new Set<string>();
  for (const step of steps) collectNames(step, catalogue, named);
  return entriesNamed(catalogue, named);
}

/** In the order of the catalogue, so that the same commands make the same value wherever they stand. */
const entriesNamed = (catalogue: Catalogue, named: ReadonlySet<string>): Catalogue =>
  Object.fromEntries(
    Object.entries(catalogue)
      .filter(([name]) => named.has(name))
      .map(([name, entry]) => [name, entryOfRun(entry)]),
  );

function entryOfRun({ failures = {}, ...entry }: CommandEntry): CommandEntry {
  const permanent = Object.entries(failures).filter(([, stated]) => !isRetryable(stated));
  return permanent.length === 0 ? entry : { ...entry, failures: Object.fromEntries(permanent) };
}

/** What the codes mean that commands state. */
export const failuresIn = (catalogue: Catalogue): { readonly [code: string]: string } =>
  Object.fromEntries(
    Object.values(catalogue).flatMap(({ failures = {} }) =>
      Object.entries(failures).map(([code, stated]) => [code, titleOf(stated)]),
    ),
  );

function collectFrom(definition: Definition, catalogue: Catalogue, named: Set<string>): void {
  const { steps, always = [] } = definition;
  if (hasSources(definition)) named.add(CONTEXT_COMMAND);
  for (const step of [...steps, ...always]) collectNames(step, catalogue, named);
}

function collectNames(step: Step, catalogue: Catalogue, named: Set<string>): void {
  if (step.type === 'command') named.add(step.command);
  if (step.type === 'llm') for (const tool of toolsOf(step, catalogue)) named.add(tool);
  const verification = verificationOf(step);
  if (verification !== undefined) named.add(verification.verify);
  for (const { steps } of blocksOf(step)) for (const inner of steps) collectNames(inner, catalogue, named);
  if (step.type !== 'sentinel' || '$ref' in step.definition) return;
  collectFrom(step.definition, catalogue, named);
}

/** The commands that a model step may call: those it names, or with `parseToolCalls` alone all that are built. */
export function toolsOf(
  { tools, parseToolCalls }: Pick<LlmStep, 'tools' | 'parseToolCalls'>,
  catalogue: Catalogue,
): string[] {
  if (tools !== undefined) return tools.filter((name) => findCommand(catalogue, name) !== undefined);
  if (parseToolCalls !== true) return [];
  return Object.keys(catalogue).filter((name) => findCommand(catalogue, name)?.planned !== true);
}

/** Collects the context of a pass. */
export const CONTEXT_COMMAND = 'rag/build';

/** What a shell step is as a command. */
export const SHELL_COMMAND = 'code/shell/execute';

/** Where a definition's recipe or its sources name what its model steps are to know, it is collected before each pass. */
export const hasSources = (definition: Definition): boolean => namesSources(definition) && asksModel(definition);

const namesSources = ({ recipe, ragSources = [] }: Definition): boolean =>
  (recipe !== undefined && recipe.trim() !== '') || ragSources.length > 0;

function asksModel({ steps, always = [] }: Definition): boolean {
  const asks = (step: Step): boolean =>
    step.type === 'llm' || blocksOf(step).some(({ steps: inner }) => inner.some((one) => asks(one)));
  return [...steps, ...always].some((step) => asks(step));
}
