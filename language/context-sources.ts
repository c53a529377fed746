/** Where the context of a definition's model steps comes from: its recipe and its own sources. */
import { blocksOf } from './blocks.ts';
import type { Definition, Step } from './model.ts';

/** Collects the context of a pass. */
export const CONTEXT_COMMAND = 'rag/build';

/** True where a context is built before each pass: somebody has to read it. */
export const hasSources = (definition: Definition): boolean => namesSources(definition) && asksModel(definition);

const namesSources = ({ recipe, ragSources = [] }: Definition): boolean =>
  (recipe !== undefined && recipe.trim() !== '') || ragSources.length > 0;

function asksModel({ steps, always = [] }: Definition): boolean {
  const asks = (step: Step): boolean =>
    step.type === 'llm' || blocksOf(step).some(({ steps: inner }) => inner.some((one) => asks(one)));
  return [...steps, ...always].some((step) => asks(step));
}
