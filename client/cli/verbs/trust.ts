/** `sentinel trust`: what a user believes of what lies in a project. */
import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { readConfig } from '../../../services/config/config.ts';
import { openOutput, type Output } from '../output/output.ts';
import { usage } from '../request/usage.ts';
import { refuseWithinStep } from '../../within-step.ts';

interface Options {
  json?: boolean;
  home?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'Records for this user, outside of every project, that a home of Sentinel is their own. Exit code 1 inside a step of a run, 2 if there is no home.',
    )
    .option('--home', 'believe the home (SENTINEL_HOME, or the default one) although it was not made here')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trust --home`,
    )
    .action(async (options: Options) => {
      const output = openOutput(options);
      await refuseWithinStep('A run does not trust for a person: a person runs "sentinel trust".');
      if (options.home !== true) throw usage('Say what to trust: --home.');
      await trustHome(output);
    });
}

async function trustHome(output: Output): Promise<void> {
  const { home } = readConfig();
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`${home} is not there; "sentinel up" makes it.`);
  const { adoptHome, homeDoubtText } = await import('../../../services/home/own-home.ts');
  adoptHome(home);
  const doubt = homeDoubtText(home);
  if (doubt !== null) throw usage(doubt);
  output.object({ ok: true, home });
  output.line(`${output.paint.good('✔')} ${home} is yours`);
}
