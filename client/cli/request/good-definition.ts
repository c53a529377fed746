/** The definition in a file, for verbs that need one without errors; its errors go to stderr. */
import { resolve } from 'node:path';
import type { Catalogue } from '../../../language/catalogue.ts';
import type { Definition } from '../../../language/model.ts';
import { hasErrors } from '../../../language/problems.ts';
import { filesAround, readDefinitionFile, type Known } from '../../read-definition.ts';
import type { Output } from '../output/output.ts';
import { commandsIn } from './project-config.ts';
import { problemLines } from '../output/problem-lines.ts';

export interface GoodDefinition {
  definition: Definition;
  known: Known;
  catalogue: Catalogue;
}

/** Null when the file holds none; then the problems have been told, with --json as `{ok: false, problems}`. */
export async function readGoodDefinition(
  file: string,
  output: Output,
  project = process.cwd(),
): Promise<GoodDefinition | null> {
  const path = resolve(file);
  const around = filesAround(path, await commandsIn(project, output));
  const { definition, problems } = readDefinitionFile(path, around);
  if (definition !== null && !hasErrors(problems))
    return { definition, known: around.known, catalogue: around.catalogue };
  output.object({ ok: false, problems });
  output.note(`${file} cannot be read as a definition:`);
  for (const line of problemLines(problems, output.paint)) output.note(line);
  return null;
}
