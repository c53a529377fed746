/** A step that may write to its project, between two recorded states of it. */
import type { JsonObject } from '../../language/json.ts';
import { mayWriteFiles } from '../../language/permissions.ts';
import type { StepCheckpoints, WritingStep } from '../../operations/checkpoints/step-checkpoints.ts';
import { type Secrets, unsealedFor } from '../../operations/secrets/secrets.ts';
import { beating } from '../../world/processes/beating.ts';
import type { CommandContext } from '../../operations/command.ts';
import type { Registry } from '../../operations/registry.ts';

/** Between two looks at the project. */
export async function checkpointed<Result>(
  checkpoints: StepCheckpoints | null,
  context: CommandContext,
  step: Pick<WritingStep, 'what' | 'isBackground' | 'paths'>,
  run: () => Promise<Result>,
): Promise<Result> {
  if (checkpoints === null || context.confinement?.mode === 'readonly') return run();
  const { handle, project } = context.run;
  const { key, attempt } = context;
  const isTaken = await beating(context, () => checkpoints.begin({ handle, key, project, attempt, ...step }));
  try {
    return await run();
  } finally {
    const end = (): Promise<void> =>
      isTaken ? checkpoints.end({ handle, key, project }) : checkpoints.endWithout({ handle, key });
    if (!step.isBackground) await beating(context, end);
  }
}

/** Whether a command may change files of the project. */
export const writesFiles = (registry: Registry, name: string, params: JsonObject): boolean =>
  mayWriteFiles(registry.catalogue, name, params) || registry.find(name)?.writesFiles?.(params) === true;

/** A name that is a secret is no one's to keep: then nobody says which file it is. */
export function filesOf(
  registry: Registry,
  name: string,
  params: JsonObject,
  context: CommandContext & { secrets: Secrets },
): string[] | null {
  const written = unsealedFor(registry.find(name), params, context.secrets);
  return written['path'] === params['path'] ? registry.writes(name, written, context) : null;
}
