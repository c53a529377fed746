/** `sentinel saved export|import|deploy`: what would be done is shown, a person says yes, and then just that is done. */
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import { defined } from '../../language/defined.ts';
import type { JsonObject } from '../../language/json.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { openOutput, type Output } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';
import { personaOption, speakerHere, speakerOption } from '../request/speaker.ts';
import { withClient } from '../request/with-client.ts';
import { canAsk } from '../trust/ask-trust.ts';
import { withProject } from '../../services/config/project-file.ts';

interface Options {
  json?: boolean;
  project: string;
  by?: string;
  yes?: boolean;
  history?: boolean;
  persona?: string;
}

/** What a command says that it would do. */
interface Plan {
  name: string;
  changes: { name: string; state: 'new' | 'same' | 'changed'; diff: string }[];
  commands: string[];
  digest: string;
}

interface Asked {
  project: string;
  by: string;
}

type Performed = (client: OpenClient, command: string, params: JsonObject, asked: Asked) => Promise<JsonObject>;

export function defineExport(command: Command): void {
  common(command, 'the project of the file')
    .description(
      'Writes a saved definition with all of its versions, and what it names, into a file of the project, signed with the key of this installation.',
    )
    .argument('<name>', 'its name, or the id of a version')
    .argument('<file>', 'the file to write, in the project')
    .option('--history', 'with how its runs went')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved export release release.sentinel.json
  sentinel saved export release release.sentinel.json --history --json    {path, name, id, version, versions, with, commands, runs}`,
    )
    .action(async (sentinelId: string, file: string, _options: unknown, self: Command) => {
      await within(self, async ({ client, output, asked, options }) => {
        const params = { sentinelId, output: file, includeHistory: options.history === true };
        const done = (await asRun(client, 'sentinel/export', params, asked)) as { name: string; version: number };
        output.object(done);
        output.line(`${file} holds ${done.name}, version ${done.version}.`);
      });
    });
}

export function defineImport(command: Command): void {
  common(command, 'the project that it is saved in')
    .description(
      'Saves what an export holds, after it has shown what would change. Asks on a terminal; elsewhere only --yes does it, and without it nothing is saved.',
    )
    .argument('<file>', 'the export, in the project')
    .addOption(personaOption('--persona <id>', 'whose it is from then on'))
    .option('--yes', 'do it without being asked')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved import release.sentinel.json
  sentinel saved import release.sentinel.json --persona junior-dev-ai --yes
  sentinel saved import release.sentinel.json --json    {name, id, personaId, signer, changes: [{name, state, diff}], digest, done, …}`,
    )
    .action(async (file: string, _options: unknown, self: Command) => {
      await within(self, (place) => {
        const params = { file, ...defined({ personaId: place.options.persona }) };
        return shownFirst(place, { command: 'sentinel/import', params, perform: asRun });
      });
    });
}

export function defineDeploy(command: Command): void {
  common(command, 'the project in which its name is looked up')
    .description(
      'Has a saved definition, and what it names, found by its name in another project, after it has shown what would change there.',
    )
    .argument('<name>', 'its name, or the id of a version')
    .argument('<target>', 'the folder of the other project')
    .option('--yes', 'do it without being asked')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved deploy release ../shop
  sentinel saved deploy release ../shop --yes --json    {name, id, project, changes, commands, digest, done}`,
    )
    .action(async (sentinelId: string, target: string, _options: unknown, self: Command) => {
      await within(self, (place) => {
        const params = { sentinelId, project: projectFolder(target) };
        return shownFirst(place, { command: 'sentinel/deploy', params, perform: atOnce });
      });
    });
}

const common = (command: Command, project: string): Command =>
  command.option('--project <dir>', project, '.').addOption(speakerOption('--by <persona>', 'who does it'));

interface Place {
  client: OpenClient;
  output: Output;
  asked: Asked;
  options: Options;
}

async function within(self: Command, work: (place: Place) => Promise<void>): Promise<void> {
  const options = self.optsWithGlobals<Options>();
  const output = openOutput(options);
  const project = projectFolder(options.project);
  const by = await speakerHere(options.by, output, project);
  const perform = (client: OpenClient): Promise<void> => work({ client, output, asked: { project, by }, options });
  await withClient(output, perform, withProject(process.env, project));
}

async function shownFirst(
  { client, output, asked, options }: Place,
  { command, params, perform }: { command: string; params: JsonObject; perform: Performed },
): Promise<void> {
  const before = await perform(client, command, { ...params, preview: true }, asked);
  const plan = before as unknown as Plan;
  for (const line of linesOf(plan, output)) output.note(line);
  if (options.yes !== true && !(await saysYes(output))) {
    output.object(before);
    output.note('sentinel: nothing was done; --yes does it.');
    return;
  }
  const done = await perform(client, command, { ...params, expects: plan.digest }, asked);
  output.object(done);
  output.line(`${plan.name} is saved.`);
}

function linesOf({ changes, commands }: Plan, { paint }: Output): string[] {
  const lines = changes.flatMap(({ name, state, diff }) => [
    paint.strong(`${name}: ${state}`),
    ...diff
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('===='))
      .map((line) => (line.startsWith('+') ? paint.good(line) : line.startsWith('-') ? paint.bad(line) : line)),
  ]);
  return commands.length === 0 ? lines : [...lines, `commands: ${commands.join(', ')}`];
}

async function saysYes(output: Output): Promise<boolean> {
  if (!canAsk(output)) return false;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await asking.question('Save this? [y/N] ').finally(() => asking.close());
  return /^y(?:es)?$/i.test(answer.trim());
}

const atOnce: Performed = async (client, command, params, asked) => {
  const { performCommand } = await import('../../client/perform.ts');
  return performCommand<JsonObject>(client, command, params, asked);
};

/** It reads or writes files of the project, and so it is the step of a run. */
const asRun: Performed = async (client, command, params, asked) => {
  const { startCommandRun } = await import('../../client/command-run.ts');
  const { handle } = await startCommandRun(client, { command, params, ...asked });
  const { outcome, failure } = await client.result(handle);
  if (outcome === 'completed') return (await client.resultOfCommand(handle)) as JsonObject;
  const { code = 'COMMAND_FAILED', message = `it was ${outcome ?? 'not finished'}` } = failure ?? {};
  throw new ClientError('COMMAND_FAILED', `${message}.`, { details: { failure: code, handle } });
};
