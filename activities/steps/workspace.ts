/** The workspace of a run, at its beginning and at its end. */
import type { LeftWorkspaces } from '../../interpreter/workspace.ts';
import type { JsonObject } from '../../language/json.ts';
import type { CommandContext } from '../../operations/command.ts';
import { endWorkspace, type WorkspaceEnd } from '../../operations/workspaces/end-workspace.ts';
import { forkWorkspace, type Owner } from '../../operations/workspaces/open-workspace.ts';
import { takeOverWorkspace } from '../../operations/workspaces/take-over.ts';
import { rootOf } from '../../world/confinement/confine.ts';
import { beating } from '../../world/processes/beating.ts';

/** The folder in which it works. */
export function workspaceFor({ name }: { name: string }, context: CommandContext): Promise<string> {
  return beating(context, async () => {
    const { root } = await forkWorkspace(rootOf(context), name, ownerIn(context));
    return root;
  });
}

/** By each folder of the other run, the one of this run. */
export function workspacesTaken({ of, roots }: LeftWorkspaces, context: CommandContext): Promise<JsonObject> {
  const owner = ownerIn(context);
  return beating(context, async () => {
    const taken: JsonObject = {};
    for (const [index, root] of roots.entries())
      taken[root] = await takeOverWorkspace(root, of, { ...owner, key: `${owner.key}.${index}` });
    return taken;
  });
}

const ownerIn = ({ run, key, store }: CommandContext): Owner => ({
  handle: run.handle,
  key,
  isRunning: async (handle) => (await store.runs.find(handle))?.finishedAt === null,
});

export function workspaceLeft({ title }: { title: string }, context: CommandContext): Promise<WorkspaceEnd | null> {
  return beating(context, () => endWorkspace(rootOf(context), { title, by: context.run.handle }));
}
