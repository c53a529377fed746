/** `sentinel command NAME`: a person performs a command, at once or as a run of one step. */
import { Option, type Command } from 'commander';
import { defined } from '../../language/defined.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import type { CommandRun } from '../../client/command-run.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { ListedCommand } from '../../client/lookup/command-list.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { commandParams, type Typed } from '../request/command-params.ts';
import { commandNamed, knownCommands } from '../request/known-commands.ts';
import { withOutsideDefinition } from '../request/outside-definition.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { projectDefaults } from '../request/project-config.ts';
import { handleFor, projectFolder } from '../request/run-request.ts';
import { speakerHere, speakerOption } from '../request/speaker.ts';
import { repeatable, usage } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

interface RunOptions {
  id?: string;
  host?: string;
  policy?: string;
}

interface Options extends Typed, RunOptions {
  json?: boolean;
  project: string;
  by?: string;
}

/** Characters of the id of a call. */
const idLengthMax = 200;

/** Flags that are parameters of the command. */
export async function read(argv: readonly string[]): Promise<string[]> {
  const [{ withParams }, { builtInList }] = await Promise.all([
    import('../request/command-flags.ts'),
    import('../../client/lookup/command-list.ts'),
  ]);
  const known = builtInList();
  return withParams(argv, (name) => known.find((one) => one.name === name)?.params ?? null);
}

export function define(command: Command): void {
  command
    .description(
      'Performs a command with parameters and prints its result. A quick command is performed at once; what it writes and its events are one transaction. ' +
        'Any other command becomes the step of a run, which is followed to its end. ' +
        'Exit code 0 if it succeeded, 1 if it failed, 2 for an unknown command or wrong parameters; of a run, those of "run". A process of a step may only perform commands that read.',
    )
    .argument('<name>', 'a command, as "sentinel commands" lists them')
    .usage('[options] <name> [--NAME=VALUE...]')
    .option('--params <json>', 'the parameters as a JSON object; @FILE reads them from a file, - from stdin')
    .addOption(
      repeatable(
        '--param <name=value>',
        'a parameter; a value that is not JSON is text (repeatable); behind the name of the command also --NAME=VALUE',
      ),
    )
    .addOption(new Option('--project <dir>', 'the folder that the command works in').default('.'))
    .option(
      '--id <id>',
      'an id of the call: a quick command with the same id is performed once, and gives the first result again. Otherwise the handle of the run',
    )
    .addOption(speakerOption('--by <persona>', 'who performs it'))
    .option('--host <name>', 'of a command that becomes a run: run it on the workers of this host')
    .addOption(policyOption('of a command that becomes a run: rules about its actions'))
    .addHelpText(
      'after',
      `
A parameter that has the name of an option is written with "=", and the option with a space: --id=7 is the record, --id call-1 the call.

Examples:
  sentinel command data/list --collection=todos --filter='{"done": false}' --limit=5
  sentinel command data/create --params '{"collection": "todos", "data": {"title": "Ship it"}}'
  sentinel command collaboration/chat/send --param room=general --param message=Done --id done-1
  sentinel command code/search --param pattern=deprecated
  sentinel command code/read --param path=README.md --json    {ok, command, result}`,
    )
    .action(async (name: string, options: Options) => {
      process.exitCode = await perform(name, options);
    });
}

async function perform(name: string, options: Options): Promise<number> {
  const output = openOutput(options);
  const project = projectFolder(options.project);
  const command = await commandFor(name, project, output);
  const by = await speakerHere(options.by, output, project);
  const given = await commandParams(command, options);
  const params = await withOutsideDefinition(command.name, given, { persona: by, project }, output);
  const asked = { command: command.name, params, project, by };
  const { isOfWorker } = await import('../../client/lookup/command-outline.ts');
  if (isOfWorker(command.name) || command.speed === 'long') return performInRun(command, asked, options, output);
  refuseRunOptions(command, options);
  const id = options.id === undefined ? {} : { id: idFor(options.id) };
  const { performCommand } = await import('../../client/perform.ts');
  return withClient(output, async (client) => {
    const result = await performCommand(client, command.name, params, { by, project, ...id });
    show(command, result, output);
    return EXIT.ok;
  });
}

function refuseRunOptions({ name }: ListedCommand, { host, policy }: RunOptions): void {
  if (host === undefined && policy === undefined) return;
  throw usage(`${name} is performed at once, and not in a run: leave out --${host === undefined ? 'policy' : 'host'}.`);
}

/** The project is asked, and its configuration trusted, only for a command that is not one of ours. */
async function commandFor(name: string, project: string, output: Output): Promise<ListedCommand> {
  const { builtInList } = await import('../../client/lookup/command-list.ts');
  const found =
    builtInList().find((command) => command.name === name) ??
    commandNamed(name, await knownCommands(project, output, true));
  if (!found.isPlanned) return found;
  throw usage(`The command "${name}" is part of the format, but not built yet; see "sentinel commands".`);
}

function idFor(id: string): string {
  if (id.trim() !== '' && id.length <= idLengthMax) return id;
  throw usage(`--id is empty or longer than ${idLengthMax} characters; give the call a short name of its own.`);
}

/** As the step of a run, followed to its end: its exit code. */
export async function performInRun(
  command: ListedCommand,
  asked: CommandRun,
  options: RunOptions,
  output: Output,
): Promise<number> {
  const policy = policyGiven(options.policy);
  const handle = options.id === undefined ? {} : { handle: handleFor(options.id) };
  const [{ startCommandRun }, { watchRun }, { withProject }] = await Promise.all([
    import('../../client/command-run.ts'),
    import('../following/watch-run.ts'),
    import('../../services/config/project-file.ts'),
  ]);
  const { host = (await projectDefaults(asked.project, output)).host } = options;
  const start = async (client: OpenClient): Promise<number> => {
    const started = await startCommandRun(client, { ...asked, ...handle, ...policy, ...defined({ host }) });
    // With --json stdout is one document, and not the events of the run.
    const exitCode = await watchRun(client, started.handle, { ...output, object: () => undefined });
    const report = await client.status(started.handle);
    if (report.outcome === 'completed') show(command, await client.resultOfCommand(started.handle), output);
    else output.object({ ok: false, command: command.name, run: report });
    return exitCode;
  };
  return withClient(output, start, withProject(process.env, asked.project));
}

function show({ name, textField }: ListedCommand, result: Json, output: Output): void {
  output.object({ ok: true, command: name, result });
  const text = isJsonObject(result) && textField !== null ? result[textField] : result;
  const shown = typeof text === 'string' ? text : JSON.stringify(result, null, 2);
  output.text(shown.endsWith('\n') ? shown : `${shown}\n`);
}
