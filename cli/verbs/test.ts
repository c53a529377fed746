/** `sentinel test [FILE…]`: needs no services, except to record a run. */
import type { Command } from 'commander';
import type { FileReport } from '../../authoring/definition-tests/run-suite.ts';
import type { Commands } from '../../world/definitions/definition-files.ts';
import type { Paint } from '../../client/show/paint.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { usage } from '../request/usage.ts';
import { defined } from '../../language/defined.ts';

interface Options {
  json?: boolean;
  watch?: boolean;
  update?: boolean;
  junit?: string;
  record?: string;
  out?: string;
}

export function define(command: Command): void {
  command
    .description(
      'Runs the cases of *.sentinel-test.json files with the real interpreter. Replies come from the file; no server is used and nothing is changed. ' +
        'Exit code 0 if all cases pass, 1 if one fails, 2 if a file or a definition has problems.',
    )
    .argument(
      '[path...]',
      'test files, definitions with tests beside them, or folders; default: this folder and sentinels/',
    )
    .option('--watch', 'run the tests again whenever a file changes')
    .option('--update', 'replace the expectations of failing cases by the actual results')
    .option('--junit <file>', 'also write a JUnit report')
    .option('--record <handle>', 'create a test file from a run that has ended')
    .option('--out <file>', 'where --record writes (default: NAME-HANDLE.sentinel-test.json)')
    .addHelpText(
      'after',
      `
Examples:
  sentinel test
  sentinel test sentinels/build.json --watch
  sentinel test --json --junit report.xml    {ok, passed, failed, files: [{file, mistakes, cases}]}
  sentinel test --record nightly`,
    )
    .action(async (paths: string[], options: Options) => {
      const output = openOutput({ ...options, streams: options.watch === true });
      if (options.record !== undefined) return record(options.record, options.out, output);
      if (options.out !== undefined) throw usage('--out says where --record writes; write --record HANDLE as well.');
      if (options.watch === true) return watch(paths, options, output);
      process.exitCode = exitCodeOf(await runAll(paths, options, output));
    });
}

async function runAll(paths: readonly string[], options: Options, output: Output): Promise<FileReport[]> {
  const { findTests, runTestFile } = await import('../../authoring/definition-tests/run-suite.ts');
  const { files, mistakes } = findTests(paths);
  if (mistakes.length > 0) throw usage(`${mistakes.join('; ')}.`);
  if (files.length === 0)
    throw usage(
      'There is no *.sentinel-test.json file here, below the folders that were given, or in sentinels/; write one beside a definition.',
    );
  const { commandsIn } = await import('../request/project-config.ts');
  const commands = await commandsIn(process.cwd(), output);
  const reports: FileReport[] = [];
  for (const file of files) {
    const report = await runTestFile(file, commands);
    reports.push(options.update === true ? await updated(report, commands, output) : report);
  }
  await show(reports, output);
  if (options.junit !== undefined) await writeJunit(options.junit, reports);
  return reports;
}

async function updated(report: FileReport, commands: Commands, output: Output): Promise<FileReport> {
  const [{ updateFile }, { runTestFile }] = await Promise.all([
    import('../../authoring/definition-tests/update.ts'),
    import('../../authoring/definition-tests/run-suite.ts'),
  ]);
  const changed = report.mistakes.length > 0 ? 0 : updateFile(report);
  if (changed === 0) return report;
  output.note(`sentinel: ${report.file}: ${changed} ${changed === 1 ? 'case' : 'cases'} rewritten`);
  return runTestFile(report.file, commands);
}

async function writeJunit(path: string, reports: readonly FileReport[]): Promise<void> {
  const [{ junitOf }, { writeFileSync }] = await Promise.all([
    import('../../authoring/definition-tests/junit.ts'),
    import('node:fs'),
  ]);
  try {
    writeFileSync(path, junitOf(reports));
  } catch (error) {
    throw usage(
      `--junit ${path} cannot be written (${error instanceof Error ? error.message : String(error)}); give a file in a folder that exists.`,
    );
  }
}

async function show(reports: readonly FileReport[], output: Output): Promise<void> {
  const { differenceLines } = await import('../../authoring/definition-tests/difference-lines.ts');
  for (const { file, mistakes, cases } of reports) {
    for (const mistake of mistakes) output.line(`${output.paint.bad('✖')} ${file}  ${mistake}`);
    for (const report of cases) {
      output.line(caseLine(file, report, output.paint));
      if (!report.ok) for (const line of differenceLines(report, output.paint)) output.line(`    ${line}`);
      for (const pattern of report.unused)
        output.line(`    ${output.paint.warn(`the reply "${pattern}" was never asked for`)}`);
    }
  }
  const { passed, failed } = countsOf(reports);
  const broken = reports.filter(({ mistakes }) => mistakes.length > 0).length;
  const totals = [
    `${passed} passed`,
    `${failed} failed`,
    ...(broken === 0 ? [] : [`${broken} ${broken === 1 ? 'file' : 'files'} not readable`]),
  ];
  output.line(`${totals.join(', ')} in ${reports.length} ${reports.length === 1 ? 'file' : 'files'}`);
  output.object({ ok: exitCodeOf(reports) === EXIT.ok, passed, failed, files: reports.map(documentOf) });
}

function caseLine(file: string, { ok, name, durationMs }: FileReport['cases'][number], paint: Paint): string {
  return `${ok ? paint.good('✔') : paint.bad('✖')} ${file}  ${paint.strong(name)}  ${paint.dim(`${Math.round(durationMs)} ms`)}`;
}

function documentOf({ file, mistakes, cases }: FileReport): unknown {
  return {
    file,
    mistakes,
    cases: cases.map(({ name, ok, differences, problems, unused, durationMs, outcome, mistake, stuck }) => ({
      name,
      ok,
      differences,
      problems,
      unused,
      durationMs: Math.round(durationMs * 10) / 10,
      ...defined({ mistake, stuck }),
      ...(outcome === null ? {} : { outcome: outcome.result.outcome, trace: outcome.trace }),
    })),
  };
}

function countsOf(reports: readonly FileReport[]): { passed: number; failed: number } {
  const cases = reports.flatMap((report) => report.cases);
  const passed = cases.filter(({ ok }) => ok).length;
  return { passed, failed: cases.length - passed };
}

/** The file cannot be read, or its definition has problems that it does not expect. */
const isBroken = (report: FileReport['cases'][number]): boolean =>
  report.mistake !== undefined ||
  (report.outcome === null && report.problems.length > 0 && report.test.expect.problems === undefined);

function exitCodeOf(reports: readonly FileReport[]): number {
  if (reports.some(({ mistakes, cases }) => mistakes.length > 0 || cases.some((report) => isBroken(report))))
    return EXIT.usage;
  return reports.every(({ cases }) => cases.every(({ ok }) => ok)) ? EXIT.ok : EXIT.failed;
}

/** Runs until it is interrupted. Wrong usage ends it; mistakes in files are shown, and it waits for the next change. */
async function watch(paths: readonly string[], options: Options, output: Output): Promise<void> {
  const [{ default: chokidar }, path] = await Promise.all([import('chokidar'), import('node:path')]);
  const reports = await runAll(paths, options, output);
  const watched = [...new Set([...paths, ...reports.flatMap(({ reads }) => reads.map((file) => path.dirname(file)))])];
  const watcher = chokidar.watch(watched, { ignoreInitial: true, ignored: /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/ });
  let due: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const again = async (): Promise<void> => {
    output.line();
    await runAll(paths, options, output).catch((error: unknown) =>
      output.note(`sentinel: ${error instanceof Error ? error.message : String(error)}`),
    );
  };
  watcher.on('all', (_event, file) => {
    if (!file.endsWith('.json')) return;
    clearTimeout(due);
    due = setTimeout(() => {
      running = running.then(again);
    }, 80);
  });
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await watcher.close();
}

async function record(given: string, out: string | undefined, output: Output): Promise<void> {
  const [{ recordHandle }, { jsonText }, { existsSync, writeFileSync }, { withRun }] = await Promise.all([
    import('../../authoring/definition-tests/record/record-handle.ts'),
    import('../../authoring/definition-tests/json-text.ts'),
    import('node:fs'),
    import('../runs/run-named.ts'),
  ]);
  const { handle, name, file, unknown } = await withRun(output, given, async (client, run) => ({
    handle: run,
    ...(await recordHandle(client, run)),
  }));
  const path = out ?? `${name}-${handle}`.replaceAll(/[^\w.-]+/g, '-') + '.sentinel-test.json';
  if (existsSync(path)) throw usage(`${path} exists already; name another file with --out.`);
  try {
    writeFileSync(path, jsonText(file));
  } catch (error) {
    throw usage(
      `${path} cannot be written (${error instanceof Error ? error.message : String(error)}); give a file in a folder that exists with --out.`,
    );
  }
  output.line(`${output.paint.good('✔')} ${path}`);
  for (const sentence of unknown) output.line(`  ${output.paint.warn(sentence)}`);
  output.object({ ok: true, file: path, unknown });
}
