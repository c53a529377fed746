/** `sentinel run FILE-or-NAME`: finds all mistakes in the request before it starts anything. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Option, type Command } from 'commander';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { recordRuns, refuseBoth } from '../files/recording.ts';
import { fitInputs, handleFor, projectFolder, readInputs } from '../request/run-request.ts';
import { inputOption, usage, wholeNumber } from '../request/usage.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { watchRun } from '../following/watch-run.ts';
import { projectConfig } from '../request/project-config.ts';
import { withClient } from '../request/with-client.ts';
import { speakerOf, speakerOption } from '../request/speaker.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { problemLines } from '../../client/show/problem-lines.ts';
import { defined } from '../../language/defined.ts';

export interface RunOptions {
  json?: boolean;
  project: string;
  input: string[];
  inputFile?: string;
  persona?: string;
  id?: string;
  policy?: string;
  detach?: boolean;
  host?: string;
  continueEvery?: number;
  record?: string;
  replay?: string;
}

/** What every verb says that starts a run and follows it. */
export const ENDS_WITH =
  'Exit code 0 completed, 1 failed or stopped by a limit, 2 problems or usage, ' +
  '3 waiting for an answer (away from a terminal), 130 cancelled. Ctrl-C detaches; a second one cancels the run.';

/** How a run is started, whatever its definition. */
export const addRunOptions = (command: Command): Command =>
  command
    .addOption(inputOption())
    .option('--input-file <file>', 'inputs as a JSON object')
    .option('--project <dir>', 'the folder that the run works in', '.')
    .addOption(speakerOption('--persona <id>', 'owner of the run'))
    .option('--id <handle>', 'the handle of the run (default: a new one)')
    .addOption(policyOption())
    .option('--detach', 'print the handle and return')
    .option('--host <name>', 'run on the workers of this host: the task queue sentinel@NAME')
    .option('--record <file>', 'when the run has ended, write what models were asked and answered to a cassette')
    .option(
      '--replay <file>',
      'ask no model: answer from a cassette; what it does not hold fails its step (CASSETTE_MISS)',
    )
    .addOption(
      new Option('--continue-every <n>')
        .argParser(wholeNumber('--continue-every', { min: 1, max: 1_000_000 }))
        .hideHelp(),
    );

export async function define(command: Command, argv: readonly string[]): Promise<void> {
  command
    .description(`Starts a run and follows it to its end. ${ENDS_WITH}`)
    .argument('<definition>', 'the file of a definition, or its name');
  addRunOptions(command)
    .addHelpText(
      'after',
      `
Examples:
  sentinel run sentinels/examples/verify-project.json --project .
  sentinel run hello --input name=Ada
  sentinel run nightly.json --help    also lists the inputs of nightly.json
  sentinel run nightly.json --id nightly --detach
  sentinel run review.json --policy careful.json
  sentinel run review.json --record review.cassette.json
  sentinel run review.json --replay review.cassette.json
  sentinel run build.json --json    an event a line, then {handle, status, outcome, outputs, iterations, durationMs, webUrl}`,
    )
    .action(async (definition: string, options: RunOptions) => {
      process.exitCode = await run(definition, options);
    });
  const words = argv.slice(1).filter((word) => !word.startsWith('-'));
  if (words.length === 0 || !argv.some((word) => word === '--help' || word === '-h')) return;
  const { inputsHelp } = await import('../request/good-definition.ts');
  const { values } = parseArgs({
    args: [...argv],
    options: { project: { type: 'string', default: '.' } },
    strict: false,
    allowPositionals: true,
  });
  command.addHelpText('after', await inputsHelp(words, resolve(String(values.project))));
}

/** As the verb does: the exit code. */
export async function run(given: string, options: RunOptions): Promise<number> {
  const output = openOutput({ ...options, streams: true });
  const project = projectFolder(options.project);
  const inputs = readInputs(options.inputFile, options.input);
  refuseTogether(options);
  const cassette = options.replay === undefined ? {} : { cassette: await cassetteIn(options.replay) };
  const policy = policyGiven(options.policy);
  const handle = options.id === undefined ? {} : { handle: handleFor(options.id) };
  const { findDefinition } = await import('../../client/find-definition.ts');
  const { config, commands, env } = await projectConfig(project, output);
  const start = async (client: OpenClient): Promise<number> => {
    const {
      definition,
      problems,
      inferred,
      known,
      persona: owner,
      origin,
      notices,
    } = await findDefinition(
      given,
      project,
      commands,
      client.definitionsFor({ persona: speakerOf({ said: options.persona, config }), project }),
    );
    for (const notice of notices) output.note(`sentinel: ${notice}`);
    if (definition === null) return refuse(given, problems, inferred, output);
    for (const line of problemLines(problems, output.paint)) output.note(line);
    const { host = config?.defaults.host, continueEvery } = options;
    const persona = speakerOf({ said: options.persona, owner, config });
    const started = await client.start(definition, {
      project,
      inputs: await fitInputs(definition, known, { inputs, assignments: options.input, note: output.note }),
      persona,
      known,
      ...handle,
      ...policy,
      ...cassette,
      ...defined({ origin, host, continueEvery }),
    });
    if (options.detach !== true) {
      const exitCode = await watchRun(client, started.handle, output);
      if (options.record !== undefined) await record(client, started.handle, options.record, output);
      return exitCode;
    }
    output.object(await client.status(started.handle));
    output.line(started.handle);
    return EXIT.ok;
  };
  return withClient(output, start, env);
}

function refuseTogether(options: RunOptions): void {
  refuseBoth(options);
  if (options.record !== undefined && options.detach === true)
    throw usage(
      '--record writes its file when the run has ended: leave out --detach, or use "sentinel cassette" then.',
    );
}

async function cassetteIn(file: string): Promise<string> {
  const { readCassetteFile } = await import('../../client/cassettes/cassette-file.ts');
  return readCassetteFile(file).text;
}

/** Writes no cassette of a run that is still under way. */
async function record(client: OpenClient, handle: string, file: string, output: Output): Promise<void> {
  if ((await client.find(handle)).finishedAt === null) {
    output.note(
      `sentinel: ${file} was not written, since the run is still under way; "sentinel cassette ${handle} -o ${file}" writes it.`,
    );
    return;
  }
  await recordRuns(client, [handle], file, output);
}

function refuse(
  given: string,
  problems: Parameters<typeof problemLines>[0],
  inferred: readonly string[],
  output: Output,
): number {
  const message = `${given} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}; nothing was started.`;
  output.object({ ok: false, error: { code: 'DEFINITION_INVALID', message }, problems, inferred });
  for (const line of [`sentinel: ${message}`, ...problemLines(problems, output.paint)]) output.note(line);
  return EXIT.usage;
}
