/** A step that may write to its project, between two recorded states of it. */
import type { JsonObject } from '../../language/json.ts';
import { mayWriteFiles } from '../../language/permissions.ts';
import type { StepCheckpoints, WritingStep } from '../../operations/checkpoints/step-checkpoints.ts';
import type { RowSink } from '../../prisma/store/contract/session-contract.ts';
import { type Secrets, unsealedFor } from '../../operations/secrets/secrets.ts';
import { LeftBehind } from '../../world/processes/overtaken.ts';
import { beating } from '../../world/processes/beating.ts';
import type { CommandContext } from '../../operations/command.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import type { Registry } from '../../operations/registry.ts';

/** To be called once the step has ended; where they are given, `rows` take what is to be written. */
export type KeepEnd = (rows?: RowSink) => Promise<void>;

/** What of a step says what it may write. */
export type Writing = Pick<WritingStep, 'what' | 'isBackground' | 'paths'>;

/** Keeps the state of the project before a step; null where none is kept around it. */
export async function keepState(
  checkpoints: StepCheckpoints | null,
  of: StepOfProject,
  step: Writing,
  rows?: RowSink,
): Promise<KeepEnd | null> {
  const { key, attempt, confinement } = of;
  const { handle } = of.run;
  if (checkpoints === null || confinement?.mode === 'readonly') return null;
  const project = rootOf(of);
  const isTaken = await checkpoints.begin({ handle, key, project, attempt, ...step }, rows);
  return (ending) =>
    isTaken ? checkpoints.end({ handle, key, project }, ending) : checkpoints.endWithout({ handle, key }, ending);
}

interface StepOfProject extends Pick<CommandContext, 'key' | 'attempt' | 'confinement'> {
  run: Pick<CommandContext['run'], 'handle' | 'project'>;
}

/** Between two looks at the project. */
export async function checkpointed<Result>(
  checkpoints: StepCheckpoints | null,
  context: CommandContext,
  step: Writing,
  run: () => Promise<Result>,
): Promise<Result> {
  const keepEnd = await beating(context, () => keepState(checkpoints, context, step));
  if (keepEnd === null) return run();
  let hasEnded = !step.isBackground;
  try {
    return await run();
  } catch (error) {
    if (error instanceof LeftBehind) hasEnded = false;
    throw error;
  } finally {
    if (hasEnded) await beating(context, () => keepEnd());
  }
}

/** Whether a command may change files of the project. */
export const writesFiles = (registry: Registry, name: string, params: JsonObject): boolean =>
  mayWriteFiles(registry.catalogue, name, params) || registry.find(name)?.writesFiles?.(params) === true;

/** What a command says of what it writes; null where it writes nothing. */
export function writingOf(
  registry: Registry,
  name: string,
  params: JsonObject,
  context: CommandContext & { secrets: Secrets },
): Writing | null {
  if (!writesFiles(registry, name, params)) return null;
  const isBackground = registry.find(name)?.isBackground?.(params) === true;
  return { what: name, isBackground, paths: filesOf(registry, name, params, context) };
}

/** A name that is a secret is no one's to keep: then nobody says which file it is. */
function filesOf(
  registry: Registry,
  name: string,
  params: JsonObject,
  context: CommandContext & { secrets: Secrets },
): string[] | null {
  const written = unsealedFor(registry.find(name), params, context.secrets);
  return written['path'] === params['path'] ? registry.writes(name, written, context) : null;
}
