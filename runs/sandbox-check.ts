/**
 * Whether a run can keep to its mode here, asked before it starts. A definition counts with every
 * definition in it, and with those its `$ref`s name.
 */
import { findSandbox } from '../world/confinement/sandbox.ts';
import { blocksOf } from '../language/blocks.ts';
import type { Definition, Step } from '../language/model.ts';

/** What is in the way, with the remedy; null when nothing is. */
export async function sandboxProblem(definitions: readonly Definition[]): Promise<string | null> {
  const wanting = definitions.find((definition) => wantsSandbox(definition));
  if (wanting === undefined) return null;
  const finding = await findSandbox();
  if (finding.ok) return null;
  return `"${wanting.name}" is to run "sandboxed", and ${finding.reason}. ${finding.remedy} Or use another "mode".`;
}

function wantsSandbox(definition: Definition): boolean {
  const inside = (steps: readonly Step[]): boolean =>
    steps.some((step) => {
      if (step.type !== 'sentinel') return blocksOf(step).some((block) => inside(block.steps));
      return !('$ref' in step.definition) && wantsSandbox(step.definition);
    });
  return definition.mode === 'sandboxed' || inside(definition.steps) || inside(definition.always ?? []);
}
