/** The sockets on which the workers of projects receive what the worker with the port hands on. */
import { join } from 'node:path';
import { fitsSocket, makePrivateFolder, shortFolderFor } from '../../services/processes/sockets.ts';
import { ProjectAsks } from '../../services/supervisor/project-asks.ts';

/** In a folder that is closed to other users. */
export function socketOfProject(home: string, key: string): string {
  const name = `hooks-${key}.sock`;
  const own = join(home, 'hooks');
  return join(fitsSocket(own, name) ? own : `${shortFolderFor(home)}-hooks`, name);
}

export function openSocketFolder(socket: string): void {
  makePrivateFolder(join(socket, '..'));
}

/** Of all projects that have sources: one that is not there just now is asked for all the same. */
export function socketsOfProjects(home: string): () => readonly string[] {
  const asks = new ProjectAsks(home);
  return () => asks.list().flatMap(({ key, receives }) => (receives ? [socketOfProject(home, key)] : []));
}
