/** `sentinel trust`: what a user trusts of what lies in a project, kept outside of every project. */
import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { readConfig } from '../../services/config/config.ts';
import { configFileOf } from '../../services/config/project-file.ts';
import { openOutput, type Output } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';
import { usage } from '../request/usage.ts';

interface Options {
  json?: boolean;
  home?: boolean;
  yes?: boolean;
  project: string;
}

export function define(command: Command): void {
  command
    .description(
      'Shows what the sentinel.config of a project loads, and records that you trust it: the file, all that it imports, and packages, by one digest. ' +
        'Asks on a terminal; elsewhere only --yes records it. Exit code 1 inside a step of a run, 2 if it is not trusted.',
    )
    .option('--project <dir>', 'the folder of the sentinel.config', '.')
    .option('--yes', 'trust it without being asked')
    .option('--home', 'believe the home (SENTINEL_HOME, or the default one) although it was not made here')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trust
  sentinel trust --yes --json    {ok, path, digest, files, changes}
  sentinel trust --home`,
    )
    .action(async (options: Options) => {
      const output = openOutput(options);
      if (options.home === true) await trustHome(output);
      else await trustProject(options, output);
    });
}

async function trustProject({ project: given, yes = false }: Options, output: Output): Promise<void> {
  const project = projectFolder(given);
  const file = configFileOf(project);
  if (file === null) throw usage(`There is no sentinel.config in ${project}, so there is nothing to trust.`);
  const [{ readProjectCode }, { changesOf, trustCode }, { askTrust, codeLines }] = await Promise.all([
    import('../../services/trust/project-code.ts'),
    import('../../services/trust/trusted-code.ts'),
    import('../trust/ask-trust.ts'),
  ]);
  const code = readProjectCode(file.path);
  const changes = changesOf(code);
  if (yes) {
    for (const line of codeLines(code)) output.note(line);
    trustCode(code);
  } else await askTrust(code, output);
  output.object({ ok: true, path: code.path, digest: code.digest, files: code.files.size, changes });
  output.line(`${output.paint.good('✔')} trusted: ${code.path}, digest ${code.digest}`);
}

async function trustHome(output: Output): Promise<void> {
  const { home } = readConfig();
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`${home} is not there; "sentinel up" makes it.`);
  const { adoptHome, homeDoubtText } = await import('../../services/home/own-home.ts');
  adoptHome(home);
  const doubt = homeDoubtText(home);
  if (doubt !== null) throw usage(doubt);
  output.object({ ok: true, home });
  output.line(`${output.paint.good('✔')} ${home} is yours`);
}
