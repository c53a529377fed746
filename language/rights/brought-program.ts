/**
 * A program that a model brings (to start it, or to store it) does no more than the model may: it names the commands
 * that the model may call and no other, no shell where the model has none, no event, no environment, no protected
 * file, and no rule by which others are asked, stopped or started. What holds around it (mode, approvals, budget,
 * depth) it inherits besides.
 *
 * The tables below are the whole of it: a key that has no row here is no key of the format, or does not compile.
 */
import { SHELL_COMMAND, toolsOf, type Catalogue } from '../catalogue.ts';
import type { Json } from '../json.ts';
import type { Definition, LoopConfig, OnUnknown, Safety, Step } from '../model.ts';
import { secretFilesIn } from './secret-files.ts';

interface Held {
  catalogue: Catalogue;
  tools: ReadonlySet<string>;
}

/** What of it goes beyond the tools, as half a sentence; null where nothing does. */
export function beyondTools(definition: Definition, catalogue: Catalogue, tools: readonly string[]): string | null {
  const [file] = secretFilesIn(definition as unknown as Json);
  if (file !== undefined) return `it names the protected file "${file}"`;
  return inDefinition(definition, { catalogue, tools: new Set(tools) });
}

/** What lets a draft of a model do more. */
export const draftRemedy =
  'give the step of that model the command as a tool, or set "trustDrafts": true in the definition that runs the draft';

/** `free`: whatever it says, nobody gets more by it. Else what the value goes beyond. */
export type Row<Value> = 'free' | ((value: Value, held: Held) => string | null);
export type Rows<Whole> = { readonly [Key in keyof Whole]-?: Row<Exclude<Whole[Key], undefined>> };

const refused = (why: string) => (): string => why;
const refusedUnlessEmpty =
  (why: string) =>
  (value: readonly unknown[]): string | null =>
    value.length === 0 ? null : why;
/** Rules that are a person's to make; the other words make the run stricter, or say what holds anyway. */
const refusedAs =
  (word: unknown, why: string) =>
  (value: unknown): string | null =>
    value === word ? why : null;

const steps: Row<Step[]> = (block, held) => firstOf(block, (step) => inStep(step, held));
const blocks: Row<Step[][]> = (branches, held) => firstOf(branches.flat(), (step) => inStep(step, held));
const loop: Row<LoopConfig> = (config) => (config.type === 'event' ? `it waits for the event "${config.event}"` : null);

/** What of a definition's safety makes it stricter is anybody's. */
export const SAFETY: Rows<Safety> = {
  maxIterations: 'free',
  timeoutMs: 'free',
  maxStepTimeoutMs: 'free',
  maxMemoryMb: 'free',
  maxNestingDepth: 'free',
  onTimeout: refusedAs('pause', 'it would be held at its limits ("onTimeout")'),
  requireApproval: 'free',
  allowFiles: ([file]) => (file === undefined ? null : `it names the protected file "${file}"`),
  budget: 'free',
};

export const DEFINITION: Rows<Definition> = {
  $schema: 'free',
  id: 'free',
  name: 'free',
  description: 'free',
  recipe: refused('it has sources of its own ("recipe")'),
  ragSources: refusedUnlessEmpty('it has sources of its own ("ragSources")'),
  // Only points out some of what the steps may call.
  tools: 'free',
  steps,
  always: steps,
  loop,
  trigger: ({ type }) => (type === 'event' || type === 'schedule' ? `it has a trigger of type "${type}"` : null),
  concurrency: ({ group }) => `it takes part in the group "${group}" ("concurrency")`,
  timeoutMs: 'free',
  safety: (value, held) => inRows(value, SAFETY, held),
  mode: 'free',
  durability: 'free',
  escalateOn: refusedUnlessEmpty('it says who is asked, and when nobody is ("escalateOn")'),
  reportTo: refusedAs('silent', 'it reports to nobody ("reportTo")'),
  env: ([variable]) => (variable === undefined ? null : `it reads the environment variable "${variable}"`),
  strict: 'free',
  trustDrafts: refusedAs(true, 'it trusts what its models draft ("trustDrafts")'),
  defaults: 'free',
  inputs: 'free',
  inputSchema: 'free',
  outputs: 'free',
};

const uses = (command: string, { tools }: Held): string | null =>
  tools.has(command) ? null : `it uses "${command}", which the model may not call`;

const unrepeated =
  (beyond: string) =>
  (how: OnUnknown): string | null =>
    how === 'ask' || how === 'skip' ? null : beyond;

const COMMON = {
  type: 'free',
  name: 'free',
  outputTo: 'free',
  onError: 'free',
  retry: 'free',
  timeoutMs: 'free',
} as const;
const { outputTo: _outputTo, ...BARE } = COMMON;

type StepRows = { readonly [Type in Step['type']]: Rows<Extract<Step, { type: Type }>> };

export const STEPS: StepRows = {
  shell: {
    ...COMMON,
    command: (_line, held) => uses(SHELL_COMMAND, held),
    args: 'free',
    cwd: 'free',
    env: 'free',
    stdin: 'free',
    failOn: 'free',
    onUnknown: unrepeated('it runs again without asking what may have been done ("onUnknown")'),
  },
  command: { ...COMMON, command: (name, held) => uses(name, held), params: 'free', failOn: 'free' },
  llm: {
    ...COMMON,
    prompt: 'free',
    system: 'free',
    messages: 'free',
    images: 'free',
    model: 'free',
    temperature: 'free',
    maxTokens: 'free',
    maxTurns: 'free',
    thinking: 'free',
    tools: 'free',
    parseToolCalls: 'free',
    onUnknown: unrepeated('it repeats calls in doubt without asking ("onUnknown")'),
    schema: 'free',
    autoCompact: 'free',
    stopWhen: 'free',
    onStuck: refusedAs('ignore', 'its model turns in circles without anybody hearing of it ("onStuck")'),
    unchangedTurns: 'free',
  },
  watch: {
    ...COMMON,
    executionId: 'free',
    rules: 'free',
    until: 'free',
    event: (event) => `it waits for the event "${event}"`,
  },
  emit: { ...COMMON, event: (event) => `it publishes the event "${event}"`, data: 'free' },
  sentinel: {
    ...COMMON,
    definition: (definition, held) =>
      '$ref' in definition ? ofReference(definition.$ref) : inDefinition(definition, held),
    await: 'free',
    inputs: 'free',
  },
  approval: {
    ...COMMON,
    message: 'free',
    show: 'free',
    form: 'free',
    assignee: (persona) => `it asks "${persona}" in place of its own persona`,
    approvers: () => 'it asks others in place of its own persona ("approvers")',
    onTimeout: refusedAs('approve', 'it counts silence as approval ("onTimeout")'),
    remindAfterMs: 'free',
  },
  fail: { ...BARE, message: 'free', code: 'free' },
  set: { ...BARE, values: 'free' },
  sleep: { ...COMMON, durationMs: 'free', until: 'free' },
  // Which runs they are shows when it is walked: interpreter/walk/join.ts.
  join: { ...COMMON, handles: 'free' },
  condition: { ...BARE, check: 'free', then: steps, else: steps, always: steps },
  loop: { ...COMMON, loop, steps },
  parallel: {
    ...COMMON,
    branches: blocks,
    failFast: 'free',
    over: 'free',
    as: 'free',
    steps,
    itemErrors: 'free',
    maxConcurrency: 'free',
  },
};

const inDefinition = (definition: Definition, held: Held): string | null => inRows(definition, DEFINITION, held);

function inStep(step: Step, held: Held): string | null {
  const beyond = inRows(step, STEPS[step.type] as Rows<Step>, held);
  if (beyond !== null || step.type !== 'llm') return beyond;
  // What it may call is more than it names where it names none.
  return firstOf(toolsOf(step, held.catalogue), (name) => uses(name, held));
}

/** What a variable holds is known to nobody before it runs. */
const ofReference = (name: string): string | null => (/[${]/.test(name) ? `it runs whatever "${name}" holds` : null);

function inRows<Whole extends object>(whole: Whole, rows: Rows<Whole>, held: Held): string | null {
  return firstOf(Object.keys(whole) as (keyof Whole)[], (key) => {
    const value = whole[key] as Exclude<Whole[keyof Whole], undefined> | undefined;
    // No reader lets a key through that has no row.
    const row = Object.hasOwn(rows, key) ? rows[key] : refused(`it says "${String(key)}"`);
    return row === 'free' || value === undefined ? null : row(value, held);
  });
}

function firstOf<Item>(items: readonly Item[], find: (item: Item) => string | null): string | null {
  for (const item of items) {
    const found = find(item);
    if (found !== null) return found;
  }
  return null;
}
