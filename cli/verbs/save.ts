/** `sentinel save FILE`: stores a definition under its name, without running it. */
import { Option, type Command } from 'commander';
import type { Definition } from '../../language/model.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Seeker } from '../../client/contract/shown.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { problemLines } from '../../client/show/problem-lines.ts';
import { projectConfig } from '../request/project-config.ts';
import { projectFolder } from '../request/run-request.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';
import { usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

interface Options {
  json?: boolean;
  project: string;
  name?: string;
  by?: string;
}

/** As `Definition` has it. */
const NAME_LENGTH_MAX = 200;

export function define(command: Command): void {
  command
    .description(
      'Saves a definition without running it, so that "sentinel run NAME" and "$ref" find it by its name, from every folder. ' +
        'Files that the definition names by path are included; definitions that it names by name are saved as well. Exit code 2 if it has errors.',
    )
    .argument('<definition>', 'the file of a definition, or its name')
    .addOption(new Option('--project <dir>', 'the project folder of the definition').default('.'))
    .option('--name <name>', 'the name to save it under (default: its own)')
    .addOption(speakerOption('--by <persona>', 'whose it is from then on'))
    .addHelpText(
      'after',
      `
"sentinel saved" lists, shows and deletes what is saved.

Examples:
  sentinel save flows/release.yaml
  sentinel save flows/release.yaml --name release-next
  sentinel save flows/release.yaml --json    {ok, id, name, version, with: [{id, name, version}]}`,
    )
    .action(async (given: string, options: Options) => {
      process.exitCode = await save(given, options);
    });
}

async function save(given: string, options: Options): Promise<number> {
  const output = openOutput(options);
  const { name } = options;
  if (name !== undefined && (name.trim() === '' || name.length > NAME_LENGTH_MAX))
    throw usage(`--name is ${name.length} characters long; write 1 to ${NAME_LENGTH_MAX}.`);
  const project = projectFolder(options.project);
  const owner = { persona: await speakerHere(options.by, output, project), project };
  const { commands, env } = await projectConfig(project, output);
  const { findDefinition } = await import('../../client/find-definition.ts');
  return withClient(
    output,
    async (client) => {
      const { definition, problems, known, notices } = await findDefinition(
        given,
        project,
        commands,
        client.definitionsFor(owner),
      );
      for (const notice of notices) output.note(`sentinel: ${notice}`);
      for (const line of problemLines(problems, output.paint)) output.note(line);
      if (definition === null) {
        const message = `${given} has problems; nothing was saved.`;
        output.object({ ok: false, error: { code: 'DEFINITION_INVALID', message }, problems });
        output.note(`sentinel: ${message}`);
        return EXIT.usage;
      }
      const named = name === undefined ? definition : { ...definition, name };
      const { libraryOf } = await import('../../runs/library.ts');
      await keep(client, { definition: named, library: Object.values(libraryOf(named, known)), owner }, output);
      return EXIT.ok;
    },
    env,
  );
}

/** Saves the definitions that it names first, so that its name is never found without them. */
async function keep(
  client: OpenClient,
  { definition, library, owner }: { definition: Definition; library: readonly Definition[]; owner: Seeker },
  output: Output,
): Promise<void> {
  const beside: Saved[] = [];
  for (const one of library) beside.push(saved(await client.publish(one, owner)));
  const own = saved(await client.publish(definition, owner));
  output.object({ ok: true, ...own, with: beside });
  for (const { name, version } of [own, ...beside]) output.line(`saved ${name}, version ${version}`);
}

interface Saved {
  id: string;
  name: string;
  version: number;
}

const saved = ({ hash, name, version }: { hash: string; name: string; version: number }): Saved => ({
  id: hash,
  name,
  version,
});
