/** `sentinel commands [NAME]`: what steps can do, and how each command is called. */
import type { Command } from 'commander';
import type { ListedCommand } from '../../client/lookup/command-list.ts';
import type { JsonObject } from '../../language/json.ts';
import { openOutput, type Output } from '../output/output.ts';
import { table } from '../output/table.ts';
import { commandNamed, knownCommands } from '../request/known-commands.ts';
import { projectFolder } from '../request/run-request.ts';

interface Options {
  json?: boolean;
  project: string;
}

export function define(command: Command): void {
  command
    .description(
      'Lists the commands that steps and models can call: those of Sentinel, those of the project, and the tools of its MCP servers that were accepted. ' +
        'With a name, shows what the command takes and gives. Exit code 2 if there is no such command.',
    )
    .argument('[name]', 'a command, such as code/read')
    .option('--project <dir>', 'the project whose commands are shown as well', '.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel commands
  sentinel commands code/edit
  sentinel commands code/edit --json    {name, system, from, permission, operations, speed, timeoutMs, params, result, …}`,
    )
    .action((name: string | undefined, options: Options) => commands(name, options));
}

async function commands(name: string | undefined, options: Options): Promise<void> {
  const output = openOutput(options);
  const known = await knownCommands(projectFolder(options.project), output, false);
  if (name === undefined) {
    output.object(known);
    showAll(known, output);
    return;
  }
  const found = commandNamed(name, known);
  output.object(found);
  await showOne(found, output);
}

function showAll(known: readonly ListedCommand[], { line, paint }: Output): void {
  const built = known.filter(({ isPlanned }) => !isPlanned);
  for (const system of new Set(built.map((command) => command.system))) {
    const own = built.filter((command) => command.system === system);
    const about = own[0]?.about ?? 'commands of the project';
    line(system === null ? paint.strong(about) : `${paint.strong(system)}  ${paint.dim(about)}`);
    for (const row of table(
      ['  COMMAND', 'PERMISSION', 'SPEED', 'WHAT IT DOES'],
      own.map((command) => [`  ${command.name}`, classesOf(command), command.speed, inOneLine(command.description)]),
      paint,
    ).slice(1))
      line(row);
  }
  const planned = known.filter(({ isPlanned }) => isPlanned).map((command) => command.name);
  if (planned.length > 0) line(`${paint.strong('planned')}  ${paint.dim('part of the format, and not built yet')}`);
  for (const name of planned) line(`  ${paint.dim(name)}`);
}

const classesOf = ({ permission, operations }: ListedCommand): string =>
  [...new Set([permission, ...Object.values(operations)])].join(', ');

const inOneLine = (description: string | null): string => (description ?? '').replaceAll(/\s+/g, ' ').trim();

async function showOne(command: ListedCommand, output: Output): Promise<void> {
  const { line, paint } = output;
  const { name, system, description, permission, operations, speed, timeoutMs, isPlanned, params, result, failures } =
    command;
  line(`${paint.strong(name)}${system === null ? '' : `  ${paint.dim(system)}`}`);
  if (isPlanned) line(paint.warn('It is part of the format, and not built yet: a step that names it fails.'));
  if (description !== null) line(description);
  line(`permission  ${permission}`);
  for (const [operation, own] of Object.entries(operations)) line(`  ${operation}  ${own}`);
  line(`speed       ${speed}`);
  line(`timeout     ${timeoutMs} ms, where a step states none`);
  if (isPlanned) return;
  for (const [code, { title, isRetryable }] of Object.entries(failures))
    line(`fails with  ${code}: ${title}${isRetryable ? '' : ' (no repeat helps)'}`);
  await showFields('Parameters', params, output);
  await showFields('Result', result, output);
}

async function showFields(title: string, schema: JsonObject | null, { line, paint }: Output): Promise<void> {
  const { schemaRows } = await import('../../language/schema/schema-rows.ts');
  line(paint.strong(`${title}:`));
  if (schema === null) return line('  not stated');
  const rows = schemaRows(schema).map(({ field, type, isNeeded, description }) => [
    `  ${field === '' ? '(the value)' : field}`,
    title === 'Result' || isNeeded ? '' : 'optional',
    type,
    description,
  ]);
  for (const row of table(['', '', '', ''], rows, paint).slice(1)) line(row);
  if (rows.length === 0) line('  none');
}
