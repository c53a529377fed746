/** Names in folders of a project, and which of them git ignores. */
import type { Dirent } from 'node:fs';
import type { Kind, KnownFolder } from '../../world/git/trees/known-tree.ts';
import type { ShadowGit } from '../../world/git/trees/shadow-git.ts';

export interface Named {
  folder: KnownFolder;
  name: string;
}

export interface Unknown extends Named {
  kind: Kind;
}

export const kindOf = (entry: Dirent): Kind | null => {
  if (entry.isDirectory()) return 'folder';
  if (entry.isSymbolicLink()) return 'link';
  return entry.isFile() ? 'file' : null;
};

export async function ignoredOf(git: ShadowGit, some: readonly Unknown[]): Promise<Set<Unknown>> {
  // A name that begins with a colon would be a pattern.
  const paths = some.map(({ folder, name }) => `./${folder.path}${name}`);
  const said = await git.run(['check-ignore', '--no-index', '-z', '--stdin'], {
    stdin: `${paths.join('\0')}\0`,
    codes: [0, 1],
    isPatterned: true,
  });
  const named = new Set(said.toString('utf8').split('\0'));
  return new Set(some.filter((_, at) => named.has(paths[at] ?? '')));
}

export const holdsFiles = (folder: KnownFolder): boolean =>
  folder.files.size > 0 || [...folder.folders.values()].some((below) => holdsFiles(below));

export const pathsIn = (folder: KnownFolder): string[] => [
  ...[...folder.files.keys()].map((name) => `${folder.path}${name}`),
  ...[...folder.folders.values()].flatMap((below) => pathsIn(below)),
];
