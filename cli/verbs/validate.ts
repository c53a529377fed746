/** `sentinel validate FILE…`: needs no services. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Definition } from '../../language/model.ts';
import type { Problem } from '../../language/problems.ts';
import type { Paint } from '../../client/show/paint.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';
import { problemLines } from '../../client/show/problem-lines.ts';
import type { Commands } from '../../world/definitions/definition-files.ts';
import { policyGiven, policyOption } from '../request/policy-file.ts';
import { projectFolder } from '../request/run-request.ts';
import { usage } from '../request/usage.ts';

interface FileReport {
  file: string;
  ok: boolean;
  problems: Problem[];
  inferred: string[];
  /** The kind of the file, if it is not a definition. */
  skipped?: string;
}

type Checked = FileReport & { definition: Definition | null };

export function define(command: Command): void {
  command
    .description('Checks definitions and reports all problems at once. Exit code 0 if there is no error, 2 otherwise.')
    .argument(
      '<file...>',
      'files of definitions, and folders of them; if several are given, tests and schemas among them are skipped',
    )
    .option('--project <dir>', 'the folder whose sentinel.config defines further commands', '.')
    .addOption(policyOption('rules to check, too'))
    .addHelpText(
      'after',
      `
Examples:
  sentinel validate sentinels/build.json
  sentinel validate sentinels
  sentinel validate sentinels/build.json --policy careful.json
  sentinel validate --json sentinels/*.json`,
    )
    .action(
      async (files: string[], { json, project, policy }: { json?: boolean; project: string; policy?: string }) => {
        policyGiven(policy);
        process.exitCode = await validate(files, projectFolder(project), openOutput({ json }));
      },
    );
}

async function validate(given: readonly string[], project: string, output: Output): Promise<number> {
  const [{ commandsIn }, { definitionFiles }] = await Promise.all([
    import('../request/project-config.ts'),
    import('../files/definition-files.ts'),
  ]);
  const files = given.flatMap((path) => definitionFiles(path));
  const commands = await commandsIn(project, output);
  const reports = await Promise.all(files.map((file) => checkFile(file, commands)));
  const ok = reports.every((report) => report.ok);
  const [only] = reports;
  if (only !== undefined && reports.every(({ skipped }) => skipped !== undefined)) {
    throw usage(`${only.file} is ${only.skipped}; give the file of a definition.`);
  }
  if (reports.length === 1 && only !== undefined) {
    output.object({ ok, problems: only.problems, inferred: only.inferred });
  } else {
    const problems = reports.flatMap(({ file, problems: found }) => found.map((problem) => ({ file, ...problem })));
    const inferred = reports.flatMap((report) => report.inferred);
    output.object({ ok, problems, inferred, files: reports.map(({ definition: _definition, ...report }) => report) });
  }
  for (const report of reports) for (const line of reportLines(report, output.paint)) output.line(line);
  for (const notice of await differences(reports, output)) output.note(`sentinel: ${notice}`);
  return ok ? EXIT.ok : EXIT.usage;
}

/** Saved definitions that have the names of the files and differ from them, while the store is up. */
async function differences(reports: readonly Checked[], output: Output): Promise<string[]> {
  const read = reports.flatMap(({ file, definition }) => (definition === null ? [] : [{ file, definition }]));
  if (read.length === 0) return [];
  const { withClient } = await import('../request/with-client.ts');
  return withClient(output, (client) => client.differingCopies(read));
}

async function checkFile(file: string, commands: Commands): Promise<Checked> {
  const [{ filesAround }, { isExportFile, readDefinitionFile }, { otherThan }] = await Promise.all([
    import('../../client/read-definition.ts'),
    import('../../world/definitions/definition-files.ts'),
    import('../../language/read/text/definition-text.ts'),
  ]);
  const skipped = otherThan(file) ?? (isExportFile(file) ? 'an export, which "sentinel saved import" reads' : null);
  if (skipped !== null) return { file, ok: true, problems: [], inferred: [], skipped, definition: null };
  const path = resolve(file);
  const { definition, problems, inferred } = readDefinitionFile(path, filesAround(path, commands));
  return { file, ok: definition !== null, problems, inferred, definition };
}

function reportLines({ file, ok, problems, inferred, skipped }: FileReport, paint: Paint): string[] {
  if (skipped !== undefined) return [paint.dim(`- left out  ${file}: ${skipped}`)];
  const verdict = ok
    ? paint.good('✔ ok')
    : paint.bad(`✖ ${counted(problems.filter(({ severity }) => severity === 'error').length, 'error')}`);
  return [
    `${verdict}  ${file}`,
    ...problemLines(problems, paint),
    ...inferred.map((text) => `  ${paint.dim(`inferred: ${text}`)}`),
  ];
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
