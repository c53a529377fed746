/** `sentinel saved …`: the definitions in the store, by name, and how they travel. */
import type { Command } from 'commander';
import type { Definition } from '../../language/model.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { openOutput } from '../output/output.ts';
import { table } from '../output/table.ts';
import { defineDistrust, defineKeys, defineTrust } from '../saved/keys.ts';
import { defineDeploy, defineExport, defineImport } from '../saved/travel.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { nearestOf } from '../../client/nearest.ts';
import { speakerHere } from '../request/speaker.ts';
import { withClient } from '../request/with-client.ts';

export function define(verb: Command): void {
  verb
    .description(
      'Shows, deletes, exports, imports and deploys the definitions in the store. "sentinel save" stores definitions; so do running and scheduling a file, and runs that create a definition.',
    )
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved list
  sentinel saved show release`,
    );
  defineSubverbs(verb, {
    list: { summary: 'list saved definitions', kind: 'looks', define: defineList },
    show: { summary: 'print a saved definition', kind: 'looks', define: defineShow },
    delete: { summary: 'remove the name of a saved definition', kind: 'acts', define: defineDelete },
    export: { summary: 'write one into a signed file', kind: 'acts', define: defineExport },
    import: { summary: 'save what a signed file holds', kind: 'acts', define: defineImport },
    deploy: { summary: 'have one found in another project', kind: 'acts', define: defineDeploy },
    keys: { summary: 'list the keys whose files are imported', kind: 'looks', define: defineKeys },
    trust: { summary: 'say that you know whose a key is', kind: 'acts', define: defineTrust },
    distrust: { summary: 'take a key off the list', kind: 'acts', define: defineDistrust },
  });
}

function defineList(command: Command): void {
  command
    .description('Lists the saved definitions, what each name finds, with its owner and how its runs went.')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved list
  sentinel saved list --json    [{name, version, id, description, savedAt, personaId, project, tags, isPublic, runCount, successRate, …}]`,
    )
    .action(async (_options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const all = await client.saved(await speakerHere(undefined, output));
        output.object(all);
        const rows = all.map(({ name, version, personaId, runCount, successRate, savedAt, description }) => [
          name,
          String(version),
          personaId,
          String(runCount),
          successRate === null ? '' : `${Math.round(successRate * 100)} %`,
          savedAt,
          description ?? '',
        ]);
        const head = ['NAME', 'VERSION', 'OWNER', 'RUNS', 'SUCCESS', 'SAVED', 'DESCRIPTION'];
        const lines = table(head, rows, output.paint);
        for (const line of lines) output.line(line);
        if (lines.length === 0) output.note('sentinel: nothing is saved; "sentinel save FILE" does it.');
      });
    });
}

function defineShow(command: Command): void {
  command
    .description(
      'Prints a saved definition in its canonical form. "sentinel run" accepts the output as a file. Exit code 4 if there is none of that name.',
    )
    .argument('<name>', 'the name, or the id of a version')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved show release > release.json
  sentinel saved show release --json    {name, version, id, savedAt, definition, versions: [{version, id, savedAt}]}`,
    )
    .action(async (name: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const by = await speakerHere(undefined, output);
        const found = await client.savedAs(name, by);
        if (found === null) throw await noneOf(client, name, by);
        const { inOrder } = await import('../../language/read/key-order.ts');
        const definition = inOrder(found.definition as unknown as Definition);
        output.object({ ...found, definition });
        output.text(`${JSON.stringify(definition, null, 2)}\n`);
      });
    });
}

function defineDelete(command: Command): void {
  command
    .description(
      'Removes the name from the store, until a definition is saved under it again. Runs, schedules and triggers keep their definitions. Exit code 4 if there is none of that name.',
    )
    .argument('<name>', 'its name')
    .addHelpText(
      'after',
      `
Examples:
  sentinel saved delete release`,
    )
    .action(async (name: string, _options: unknown, self: Command) => {
      const output = openOutput(self.optsWithGlobals<{ json?: boolean }>());
      await withClient(output, async (client) => {
        const by = await speakerHere(undefined, output);
        if (!(await client.forget(name, by))) throw await noneOf(client, name, by);
        output.object({ ok: true, name });
        output.line(`${name} is deleted.`);
      });
    });
}

async function noneOf(client: OpenClient, name: string, by: string): Promise<ClientError> {
  const names = (await client.saved(by)).map((one) => one.name);
  const hint = nearestOf(name, names, (near) => `write "${near}", or `);
  return new ClientError('NOT_FOUND', `There is no saved definition "${name}"; ${hint}see "sentinel saved list".`);
}
