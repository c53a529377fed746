/**
 * The configuration of a project, as the command line uses it. It is code: a verb that acts asks for a person's
 * trust before it runs it; one that only looks runs what is trusted, and else does without and says so.
 */
import { readConfig, type Environment } from '../../services/config/config.ts';
import type { ProjectConfig } from '../../services/config/project-config.ts';
import { ConfigError } from '../../services/home/config-error.ts';
import { configFileOf, withProject } from '../../services/config/project-file.ts';
import type { ProjectCommands } from '../../runs/commands/project-commands.ts';
import { builtIn, withBuiltIn } from '../../client/lookup/project-catalogue.ts';
import type { Output } from '../output/output.ts';
import { declaredKind } from './verb-kind.ts';

export interface ProjectUse {
  /** Null: the project has none, or it is not trusted. */
  config: ProjectConfig | null;
  /** The commands that its definitions may name. */
  commands: ProjectCommands;
  /** For services that are started for this project. */
  env: Environment;
}

/** `asks`: the verb cannot do without it. */
export async function projectConfig(
  project: string,
  output: Output,
  asks: boolean = declaredKind() === 'acts',
): Promise<ProjectUse> {
  const env = withProject(process.env, project);
  const file = configFileOf(project);
  const engine = builtIn();
  const withoutFile = { catalogue: engine.catalogue, notices: [], root: project };
  if (file === null) return { config: null, commands: await withBuiltIn(withoutFile), env };
  const [{ configIn, openProjectCommands }, { readProjectCode }, { isTrusted, untrustedText }] = await Promise.all([
    import('../../runs/commands/open-project.ts'),
    import('../../services/trust/project-code.ts'),
    import('../../services/trust/trusted-code.ts'),
  ]);
  const code = readProjectCode(file.path);
  if (asks) await (await import('../trust/ask-trust.ts')).askTrust(code, output);
  else if (!isTrusted(code)) {
    const notices = [`without the commands and models of the project: ${untrustedText(code)}`];
    return { config: null, commands: await withBuiltIn({ ...withoutFile, notices }), env };
  }
  const config = await configIn(file);
  const { home } = readConfig();
  return { config, commands: await withBuiltIn(await openProjectCommands(engine, project, home)), env };
}

/** What the configuration says where nothing is said; nothing, and a note, where it is not trusted or cannot be read. */
export async function projectDefaults(project: string, output: Output): Promise<ProjectConfig['defaults']> {
  const file = configFileOf(project);
  if (file === null) return {};
  const [{ configIn }, { readProjectCode }, { isTrusted, untrustedText }] = await Promise.all([
    import('../../runs/commands/open-project.ts'),
    import('../../services/trust/project-code.ts'),
    import('../../services/trust/trusted-code.ts'),
  ]);
  try {
    const code = readProjectCode(file.path);
    if (isTrusted(code)) return (await configIn(file)).defaults;
    output.note(`sentinel: without the defaults of the project: ${untrustedText(code)}`);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    output.note(`sentinel: without the defaults of the project: ${error.message}`);
  }
  return {};
}

/** The commands that definitions of a project may name; what is to be known of them is said. */
export async function commandsIn(project: string, output: Output): Promise<ProjectCommands> {
  const { commands } = await projectConfig(project, output);
  for (const notice of commands.notices) output.note(`sentinel: ${notice}`);
  return commands;
}
