/** Definitions that come from the store: said of what runs from one, and held against the files of the project. */
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { SavedOrigin } from '../language/events/run-event.ts';
import { contentHash } from '../prisma/store/values/content-hash.ts';
import type { Store, StoredDefinition } from '../prisma/store/contract/contract.ts';
import { DefinitionFiles, inProject, type Commands } from '../world/definitions/definition-files.ts';

/** Folders of a project that are looked into for files of a name. */
const foldersSearchedMax = 100;

export const originOf = ({ version, hash }: StoredDefinition): SavedOrigin => ({
  type: 'saved',
  version,
  id: hash,
});

const versionText = ({ version, createdAt }: StoredDefinition): string =>
  `version ${version} of ${new Date(createdAt).toISOString().slice(0, 16).replace('T', ' ')}`;

/** What whoever uses a saved copy should know: that it is one, and which file of the project says otherwise. */
export function savedNotices(stored: StoredDefinition, project: string, commands: Commands): string[] {
  const { name } = stored;
  const said = `"${name}" is the saved copy, ${versionText(stored)}; no definition in sentinels/ has that name`;
  const file = fileOf(stored, project, commands);
  if (file === null) return [said];
  const path = relative('.', file);
  return [
    said,
    `${path} has that name too and differs from the saved copy; run the file, or save it ("sentinel save ${path}")`,
  ];
}

/** A file of the project, or of a folder in it, that has the name and other content. */
function fileOf({ name, hash }: StoredDefinition, project: string, commands: Commands): string | null {
  for (const path of [project, ...foldersIn(project)]) {
    const files = new DefinitionFiles(inProject(commands), [{ path, deep: false }]);
    const definition = files.known(name);
    if (definition?.name === name && contentHash(definition) !== hash) return files.find(name);
  }
  return null;
}

function foldersIn(project: string): string[] {
  return readdirSync(project, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .slice(0, foldersSearchedMax)
    .map(({ name }) => join(project, name));
}

export interface DefinitionFile {
  file: string;
  definition: StoredDefinition['definition'];
}

/** A sentence for each file whose definition is saved under its name as something else. */
export async function differingCopies(
  { definitions }: Pick<Store, 'definitions'>,
  files: readonly DefinitionFile[],
): Promise<string[]> {
  const found = await Promise.all(
    files.map(async ({ file, definition }) => {
      const stored = await definitions.find(definition.name);
      if (stored === null || stored.hash === contentHash(definition)) return [];
      return [
        `the saved copy of "${definition.name}" (${versionText(stored)}) differs from ${file}; "sentinel save ${file}" saves the file`,
      ];
    }),
  );
  return found.flat();
}
