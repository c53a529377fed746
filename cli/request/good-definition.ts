/** The definition in a file, for verbs that need one without errors; its errors go to stderr. */
import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import type { Catalogue } from '../../language/catalogue.ts';
import { shownAsText } from '../../language/graph/step-label.ts';
import { declaredInputs, type DeclaredInput } from '../../language/inputs/declared-inputs.ts';
import type { Definition } from '../../language/model.ts';
import { hasErrors } from '../../language/problems.ts';
import { defined } from '../../language/defined.ts';
import { filesAround, filesOfProject, isPathGiven } from '../../client/read-definition.ts';
import { readDefinitionFile, type Commands, type Known } from '../../world/definitions/definition-files.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { PLAIN } from '../../client/show/paint.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import type { FoundDefinition } from '../../client/find-definition.ts';
import { commandsIn, projectConfig } from './project-config.ts';
import { speakerHere } from './speaker.ts';
import { problemLines } from '../../client/show/problem-lines.ts';

export interface GoodDefinition {
  definition: Definition;
  known: Known;
  catalogue: Catalogue;
  /** Who the file says owns its runs. */
  persona?: string;
  /** Of the project; null where it has none that is trusted. */
  config: ProjectConfig | null;
}

/** Of a file, or of a name. Null when there is none without errors; then the problems have been told, with --json as `{ok: false, problems}`. */
export async function readGoodDefinition(
  file: string,
  output: Output,
  project = process.cwd(),
): Promise<GoodDefinition | null> {
  const { config, commands } = await projectConfig(project, output);
  for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  const { definition, problems, known, persona } = isPathGiven(file)
    ? readAt(resolve(file), commands)
    : await readNamed(file, project, commands, output);
  if (definition !== null && !hasErrors(problems)) {
    const { catalogue } = commands;
    return { definition, known, catalogue, config, ...defined({ persona }) };
  }
  output.object({ ok: false, problems });
  output.note(`${file} cannot be read as a definition:`);
  for (const line of problemLines(problems, output.paint)) output.note(line);
  return null;
}

function readAt(
  path: string,
  commands: Commands,
): Pick<FoundDefinition, 'definition' | 'problems' | 'known' | 'persona'> {
  const around = filesAround(path, commands);
  return { ...readDefinitionFile(path, around), known: around.known };
}

async function readNamed(name: string, project: string, commands: Commands, output: Output): Promise<FoundDefinition> {
  const [{ findDefinition }, { withClient }] = await Promise.all([
    import('../../client/find-definition.ts'),
    import('./with-client.ts'),
  ]);
  const persona = await speakerHere(undefined, output, project);
  const found = await withClient(output, (client) =>
    findDefinition(name, project, commands, client.definitionsFor({ persona, project })),
  );
  for (const notice of found.notices) output.note(`sentinel: ${notice}`);
  return found;
}

/** The inputs of the definition that one of the words names, for `--help`; empty where none does. */
export async function inputsHelp(words: readonly string[], project: string): Promise<string> {
  let commands: Commands;
  try {
    commands = await commandsIn(project, openOutput({}));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return `\nThe inputs cannot be listed: ${shownAsText(error.message)}`;
  }
  const files = filesOfProject(project, commands);
  let refused: string | null = null;
  for (const word of words) {
    const file = isFile(word) ? resolve(word) : files.find(word);
    if (file === null) continue;
    const { definition } = readDefinitionFile(file, filesAround(file, commands));
    if (definition === null) {
      refused ??= file;
      continue;
    }
    const inputs = declaredInputs(definition);
    const heading = `\nInputs of ${shownAsText(definition.name)}:`;
    return inputs.length === 0 ? `${heading} none are declared` : [heading, ...inputLines(inputs)].join('\n');
  }
  if (refused === null) return '';
  const shown = shownAsText(relative('.', refused));
  return `\nThe inputs of ${shown} cannot be listed: sentinel validate ${shown} says why.`;
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

function inputLines(inputs: readonly DeclaredInput[]): string[] {
  const rows = inputs.map(({ name, type = '', description = '', default: value, isNeeded }) => {
    const otherwise = value === undefined ? '' : `default ${JSON.stringify(value)}`;
    return [name, type, isNeeded && value === undefined ? 'needed' : otherwise, description].map(shownAsText);
  });
  return table(['INPUT', 'TYPE', 'WITHOUT IT', 'WHAT FOR'], rows, PLAIN).map((line) => `  ${line}`);
}
