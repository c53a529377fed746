/**
 * The definition that `run` is to start: a file, or a name looked up in the project's `sentinels/`,
 * among those that its systems bring and the shipped ones, and in the store. The store is asked only when it is up: a mistyped name is
 * no reason to start a server.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SavedOrigin } from '../language/events/run-event.ts';
import type { Store, StoredDefinition } from '../prisma/store/contract/contract.ts';
import { ClientError } from './client.ts';
import { filesAround, filesOfProject, isPathGiven } from './read-definition.ts';
import {
  commandsOf,
  inProject,
  readDefinitionFile,
  readWritten,
  type Commands,
  type DefinitionFiles,
  type DefinitionRead,
  type Known,
  type Named,
} from '../world/definitions/definition-files.ts';
import { nearestOf } from './nearest.ts';

/** Rounds of looking up what the definitions found in the last round refer to. */
const roundsMax = 20;

export interface FoundDefinition extends DefinitionRead {
  known: Known;
  /** Where it is a saved copy: what a run of it says of itself. */
  origin?: SavedOrigin;
  /** What whoever uses it should know, as sentences. */
  notices: string[];
}

/** The definitions in the store; null where it is not up. */
export type SavedIfUp = () => Promise<Pick<Store['definitions'], 'find'> | null>;

export async function findDefinition(
  given: string,
  project: string,
  commands: Commands,
  savedIfUp: SavedIfUp,
): Promise<FoundDefinition> {
  const files = filesOfProject(project, commands);
  const file = isPathGiven(given) ? resolve(given) : files.find(given);
  if (file !== null) {
    const around = filesAround(file, commands);
    return resolveReferences(
      (known) =>
        readDefinitionFile(file, { ...inProject(commands), known, refused: around.refused, near: around.near }),
      around,
      { project, savedIfUp },
    );
  }
  const written = files.written(given);
  if (written !== undefined) {
    const { refused, near } = files;
    return resolveReferences((known) => readStored(written, { ...commandsOf(commands), known, refused, near }), files, {
      project,
      savedIfUp,
    });
  }
  const saved = await savedIfUp();
  const stored = (await saved?.find(given)) ?? null;
  if (stored === null) {
    const where = saved === null ? ' in files, and the store is not up' : '';
    const hint = existsSync(given)
      ? `to read the file of that name, write "./${given}".`
      : `${nearestOf(given, files.names(), (name) => `write "${name}", or `)}give the path of a file.`;
    throw new ClientError('DEFINITION_NOT_FOUND', `There is no definition "${given}"${where}; ${hint}`);
  }
  const found = await resolveReferences(
    (known) =>
      readStored(stored.definition, { ...commandsOf(commands), known, refused: files.refused, near: files.near }),
    files,
    { project, savedIfUp },
  );
  const { originOf, savedNotices } = await import('./saved-copy.ts');
  return {
    ...found,
    origin: originOf(stored),
    notices: [...savedNotices(stored, project, commands), ...found.notices],
  };
}

const readStored = (definition: object, { known, refused, near, ...commands }: Named): DefinitionRead =>
  readWritten(definition, { ...commands, knownRefs: known, refusedRefs: refused, nearRef: near });

/** Reads again with what the store holds of the names that no file has; a file that cannot be read still is what its name means. */
async function resolveReferences(
  read: (known: Known) => DefinitionRead,
  files: DefinitionFiles,
  { project, savedIfUp }: { project: string; savedIfUp: SavedIfUp },
): Promise<FoundDefinition> {
  const stored = new Map<string, StoredDefinition | null>();
  const found = async (result: DefinitionRead, known: Known): Promise<FoundDefinition> => {
    const copies = [...stored.values()].filter((one) => one !== null);
    if (copies.length === 0) return { ...result, known, notices: [] };
    const { savedNotices } = await import('./saved-copy.ts');
    return { ...result, known, notices: copies.flatMap((copy) => savedNotices(copy, project, files)) };
  };
  for (let round = 0; ; round += 1) {
    const missing = new Set<string>();
    const known: Known = (name) => {
      const definition = files.known(name) ?? stored.get(name)?.definition;
      if (definition === undefined && !stored.has(name) && files.refused(name) === undefined) missing.add(name);
      return definition;
    };
    const result = read(known);
    if (missing.size === 0 || round === roundsMax) return found(result, known);
    if (result.problems.some(({ code, severity }) => severity === 'error' && code !== 'UNKNOWN_DEFINITION'))
      return found(result, known);
    const saved = await savedIfUp();
    if (saved === null) return found(result, known);
    for (const name of missing) stored.set(name, await saved.find(name));
  }
}
