/**
 * A program that a model brings (to start it, or to store it) does no more than the model may: it names the commands
 * that the model may call and no other, no shell where the model has none, no event, no environment, no protected
 * file. What holds around it (mode, approvals, budget, depth) it inherits besides.
 */
import { blocksOf } from '../blocks.ts';
import { toolsOf, type Catalogue } from '../catalogue.ts';
import type { Json } from '../json.ts';
import type { Definition, Step } from '../model.ts';
import { secretFilesIn } from './secret-files.ts';

/** What a shell line is as a command. */
const SHELL = 'code/shell/execute';

interface Held {
  catalogue: Catalogue;
  tools: ReadonlySet<string>;
}

/** What of it goes beyond the tools, as half a sentence; null where nothing does. */
export function beyondTools(definition: Definition, catalogue: Catalogue, tools: readonly string[]): string | null {
  return inDefinition(definition, { catalogue, tools: new Set(tools) });
}

function inDefinition(definition: Definition, held: Held): string | null {
  const { env = [], safety, ragSources = [], recipe, steps, always = [] } = definition;
  const [variable] = env;
  if (variable !== undefined) return `it reads the environment variable "${variable}"`;
  const [file] = [...(safety?.allowFiles ?? []), ...secretFilesIn(definition as unknown as Json)];
  if (file !== undefined) return `it names the protected file "${file}"`;
  if (ragSources.length > 0 || recipe !== undefined) return 'it has sources of its own ("ragSources", "recipe")';
  return inSteps([...steps, ...always], held);
}

function inSteps(steps: readonly Step[], held: Held): string | null {
  for (const step of steps) {
    const found = inStep(step, held);
    if (found !== null) return found;
    for (const { steps: inner } of blocksOf(step)) {
      const within = inSteps(inner, held);
      if (within !== null) return within;
    }
  }
  return null;
}

function inStep(step: Step, held: Held): string | null {
  switch (step.type) {
    case 'shell':
      return uses(SHELL, held);
    case 'command':
      return uses(step.command, held);
    case 'llm': {
      const verify = typeof step.onUnknown === 'object' ? [step.onUnknown.verify] : [];
      const called = [...toolsOf(step, held.catalogue), ...verify].find((name) => !held.tools.has(name));
      return called === undefined ? null : uses(called, held);
    }
    case 'emit':
      return `it publishes the event "${step.event}"`;
    case 'sentinel':
      if (!('$ref' in step.definition)) return inDefinition(step.definition, held);
      // What a variable holds is known to nobody before it runs.
      return /[${]/.test(step.definition.$ref) ? `it runs whatever "${step.definition.$ref}" holds` : null;
    case 'approval':
    case 'fail':
    case 'set':
    case 'sleep':
    case 'join':
    case 'condition':
    case 'loop':
    case 'parallel':
    case 'watch':
      return null;
    default:
      return step satisfies never;
  }
}

const uses = (command: string, { tools }: Held): string | null =>
  tools.has(command) ? null : `it uses "${command}", which the model may not call`;
