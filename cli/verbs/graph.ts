/** `sentinel graph FILE-or-HANDLE`: a file needs no services; a run is read from the store. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Graph } from '../../language/graph/graph.ts';
import { isDefinitionFile } from '../../language/read/text/definition-text.ts';
import { EXIT } from '../output/exit-codes.ts';
import { openOutput, type Output } from '../output/output.ts';

export function define(command: Command): void {
  command
    .description(
      'Draws a definition, or a run with the state of each step, as a Mermaid flowchart. Exit code 2 if the definition has errors, 4 if there is no such run.',
    )
    .argument('<file-or-handle>', 'the file of a definition, or the handle of a run')
    .addHelpText(
      'after',
      `
The argument is a file if a file has that name, or if it ends in .json, .jsonc, .yaml or .yml; otherwise it is the handle of a run.

Examples:
  sentinel graph sentinels/build.json > build.mmd
  sentinel graph nightly             how far the run is, what failed, where the time went
  sentinel graph nightly --json      {name, nodes, groups, edges}`,
    )
    .action(async (given: string, options: { json?: boolean }) => {
      const output = openOutput(options);
      const graph =
        existsSync(given) || isDefinitionFile(given)
          ? await graphOfFile(given, output)
          : await graphOfRun(given, output);
      if (graph === null) {
        process.exitCode = EXIT.usage;
        return;
      }
      output.object(graph);
      if (output.json) return;
      const { mermaidOf } = await import('../../language/graph/mermaid.ts');
      output.text(mermaidOf(graph));
    });
}

async function graphOfFile(file: string, output: Output): Promise<Graph | null> {
  const [{ readGoodDefinition }, { graphOf }] = await Promise.all([
    import('../request/good-definition.ts'),
    import('../../language/graph/draw.ts'),
  ]);
  const good = await readGoodDefinition(file, output);
  return good === null ? null : graphOf(good.definition, { knownRefs: good.known });
}

async function graphOfRun(given: string, output: Output): Promise<Graph> {
  const [{ withRun }, { runGraph }, { filesOfProject }] = await Promise.all([
    import('../runs/run-named.ts'),
    import('../../client/show/run-graph.ts'),
    import('../../client/read-definition.ts'),
  ]);
  return withRun(output, given, async (client, handle) => {
    const { project } = await client.find(handle);
    return runGraph(client, handle, filesOfProject(resolve(project)).known);
  });
}
