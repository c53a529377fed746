/**
 * A person may name a file of another project where a command takes the file of a definition; no run reads there. So the
 * file is read here, with the rights of the person, and the command is handed what stands in it.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { JsonObject } from '../../language/json.ts';
import type { Seeker } from '../../client/contract/shown.ts';
import type { Output } from '../output/output.ts';
import { projectConfig } from './project-config.ts';
import { withClient } from './with-client.ts';

/** The parameters as they are given, if they name no such file. What the definition names is saved for the owner. */
export async function withOutsideDefinition(
  command: string,
  params: JsonObject,
  owner: Seeker,
  output: Output,
): Promise<JsonObject> {
  const { outlineOf } = await import('../../client/lookup/command-outline.ts');
  const stated = outlineOf(command)?.definitionFile;
  const given = stated === undefined ? undefined : params[stated.file];
  if (stated === undefined || typeof given !== 'string') return params;
  const file = resolve(owner.project, given);
  if (isInside(owner.project, file)) return params;
  const { [stated.file]: _file, ...others } = params;
  return { ...others, [stated.definition]: await definitionIn(file, owner, output) };
}

function isInside(folder: string, file: string): boolean {
  const way = relative(folder, file);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function definitionIn(file: string, owner: Seeker, output: Output): Promise<JsonObject> {
  const [{ findDefinition }, { definitionInvalid }, { libraryOf }] = await Promise.all([
    import('../../client/find-definition.ts'),
    import('../../client/reading/read-for-start.ts'),
    import('../../runs/library.ts'),
  ]);
  const { commands, env } = await projectConfig(owner.project, output);
  return withClient(
    output,
    async (client) => {
      const saved = client.definitionsFor(owner);
      const { definition, problems, known } = await findDefinition(file, owner.project, commands, saved);
      if (definition === null) throw definitionInvalid(`${relative('.', file)} is not saved`, problems);
      for (const one of Object.values(libraryOf(definition, known))) await client.publish(one, owner);
      return definition as unknown as JsonObject;
    },
    env,
  );
}
