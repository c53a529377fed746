/** `sentinel init [FOLDER]`: needs no services. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Begun } from '../../authoring/starter/start-project.ts';
import type { Paint } from '../../client/show/paint.ts';
import { openOutput, type Output } from '../output/output.ts';

export function define(command: Command): void {
  command
    .description(
      'Writes what a project begins with: sentinels/gate.json and its tests, sentinel.config.ts, lines of .gitignore, ' +
        'and a CI workflow. Overwrites nothing: a file that is there is kept.',
    )
    .argument('[folder]', 'the folder of the project; it is made when it does not exist', '.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel init
  sentinel init my-project
  sentinel init --json    {ok, folder, files: [{file, done, because?}], next}`,
    )
    .action(async (folder: string, { json }: { json?: boolean }) => {
      await init(folder, openOutput({ json }));
    });
}

async function init(given: string, output: Output): Promise<void> {
  const { ignoresData, installedIn, startProject } = await import('../../authoring/starter/start-project.ts');
  const folder = resolve(given);
  const files = startProject(folder);
  if (files.some(({ file, done }) => file === CONFIG && done === 'written')) await trustOwn(join(folder, CONFIG));
  for (const file of files) output.line(lineOf(file, output.paint));
  const installed = installedIn(folder);
  const next = nextCommands(given, folder, installed !== null);
  output.line();
  output.line('Next:');
  for (const command of next) output.line(`  ${command}`);
  if (installed === null && !existsSync(join(folder, 'package.json')))
    output.line(
      output.paint.dim('There is no package.json here; npm install makes one, and the CI workflow needs it.'),
    );
  const isElsewhere = installed !== null && installed !== folder && (process.env['SENTINEL_HOME'] ?? '') === '';
  if (isElsewhere && !ignoresData(installed))
    output.line(
      output.paint.warn(
        `The package is installed in ${installed}, and its services keep their data there: add .sentinel/ to ${join(installed, '.gitignore')}.`,
      ),
    );
  if (isBelowRepository(folder))
    output.line(
      output.paint.warn('GitHub reads workflows in the root of the repository alone; move .github/workflows there.'),
    );
  output.object({ ok: true, folder, files, next });
}

const CONFIG = 'sentinel.config.ts';

/** What this very verb wrote for a person needs no question; where nothing can be kept, the next verb asks. */
async function trustOwn(path: string): Promise<void> {
  const [{ isWithinStep }, { readProjectCode }, { trustCode }, { ConfigError }] = await Promise.all([
    import('../../world/processes/step-mark.ts'),
    import('../../services/trust/project-code.ts'),
    import('../../services/trust/trusted-code.ts'),
    import('../../services/home/config-error.ts'),
  ]);
  if (await isWithinStep()) return;
  try {
    trustCode(readProjectCode(path));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
  }
}

function lineOf({ file, done, because }: Begun, paint: Paint): string {
  switch (done) {
    case 'written':
      return `${paint.good('✔')} ${file}  ${paint.dim('written')}`;
    case 'extended':
      return `${paint.good('✔')} ${file}  ${paint.dim('lines added')}`;
    case 'kept':
      return paint.dim(`- ${file}  kept: ${because}`);
    default:
      return done satisfies never;
  }
}

function nextCommands(given: string, folder: string, isInstalled: boolean): string[] {
  return [
    ...(folder === process.cwd()
      ? []
      : [`cd ${/^[\w./-]+$/.test(given) ? given : `'${given.replaceAll("'", `'\\''`)}'`}`]),
    ...(isInstalled ? [] : ['npm install --save-dev sentinel-engine']),
    'npx sentinel-engine validate sentinels',
    'npx sentinel-engine test sentinels',
    'npx sentinel-engine run sentinels/gate.json',
  ];
}

function isBelowRepository(folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return false;
  const parent = resolve(folder, '..');
  if (parent === folder) return false;
  return existsSync(join(parent, '.git')) || isBelowRepository(parent);
}
