/** `sentinel explain FILE-or-NAME`: needs no services, except to find a saved definition. */
import type { Command } from 'commander';
import type { Estimate } from '../../language/explain/estimate.ts';
import type { Explanation } from '../../language/explain/explain.ts';
import type { Paint } from '../../client/show/paint.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput } from '../output/output.ts';

export function define(command: Command): void {
  command
    .description(
      'Says in plain sentences what a definition will do, what it may touch, what limits it, what it asks people, and how much history it creates. Exit code 2 if the definition has errors.',
    )
    .argument('<file>', 'the file of a definition, or its name')
    .addHelpText(
      'after',
      `
Examples:
  sentinel explain sentinels/build.json
  sentinel explain build    the definition named build, of the project or saved
  sentinel explain sentinels/build.json --json    {name, description, starts, steps, gives, touches, bounds, asks, estimate}`,
    )
    .action(async (file: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      const [{ readGoodDefinition }, { explain }] = await Promise.all([
        import('../request/good-definition.ts'),
        import('../../language/explain/explain.ts'),
      ]);
      const good = await readGoodDefinition(file, output);
      if (good === null) {
        process.exitCode = EXIT.usage;
        return;
      }
      const explanation = explain(good.definition, { catalogue: good.catalogue, knownRefs: good.known });
      output.object(explanation);
      for (const line of explanationLines(explanation, output.paint)) output.line(line);
    });
}

export function explanationLines(explanation: Explanation, paint: Paint): string[] {
  const { name, description, starts, steps, gives, touches, bounds, asks, estimate } = explanation;
  const part = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : ['', paint.strong(title), ...lines.map((line) => `  ${line}`)];
  return [
    paint.strong(name) + (description === null ? '' : `: ${description}`),
    starts,
    ...part(
      'What it does',
      steps.map(({ path, depth, text }) => `${'  '.repeat(depth)}${text}  ${paint.dim(path)}`),
    ),
    ...part('What it gives', gives),
    ...part(
      'What it may touch',
      touches.length === 0 ? ['Nothing outside the engine.'] : touches.map(({ sentence }) => sentence),
    ),
    ...part('What bounds it', bounds),
    ...part('What it asks people', asks),
    ...part('What history it makes', estimateLines(estimate)),
  ];
}

function estimateLines({ pass, passesPerHistory, passesMax, continuesAsNew, assumptions }: Estimate): string[] {
  const events = range(Math.round(pass.least.events), Math.round(pass.most.events));
  const size = range(tenths(pass.least.bytes), tenths(pass.most.bytes));
  const lines = [`About ${events} events and ${size} KB a pass, and what its steps return.`];
  if (passesMax === 1 && continuesAsNew === 0) lines.push('One history holds the whole run.');
  else if (passesPerHistory === null) lines.push('One history holds any number of passes.');
  else {
    const times =
      continuesAsNew === null
        ? ''
        : continuesAsNew === 0
          ? ', so one history holds the whole run'
          : `, so at most ${continuesAsNew} times in all`;
    lines.push(
      `It continues as new about every ${range(passesPerHistory.least, passesPerHistory.most)} passes${times}; nothing is lost by it.`,
    );
  }
  return [...lines, ...assumptions.map((assumption) => `Assumed: ${assumption}.`)];
}

const range = (least: number, most: number): string => (least === most ? `${least}` : `${least} to ${most}`);
const tenths = (bytes: number): number => Math.round(bytes / 102.4) / 10;
