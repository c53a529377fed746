/**
 * What a name means where a run uses it: the definition in the folders of its project that has it, and else what is saved.
 * One of a file is saved when it is first used, and again when the file has changed. Neither models nor sandboxed steps
 * write these folders (world/confinement/protected-places.ts).
 */
import { isAbsolute, relative } from 'node:path';
import type { Catalogue } from '../language/catalogue.ts';
import { problemsInWords } from '../language/read/remedies/problems-in-words.ts';
import type { Store, StoredDefinition } from '../prisma/store/contract/contract.ts';
import type { Seeker } from '../prisma/store/contract/sentinel-contract.ts';
import { DefinitionFiles, definitionsOf } from '../world/definitions/definition-files.ts';
import { Failure } from '../world/failures/failures.ts';

type Definitions = Pick<Store, 'definitions'>;

/**
 * The store, with the files of who asks, which are listed once for all names that are looked up with it. Throws
 * `DEFINITION_INVALID` where the file of a name holds no definition.
 */
export function withFiles({ definitions }: Definitions, catalogue: Catalogue): Definitions {
  const byProject = new Map<string, DefinitionFiles>();
  const filesOf = (project: string): DefinitionFiles => {
    const files = byProject.get(project) ?? filesIn(project, catalogue);
    byProject.set(project, files);
    return files;
  };
  return {
    definitions: {
      ...definitions,
      find: async (nameOrHash, seeker) =>
        (seeker === undefined ? null : await loadFrom(filesOf, nameOrHash, seeker, definitions)) ??
        definitions.find(nameOrHash, seeker),
    },
  };
}

const filesIn = (project: string, catalogue: Catalogue): DefinitionFiles =>
  new DefinitionFiles({ catalogue, root: project }, definitionsOf(project));

/** Null where no file of the project has the name. */
export const loadFile = (
  name: string,
  seeker: Seeker,
  { definitions, catalogue }: Definitions & { catalogue: Catalogue },
): Promise<StoredDefinition | null> => loadFrom((project) => filesIn(project, catalogue), name, seeker, definitions);

/** Ids are hashes, which no file is named after. */
const ID = /^[0-9a-f]{64}$/;

async function loadFrom(
  filesOf: (project: string) => DefinitionFiles,
  name: string,
  { persona, project }: Seeker,
  definitions: Store['definitions'],
): Promise<StoredDefinition | null> {
  if (ID.test(name) || !isAbsolute(project)) return null;
  const files = filesOf(project);
  const file = files.find(name);
  if (file === null) return null;
  const refused = files.refused(name);
  if (refused !== undefined) {
    const problems = refused.problems.map((problem) => ({ ...problem, file: relative(project, file) }));
    throw new Failure('DEFINITION_INVALID', `"${name}" cannot be used: ${problemsInWords(problems)}`);
  }
  const definition = files.known(name);
  return definition === undefined ? null : definitions.save(definition, { persona, project, isPerson: false });
}
