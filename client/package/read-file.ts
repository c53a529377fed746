/** A definition in a file, for programs: as the command line reads it. */
import { resolve } from 'node:path';
import type { Definition } from '../../language/model.ts';
import { hasErrors, type Problem } from '../../language/problems.ts';
import { openProjectCommands } from '../../runs/commands/open-project.ts';
import { readConfig } from '../../services/config/config.ts';
import { asClientWould } from '../contract/as-client-error.ts';
import { builtIn, withBuiltIn } from '../lookup/project-catalogue.ts';
import { filesAround } from '../read-definition.ts';
import { readDefinitionFile, type Known } from '../../world/definitions/definition-files.ts';
import { definitionInvalid } from '../reading/read-for-start.ts';

export interface FileDefinition {
  definition: Definition;
  /** Warnings; a definition with errors is not returned. */
  warnings: Problem[];
  /** Finds the definitions beside the file that its `$ref`s name: hand it to `start`. */
  known: Known;
}

/**
 * Reads a definition from a file (JSON, JSON with comments, or YAML).
 *
 * `project`: the folder whose `sentinel.config` says which commands there are, and which the paths of `$ref`s
 * stay in; default: the working directory. Throws `ClientError` `DEFINITION_INVALID`, whose message has every error
 * as `sentinel validate` prints it: place, finding and remedy.
 */
export async function readDefinition(file: string, options: { project?: string } = {}): Promise<FileDefinition> {
  const project = resolve(options.project ?? '.');
  const path = resolve(file);
  const own = async () => openProjectCommands(builtIn(), project, readConfig().home);
  const commands = await withBuiltIn(await asClientWould(own()));
  const around = filesAround(path, commands);
  const { definition, problems } = readDefinitionFile(path, around);
  if (definition !== null && !hasErrors(problems)) return { definition, warnings: problems, known: around.known };
  throw definitionInvalid(`${file} cannot be read as a definition`, problems);
}
