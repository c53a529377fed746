/** `sentinel eval FILE`. */
import { readFileSync, realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { hasErrors } from '../../language/problems.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import type { Commands } from '../../world/definitions/definition-files.ts';
import type { Evaluation } from '../../authoring/evaluation/evaluation-file.ts';
import type { EvaluationOutcome, EvaluationRequest } from '../../authoring/evaluation/run-evaluation.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { isDefinitionFile } from '../../language/read/text/definition-text.ts';
import { defined } from '../../language/defined.ts';
import { problemLines } from '../../client/show/problem-lines.ts';
import { table } from '../output/table.ts';
import { projectConfig } from '../request/project-config.ts';
import { recordRuns, refuseBoth } from '../files/recording.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { projectFolder } from '../request/run-request.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { speakerOf, speakerOption } from '../request/speaker.ts';

interface Options {
  json?: boolean;
  project: string;
  model?: string[];
  repeat?: number;
  concurrency?: number;
  minPass: number;
  replay?: string;
  record?: string;
  persona?: string;
  host?: string;
  policy?: string;
  fresh?: boolean;
}

const share = (text: string): number => {
  const number = Number(text);
  if (text.trim() !== '' && number >= 0 && number <= 1) return number;
  throw usage(`--min-pass is "${text}"; write a share from 0 to 1, such as 0.9.`);
};

export function define(command: Command): void {
  command
    .description(
      'Runs a definition over a list of inputs, checks each result, and reports how many passed, the cost and the duration, compared with the last evaluation of the file. An interrupted evaluation is resumed. Exit code 0 if every model passed enough cases, 1 if not, 2 for problems or wrong usage.',
    )
    .argument('<file>', 'a JSON file: {definition, inputs, checks, models, …}')
    .option('--project <dir>', 'the folder that the runs work in', '.')
    .option(
      '--model <model>',
      'use this model instead of those in the file (repeatable)',
      (given: string, all?: string[]) => [...(all ?? []), given],
    )
    .option('--repeat <n>', 'how often each input is run', wholeNumber('--repeat', { min: 1, max: 1000 }))
    .option(
      '--concurrency <n>',
      'how many runs are under way at once (default: 2)',
      wholeNumber('--concurrency', { min: 1, max: 64 }),
    )
    .option('--min-pass <share>', 'the share of cases that every model has to pass, from 0 to 1', share, 1)
    .option('--replay <file>', 'ask no model: answer from a cassette')
    .option('--record <file>', 'write the model requests and answers of all runs to a cassette')
    .addOption(speakerOption('--persona <id>', 'owner of the runs'))
    .option('--host <name>', 'run on the workers of this host: the task queue sentinel@NAME')
    .addOption(policyOption('rules about the actions of the runs'))
    .option('--fresh', 'start again, even if the last evaluation of the file was interrupted')
    .addHelpText(
      'after',
      `
Examples:
  sentinel eval review.eval.json
  sentinel eval review.eval.json --model ollama/qwen3:8b --model anthropic/claude-haiku-5-5 --min-pass 0.9
  sentinel eval review.eval.json --record review.cassette.json
  sentinel eval review.eval.json --replay review.cassette.json --json    {ok, id, models, cases, between, compared, …}`,
    )
    .action(async (file: string, options: Options) => {
      process.exitCode = await evaluate(file, options);
    });
}

async function evaluate(given: string, options: Options): Promise<number> {
  const output = openOutput(options);
  refuseBoth(options);
  const evaluation = await evaluationIn(given, options);
  const policy = policyGiven(options.policy);
  const project = projectFolder(options.project);
  const { config, commands, env } = await projectConfig(project, output);
  const cassette = await cassetteOf(given, evaluation, options);
  return withClient(
    output,
    async (client) => {
      const seeker = speakerOf({ said: options.persona, config });
      const found = await definitionOf(given, evaluation, { project, commands, persona: seeker }, client);
      for (const notice of found.notices) output.note(`sentinel: ${notice}`);
      for (const line of problemLines(found.problems, output.paint)) output.note(line);
      const { definition } = found;
      if (definition === null || hasErrors(found.problems))
        return refuse(evaluation.definition, found.problems, output);
      const persona = speakerOf({ said: options.persona, owner: found.persona, config });
      const host = options.host ?? config?.defaults.host;
      const { runEvaluation } = await import('../../authoring/evaluation/run-evaluation.ts');
      const outcome = await runEvaluation(client, {
        file: realpathSync(resolve(given)),
        evaluation,
        definition,
        known: found.known,
        start: { project, persona, ...defined({ host }), ...policy },
        ...defined({ cassette }),
        isFresh: options.fresh === true,
        ...tellingTo(output),
      });
      const handles = outcome.cases.map(({ handle }) => handle);
      if (options.record !== undefined) await recordRuns(client, handles, options.record, output);
      return show(outcome, options.minPass, output);
    },
    env,
  );
}

async function evaluationIn(file: string, { model, repeat, concurrency }: Options): Promise<Evaluation> {
  const { readEvaluation } = await import('../../authoring/evaluation/evaluation-file.ts');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usage(
      `${file} cannot be read (${error instanceof Error ? error.message : String(error)}); give the file of an evaluation.`,
    );
  }
  const read = readEvaluation(text);
  if (!read.ok)
    throw new ClientError(
      'USAGE',
      [`${file} is no evaluation that can be run; docs/evaluation.md describes one:`, ...read.problems].join('\n'),
      {
        details: { file, problems: read.problems },
      },
    );
  return {
    ...read.evaluation,
    ...(model === undefined ? {} : { models: [...new Set(model)] }),
    ...defined({ repeat, concurrency }),
  };
}

/** Paths in the file are relative to the file's folder. */
async function cassetteOf(file: string, { replay }: Evaluation, options: Options): Promise<string | undefined> {
  const given =
    options.replay ?? (replay === null || options.record !== undefined ? null : resolve(dirname(file), replay));
  if (given === null) return undefined;
  const { readCassetteFile } = await import('../../client/cassettes/cassette-file.ts');
  return readCassetteFile(given).text;
}

async function definitionOf(
  file: string,
  { definition }: Evaluation,
  { project, commands, persona }: { project: string; commands: Commands; persona: string },
  client: OpenClient,
) {
  const { findDefinition } = await import('../../client/find-definition.ts');
  const isPath = isDefinitionFile(definition) || definition.includes('/');
  return findDefinition(
    isPath ? resolve(dirname(file), definition) : definition,
    project,
    commands,
    client.definitionsFor({ persona, project }),
  );
}

function refuse(name: string, problems: Parameters<typeof problemLines>[0], output: Output): number {
  const message = `${name} has problems; nothing was started.`;
  output.object({ ok: false, error: { code: 'DEFINITION_INVALID', message }, problems });
  output.note(`sentinel: ${message}`);
  return EXIT.usage;
}

function tellingTo(output: Output): Pick<EvaluationRequest, 'onBegin' | 'onCase'> {
  return {
    onBegin: ({ id, runs, isResumed }) =>
      output.note(
        `sentinel: evaluation ${id}${isResumed ? ', which was interrupted, goes on' : ''}: ${runs} ${runs === 1 ? 'run' : 'runs'}`,
      ),
    onCase: ({ name, model, passed }, done, runs) =>
      output.note(
        `sentinel: ${done}/${runs} ${passed ? 'passed' : 'failed'}  ${[name, model ?? ''].filter(Boolean).join('  ')}`,
      ),
  };
}

async function show(outcome: EvaluationOutcome, minPass: number, output: Output): Promise<number> {
  const { MODEL_HEADER, CHECK_HEADER, betweenLines, checkRows, comparedLines, failedLines, isPassed, modelRow } =
    await import('../../authoring/evaluation/summary-lines.ts');
  const { paint } = output;
  const ok = isPassed(outcome, minPass);
  const parts = [
    failedLines(outcome.cases, paint),
    table(CHECK_HEADER, checkRows(outcome.models), paint),
    table(MODEL_HEADER, outcome.models.map(modelRow), paint),
    [...betweenLines(outcome.between), ...comparedLines(outcome.compared, paint)],
  ].filter((lines) => lines.length > 0);
  for (const [index, lines] of parts.entries()) {
    if (index > 0) output.line();
    for (const line of lines) output.line(line);
  }
  output.object({ ok, minPass, ...outcome });
  return ok ? EXIT.ok : EXIT.failed;
}
