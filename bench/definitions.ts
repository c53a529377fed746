/** The definitions that are measured, as functions of their size. */
import type { CommandFacts } from '../language/catalogue.ts';
import type { Json, JsonObject } from '../language/json.ts';
import { modelOf, promptOf, type AgentSpec, type Tool } from './agents/protocol.ts';
import type { CommandStep, Definition, Step } from '../language/model.ts';
import { defined } from '../language/defined.ts';

export const NOOP = 'bench/noop';
export const NOOP_FACTS: CommandFacts = { permission: 'read', speed: 'long' };

/** A tool that counts at the double of the model how often it is done. */
export const LOOK = 'bench/look';
export const LOOK_FACTS: CommandFacts = { permission: 'read', speed: 'long' };

/** A project's own command that writes. */
export const APPEND = 'bench/append';
export const APPEND_FACTS: CommandFacts = { permission: 'write', speed: 'long' };

export type Shape = 'sequence' | 'loop' | 'branch' | 'fan';
export const SHAPES: readonly Shape[] = ['sequence', 'loop', 'branch', 'fan'];

const repeated = (count: number, step: (index: number) => Step): Step[] =>
  Array.from({ length: count }, (_, index) => step(index));
const command = (name: string, params: JsonObject, outputTo?: string): CommandStep => ({
  type: 'command',
  command: name,
  params,
  ...defined({ outputTo }),
});
const noop = (params: { [name: string]: Json }): CommandStep => command(NOOP, params);
const counted = (passes: number): Pick<Definition, 'loop' | 'safety'> => ({
  loop: { type: 'count', max: passes },
  safety: { maxIterations: passes },
});

/** `count` no-op steps, each an activity of its own. */
export function shaped(shape: Shape, count: number): Definition {
  const common = { name: `bench-${shape}-${count}`, durability: 'step' as const };
  switch (shape) {
    case 'sequence':
      return { ...common, loop: { type: 'once' }, steps: repeated(count, (index) => noop({ index })) };
    case 'loop':
      return { ...common, ...counted(count), steps: [noop({ pass: '$iteration' })] };
    case 'branch': {
      const choice: Step = {
        type: 'condition',
        check: '$iteration % 2 == 0',
        then: [noop({ even: '$iteration' })],
        else: [noop({ odd: '$iteration' })],
      };
      return { ...common, ...counted(count), steps: [choice] };
    }
    case 'fan':
      return {
        ...common,
        loop: { type: 'once' },
        steps: [{ type: 'parallel', branches: Array.from({ length: count }, (_, index) => [noop({ index })]) }],
      };
    default:
      return shape satisfies never;
  }
}

/** The loop of `shaped`, with a nested run for each pass. */
export function nestedLoop(count: number): Definition {
  const onePass: Definition = {
    name: 'bench-one-pass',
    durability: 'step',
    loop: { type: 'once' },
    steps: [noop({ pass: '$pass' })],
  };
  const step: Step = { type: 'sentinel', definition: onePass, inputs: { pass: '$iteration' } };
  return { name: `bench-nested-loop-${count}`, durability: 'step', ...counted(count), steps: [step] };
}

export type Mix = 'code-read' | 'data-read' | 'data-create';
export const MIXES: readonly Mix[] = ['code-read', 'data-read', 'data-create'];
/** What a step of a peer and of the hand-written workflows does. */
export type Kind = Mix | 'shell';
export const COLLECTION = 'bench-rows';

function quickStep(mix: Mix, index: number): CommandStep {
  switch (mix) {
    case 'code-read':
      return command('code/read', { path: 'notes.txt' }, 'found');
    case 'data-read':
      return command('data/read', { collection: COLLECTION, id: 'row' }, 'found');
    case 'data-create':
      return command('data/create', { collection: 'bench-written', data: { index } });
    default:
      return mix satisfies never;
  }
}

export function quickSteps(mix: Mix, count: number): Definition {
  return {
    name: `bench-${mix}-${count}`,
    loop: { type: 'once' },
    steps: repeated(count, (index) => quickStep(mix, index)),
  };
}

/** The same steps side by side, each a branch of its own. */
export function quickFan(mix: Mix, count: number): Definition {
  const branches = Array.from({ length: count }, (_, index) => [quickStep(mix, index)]);
  return { name: `bench-fan-${mix}-${count}`, loop: { type: 'once' }, steps: [{ type: 'parallel', branches }] };
}

export const shellLine = (index: number): string => `echo step ${index}`;

const shellStep = (index: number): Step => ({ type: 'shell', command: shellLine(index) });

export function shellSteps(count: number): Definition {
  return { name: `bench-shell-${count}`, loop: { type: 'once' }, steps: repeated(count, shellStep) };
}

export function shellFan(count: number): Definition {
  const branches = Array.from({ length: count }, (_, index) => [shellStep(index)]);
  return { name: `bench-fan-shell-${count}`, loop: { type: 'once' }, steps: [{ type: 'parallel', branches }] };
}

/** One quick step for each of `count` numbers. It keeps no results: together they could exceed what a value may hold. */
export function quickList(count: number): Definition {
  const items = Array.from({ length: count }, (_, index) => index);
  const steps = [command('code/read', { path: 'notes.txt' })];
  return {
    name: `bench-list-${count}`,
    inputs: { items },
    loop: { type: 'once' },
    steps: [{ type: 'parallel', over: '$items', as: 'item', maxConcurrency: 8, steps }],
  };
}

/** Writes the row that `data-read` reads. */
export const seeding: Definition = {
  name: 'bench-seeding',
  loop: { type: 'once' },
  steps: [command('data/create', { collection: COLLECTION, id: 'row', data: { text: 'a row to read', number: 3 } })],
};

/** Passes of `quick` quick steps followed by `conditions` conditions. */
export function quickLoop(
  passes: number,
  quick: number,
  conditions: number,
  durability: 'segment' | 'step' = 'segment',
): Definition {
  const checks = repeated(conditions, (): Step => ({
    type: 'condition',
    check: '$iteration > 0 && $found.bytes != 1',
  }));
  const steps = [...repeated(quick, () => quickStep('code-read', 0)), ...checks];
  return { name: `bench-loop-${passes}`, durability, ...counted(passes), steps };
}

/** Nothing but conditions: the walk stays in the workflow as long as it may. */
export function pureLoop(passes: number): Definition {
  return {
    name: `bench-pure-${passes}`,
    durability: 'step',
    ...counted(passes),
    steps: [{ type: 'condition', check: '$iteration > 0' }],
  };
}

const TOOLS: { [tool in Tool]: string } = { read: 'code/read', look: LOOK, append: APPEND };

/** One model step with one tool. */
export function agentSteps(spec: AgentSpec, durability: 'segment' | 'step' = 'segment'): Definition {
  return {
    name: `bench-agent-${spec.turns}`,
    durability,
    loop: { type: 'once' },
    steps: [
      {
        type: 'llm',
        model: `openai/${modelOf(spec)}`,
        prompt: promptOf(spec.token),
        tools: [TOOLS[spec.tool]],
        maxTurns: spec.turns,
        // The model of the benchmark asks for the same file each time.
        onStuck: 'ignore',
        outputTo: 'answer',
      },
    ],
  };
}
