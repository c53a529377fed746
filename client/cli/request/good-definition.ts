/** The definition in a file, for verbs that need one without errors; its errors go to stderr. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Catalogue } from '../../../language/catalogue.ts';
import { shownAsText } from '../../../language/graph/step-label.ts';
import { declaredInputs, type DeclaredInput } from '../../../language/inputs/declared-inputs.ts';
import type { Definition } from '../../../language/model.ts';
import { hasErrors } from '../../../language/problems.ts';
import { filesAround, filesOfProject, readDefinitionFile, type Known } from '../../read-definition.ts';
import { PLAIN } from '../../show/paint.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
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

/** The inputs of the definition that one of the words names, for `--help`; empty where none does. */
export async function inputsHelp(words: readonly string[], project: string): Promise<string> {
  const commands = await commandsIn(project, openOutput({}));
  const files = filesOfProject(project, commands);
  for (const word of words) {
    const file = existsSync(word) ? resolve(word) : files.find(word);
    if (file === null) continue;
    const { definition } = readDefinitionFile(file, filesAround(file, commands));
    if (definition === null) continue;
    const inputs = declaredInputs(definition);
    const heading = `\nInputs of ${shownAsText(definition.name)}:`;
    return inputs.length === 0 ? `${heading} none are declared` : [heading, ...inputLines(inputs)].join('\n');
  }
  return '';
}

function inputLines(inputs: readonly DeclaredInput[]): string[] {
  const rows = inputs.map(({ name, type = '', description = '', default: value, isNeeded }) => {
    const otherwise = value === undefined ? '' : `default ${JSON.stringify(value)}`;
    return [name, type, isNeeded && value === undefined ? 'needed' : otherwise, description].map(shownAsText);
  });
  return table(['INPUT', 'TYPE', 'WITHOUT IT', 'WHAT FOR'], rows, PLAIN).map((line) => `  ${line}`);
}
