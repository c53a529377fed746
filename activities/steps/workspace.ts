/** The workspace of a run, at its beginning and at its end. */
import type { CommandContext } from '../../operations/command.ts';
import { endWorkspace, type WorkspaceEnd } from '../../operations/workspaces/end-workspace.ts';
import { forkWorkspace } from '../../operations/workspaces/open-workspace.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { beating } from '../../world/processes/beating.ts';

/** The folder in which it works. */
export function workspaceFor({ name }: { name: string }, context: CommandContext): Promise<string> {
  const { run, key, store } = context;
  const isRunning = async (handle: string): Promise<boolean> => (await store.runs.find(handle))?.finishedAt === null;
  return beating(context, async () => {
    const { root } = await forkWorkspace(rootOf(context), name, { handle: run.handle, key, isRunning });
    return root;
  });
}

export function workspaceLeft({ title }: { title: string }, context: CommandContext): Promise<WorkspaceEnd | null> {
  return beating(context, () => endWorkspace(rootOf(context), { title, by: context.run.handle }));
}
