/** `sentinel hooks install|remove`: commits and pushes as events. */
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { readConfig } from '../../services/config/config.ts';
import type { HookReport } from '../../client/triggers/git-hooks.ts';
import { EXIT } from '../output/exit-codes.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { openOutput } from '../output/output.ts';
import { projectFolder } from '../request/run-request.ts';

interface Options {
  json?: boolean;
  project: string;
}

export function define(verb: Command): void {
  verb
    .description('Lets a git repository publish its commits (git:commit) and pushes (git:push) as events.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel hooks install --project .
  sentinel hooks remove --project .`,
    );
  defineSubverbs(verb, {
    install: {
      summary: 'write the hooks post-commit and pre-push',
      kind: 'acts',
      define: (command) =>
        hooksVerb(
          command,
          'install',
          'Inserts a marked block into the hooks post-commit and pre-push, and keeps the rest of each hook. Installing again replaces the block.',
          install,
        ),
    },
    remove: {
      summary: 'remove them again',
      kind: 'acts',
      define: (command) =>
        hooksVerb(
          command,
          'remove',
          'Removes the marked block from the hooks, and keeps the rest of each hook.',
          remove,
        ),
    },
  });
}

function hooksVerb(
  command: Command,
  name: string,
  description: string,
  act: (project: string) => Promise<HookReport[]>,
): void {
  command
    .description(
      `${description} Exit code 1 if a hook is not a shell script, 2 if the folder is not in a git repository.`,
    )
    .option('--project <dir>', 'a folder of the repository; the events belong to it', '.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel hooks ${name}
  sentinel hooks ${name} --project ../app --json    {ok, hooks: [{hook, event, file, result, reason?}]}`,
    )
    .action(async (_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const output = openOutput(options);
      const hooks = await act(projectFolder(options.project));
      const ok = hooks.every(({ result }) => result !== 'refused');
      output.object({ ok, hooks });
      for (const { hook, event, file, result, reason } of hooks)
        output.line(`${hook} (${event}) ${result}: ${file}${reason === undefined ? '' : `; ${reason}`}`);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}

async function install(project: string): Promise<HookReport[]> {
  const { installHooks } = await import('../../client/triggers/git-hooks.ts');
  const { packageRoot, home } = readConfig();
  const isElsewhere = process.env['SENTINEL_HOME'] !== undefined && process.env['SENTINEL_HOME'] !== '';
  return installHooks(project, {
    program: join(packageRoot, 'sentinel'),
    nodeFolder: dirname(process.execPath),
    home: isElsewhere ? home : null,
  });
}

async function remove(project: string): Promise<HookReport[]> {
  const { removeHooks } = await import('../../client/triggers/git-hooks.ts');
  return removeHooks(project);
}
