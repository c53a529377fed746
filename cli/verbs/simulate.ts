/** `sentinel simulate FILE`: needs no services, and touches nothing. */
import type { Command } from 'commander';
import { shortened } from '../../language/events/preview.ts';
import { isJsonObject, valueFault } from '../../language/json.ts';
import { ClientError, refuseFault } from '../../runs/client-error.ts';
import { policiesIn } from '../../runs/policies.ts';
import type { Replies } from '../../authoring/definition-tests/test-file.ts';
import type { SimulatedStep, SimulationReport } from '../../authoring/simulate/simulate.ts';
import type { Paint } from '../../client/show/paint.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { fitInputs, projectFolder, readInputs } from '../request/run-request.ts';
import { table } from '../output/table.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { inputOption, usage } from '../request/usage.ts';
import { speakerOf, speakerOption } from '../request/speaker.ts';

interface Options {
  json?: boolean;
  project: string;
  input: string[];
  inputFile?: string;
  replies?: string;
  policy?: string;
  persona?: string;
}

/** Rows of the table; --json shows all. */
const rowsMax = 200;

export function define(command: Command): void {
  command
    .description(
      'Walks through a definition with the real interpreter, without any effect: files are read from the project, writes stay in memory, ' +
        'and command lines count as successful. Exit code 1 if a step would be denied, 2 for problems or wrong usage.',
    )
    .argument('<file>', 'the file of a definition')
    .option('--project <dir>', 'the folder that the run would work in', '.')
    .addOption(inputOption())
    .option('--input-file <file>', 'inputs as a JSON object')
    .option('--replies <file>', 'replies of steps, {KEY-or-PATTERN: reply}, as in test files')
    .addOption(policyOption())
    .addOption(speakerOption('--persona <id>', 'owner of the run'))
    .addHelpText(
      'after',
      `
Examples:
  sentinel simulate sentinels/build.json --input task=login
  sentinel simulate sentinels/build.json --replies failing.json --project ../app
  sentinel simulate sentinels/build.json --policy careful.json
  sentinel simulate sentinels/build.json --json    {ok, outcome, steps: [{key, permission, verdict, effect, …}], files, warnings, trace, …}`,
    )
    .action(async (file: string, options: Options) => {
      process.exitCode = await show(file, options);
    });
}

async function show(file: string, options: Options): Promise<number> {
  const output = openOutput(options);
  const project = projectFolder(options.project);
  const read = readInputs(options.inputFile, options.input);
  const { policy } = policyGiven(options.policy);
  const replies = options.replies === undefined ? {} : await repliesIn(options.replies);
  const [{ readGoodDefinition }, { simulate }] = await Promise.all([
    import('../request/good-definition.ts'),
    import('../../authoring/simulate/simulate.ts'),
  ]);
  const good = await readGoodDefinition(file, output, project);
  if (good === null) return EXIT.usage;
  const given = { inputs: read, assignments: options.input, note: output.note };
  const inputs = await fitInputs(good.definition, good.known, given);
  const persona = speakerOf({ said: options.persona, owner: good.persona, config: good.config });
  const { definition, known, catalogue, config } = good;
  const { ownPredictions } = await import('../../runs/commands/own-predictions.ts');
  const own = config === null ? [] : ownPredictions(config);
  const ofProject = config === null ? [] : policiesIn(config, project);
  const policies = [...ofProject, ...(policy === undefined ? [] : [policy])];
  const report = await simulate({ definition, known, catalogue, inputs, replies, project, persona, own, policies });
  if (options.replies !== undefined) refuseUnasked(options.replies, Object.keys(replies), report);
  output.object(report);
  showReport(report, output);
  return report.ok ? EXIT.ok : EXIT.failed;
}

async function repliesIn(file: string): Promise<Replies> {
  const [{ readReplies }, { readExactly }, { readFileSync }] = await Promise.all([
    import('../../authoring/definition-tests/test-file.ts'),
    import('../request/given-json.ts'),
    import('node:fs'),
  ]);
  let value: unknown;
  try {
    value = readExactly(`--replies ${file}`, readFileSync(file, 'utf8'));
  } catch (error) {
    if (error instanceof ClientError) throw error;
    throw usage(
      `--replies ${file} cannot be read as JSON (${error instanceof Error ? error.message : String(error)}); give a file of {KEY-or-PATTERN: reply}.`,
    );
  }
  refuseFault(valueFault(value, `--replies ${file}`));
  if (!isJsonObject(value)) throw usage(`--replies ${file} does not hold an object; write {KEY-or-PATTERN: reply, …}.`);
  try {
    return readReplies(value);
  } catch (error) {
    throw usage(`--replies ${file}: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Any object can be read as replies. If no step used any of them, it is another file, or all keys are misspelt. */
function refuseUnasked(file: string, patterns: readonly string[], { unused, steps }: SimulationReport): void {
  if (patterns.length === 0 || unused.length < patterns.length) return;
  const keys = steps.filter(({ step }) => step !== 'condition').map(({ key, label }) => `${key} (${label})`);
  const asked =
    keys.length === 0
      ? 'no step asked for any'
      : `what asked was ${keys.slice(0, 5).join(', ')}${keys.length > 5 ? ', …' : ''}`;
  throw usage(
    `--replies ${file}: nothing asked for ${patterns
      .slice(0, 5)
      .map((pattern) => `"${pattern}"`)
      .join(', ')}${patterns.length > 5 ? ', …' : ''}; ` +
      `a reply stands under a step's key, its name, a command, or "shell LINE", and ${asked}.`,
  );
}

function showReport(report: SimulationReport, output: Output): void {
  const { paint } = output;
  const rows = report.steps.slice(0, rowsMax).map((step) => rowOf(step, paint));
  for (const line of table(['KEY', 'STEP', 'PERMISSION', 'VERDICT', 'WOULD'], rows, paint)) output.line(line);
  if (report.steps.length > rowsMax)
    output.line(paint.dim(`… and ${report.steps.length - rowsMax} more (--json shows all)`));
  for (const { path, change, diff } of report.files) {
    output.line();
    output.line(`${paint.strong(path)} would be ${change}`);
    for (const line of diff.split('\n'))
      output.line(`  ${line.startsWith('+') ? paint.good(line) : line.startsWith('-') ? paint.bad(line) : line}`);
  }
  const notes = notesOf(report, paint);
  if (notes.length > 0) output.line();
  for (const note of notes) output.line(note);
  output.line();
  output.line(endOf(report, paint));
}

function rowOf(
  { key, step, label, permission, verdict, rule, sandboxed, effect, source, outcome, failure, branch }: SimulatedStep,
  paint: Paint,
): string[] {
  const colour = verdict === 'denied' ? paint.bad : verdict === 'needs approval' ? paint.warn : paint.good;
  const said = short(branch !== undefined ? `→ ${branch}` : (effect ?? ''), 120).trim();
  const remarks = [
    ...(branch === undefined && source === 'assumed' && step === 'shell' ? [paint.dim('(assumed to succeed)')] : []),
    ...(failure === undefined ? [] : [paint.bad(`${outcome} ${failure.code}`)]),
  ];
  return [
    key,
    `${step} ${short(label)}`,
    permission ?? '',
    colour(sandboxed === true && verdict !== 'denied' ? `${verdict}, sandboxed` : verdict) +
      (rule === undefined ? '' : paint.dim(` (${rule})`)),
    [said, ...remarks].join(' ').trim(),
  ];
}

function short(text: string, max = 40): string {
  return shortened(text.replaceAll(/\s+/g, ' '), max);
}

function notesOf({ steps, warnings, unused }: SimulationReport, paint: Paint): string[] {
  return [
    ...steps
      .filter(({ verdict }) => verdict === 'denied')
      .map(({ key, why = '' }) => `${paint.bad('denied')} ${why.startsWith(key) ? why : `${key}: ${why}`}`),
    ...warnings.map(
      ({ key, code, message }) =>
        `${paint.warn(code)} ${key === '' || message.startsWith(key) ? '' : `${key}: `}${message}`,
    ),
    ...unused.map((pattern) => paint.warn(`the reply "${pattern}" was never asked for`)),
  ];
}

function endOf({ outcome, limit, failure, iterations, steps }: SimulationReport, paint: Paint): string {
  const how = `${outcome}${limit === undefined ? '' : ` (${limit})`}${failure === undefined ? '' : `: ${failure.code} ${failure.message}`}`;
  const count = (wanted: SimulatedStep['verdict']): number => steps.filter(({ verdict }) => verdict === wanted).length;
  return `the run would end ${outcome === 'completed' ? paint.good(how) : paint.bad(how)} after ${iterations} ${iterations === 1 ? 'pass' : 'passes'}; ${count('denied')} denied, ${count('needs approval')} to approve. Nothing was touched.`;
}
