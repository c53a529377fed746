/** Where the workspaces of a project lie on this host. */
import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { workspacesFolder } from '../../../services/home/home-records.ts';

/** The folder for them; `project`: its real path. */
export function placeOf(project: string): string {
  const digest = createHash('sha256').update(project).digest('hex').slice(0, 16);
  const name = basename(project)
    .replaceAll(/[^A-Za-z0-9._-]/g, '_')
    .slice(0, 40);
  return join(workspacesFolder(), `${digest}-${name}`);
}
