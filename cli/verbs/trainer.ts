/** `sentinel trainer install|doctor`: the Python environment that trains adapters. */
import type { Command } from 'commander';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readConfig } from '../../services/config/config.ts';
import { entryLines } from '../output/entry-lines.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { usage } from '../request/usage.ts';
import { Progress } from '../request/with-client.ts';

interface Options {
  json?: boolean;
}

export function define(verb: Command): void {
  verb
    .description(
      'Installs and checks the trainer: a Python environment of about 5 GB in the cache, with packages by version and hash. Only training needs it.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel trainer install
  sentinel trainer doctor`,
    );
  defineSubverbs(verb, {
    install: { summary: 'install the trainer', kind: 'acts', define: defineInstall },
    doctor: { summary: 'check the installed trainer', kind: 'looks', define: defineDoctor },
  });
}

function defineInstall(command: Command): void {
  command
    .description(
      'Makes the Python environment of the trainer, with uv where it is on PATH, else with venv and pip. Needs Python 3.11 to 3.13. Exit code 1 if it fails.',
    )
    .option('--again', 'install what is there anew')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trainer install
  sentinel trainer install --json    {ok, folder, python, by, wasInstalled, ms}`,
    )
    .action(async (_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options & { again?: boolean }>();
      const output = openOutput(options);
      const { installTrainer } = await import('../../services/trainer/install-trainer.ts');
      const progress = new Progress(output);
      const { environment, wasInstalled, ms } = await installTrainer({
        cacheDir: readConfig().cacheDir,
        env: process.env,
        isForced: options.again === true,
        onProgress: (text) => progress.say(text),
      }).finally(() => progress.end());
      const { folder, python, installed } = environment;
      output.object({ ok: true, folder, python, by: installed?.by ?? null, wasInstalled, ms });
      const words = wasInstalled ? 'is installed already' : `was installed in ${Math.round(ms / 1000)} s`;
      output.line(`${output.paint.good('✔')} the trainer ${words}: ${folder}`);
    });
}

function defineDoctor(command: Command): void {
  command
    .description(
      'Shows whether the trainer is installed, its packages and accelerator, and how it splits the texts of a model. Exit code 1 if something is missing.',
    )
    .option('--model <path>', 'a GGUF file or a folder with safetensors')
    .addHelpText(
      'after',
      `
Examples:
  sentinel trainer doctor
  sentinel trainer doctor --model ~/models/tiny.gguf --json    {ok, entries: [{name, ok, found, where, version, remedy?}]}`,
    )
    .action(async (_options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options & { model?: string }>();
      const output = openOutput(options);
      const model = options.model === undefined ? undefined : resolve(options.model);
      if (model !== undefined && statSync(model, { throwIfNoEntry: false }) === undefined)
        throw usage(
          `${options.model ?? ''} is not there; give the path of a GGUF file or of a folder with safetensors.`,
        );
      const { inspectTrainer } = await import('../../services/inspect-trainer.ts');
      const entries = await inspectTrainer(readConfig().cacheDir, model === undefined ? {} : { model });
      const ok = entries.every((entry) => entry.ok);
      output.object({ ok, entries });
      for (const line of entryLines(entries, output.paint)) output.line(line);
      process.exitCode = ok ? EXIT.ok : EXIT.failed;
    });
}
