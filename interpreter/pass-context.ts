/**
 * The context of a pass: before its steps begin, `rag/build` collects what the definition's recipe and sources
 * name. It is a step of a block of its own (`context.0@3`), decided, performed and told of like any other, and
 * what it collects is rows under that key, which every model step of the pass reads.
 */
import { CONTEXT_COMMAND, hasSources } from '../language/catalogue.ts';
import type { Json } from '../language/json.ts';
import type { CommandStep, Definition } from '../language/model.ts';
import { defined } from '../language/defined.ts';
import type { BlockFrame, LoopFrame } from './position.ts';

export const CONTEXT_BLOCK = 'context';

/** Whatever attempt of the step collected it. */
export const contextKey = ([pass = 1]: readonly number[]): string => `${CONTEXT_BLOCK}.0@${pass}`;

const stepsByDefinition = new WeakMap<Definition, readonly CommandStep[]>();

/** The block; empty where the definition names no sources. */
export function contextSteps(definition: Definition): readonly CommandStep[] {
  const steps = stepsByDefinition.get(definition) ?? (hasSources(definition) ? [collecting(definition)] : []);
  stepsByDefinition.set(definition, steps);
  return steps;
}

function collecting({ recipe, ragSources = [] }: Definition): CommandStep {
  return {
    type: 'command',
    command: CONTEXT_COMMAND,
    params: {
      ...defined({ recipe }),
      sources: ragSources.map((source) => sourceOf(source)),
      // The rows are what the pass reads; the run itself keeps no copy.
      withText: false,
    },
  };
}

const REFERENCE = /^\s*(?:\$[A-Za-z_][\w.[\]]*|\{\{[^{}\n]+\}\})\s*$/;

/** What a reference stands for is told, and never read as the name of a source. */
function sourceOf(source: string): Json {
  if (!REFERENCE.test(source)) return source;
  return { name: source.replaceAll(/[${}]/g, '').trim(), value: source.trim() };
}

/** Where the pass under way stands with its context; null where it has none. */
export function contextFrame(definition: Definition, loop: LoopFrame): BlockFrame | null {
  if (contextSteps(definition).length === 0) return null;
  if (loop.context?.pass !== loop.pass) loop.context = { pass: loop.pass, block: { at: 0 } };
  return loop.context.block;
}
