/** `sentinel data list|read|delete COLLECTION`: the records that runs keep. */
import type { Command } from 'commander';
import { previewOf } from '../../language/events/preview.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { RecordFilter } from '../../language/params/record-filter.ts';
import { defined } from '../../language/defined.ts';
import { ClientError } from '../../client/client.ts';
import type { OpenClient } from '../../client/open-client.ts';
import { performCommand } from '../../client/perform.ts';
import { oneLine } from '../../client/show/trace.ts';
import { openOutput } from '../output/output.ts';
import { givenJson } from '../request/given-json.ts';
import { defineSubverbs } from '../request/subverbs.ts';
import { speakerHere } from '../request/speaker.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';

const FILTER_REMEDY = `write it in single quotes: --filter '{"name": "value"}'`;

/** As the commands give a record. */
type Shown = JsonObject & { id: string };

interface Options {
  json?: boolean;
  filter?: string;
  limit: number;
  /** True: the first page. */
  cursor?: string | true;
}

interface Page {
  [field: string]: Json;
  records: Shown[];
  cursor: string;
  more: boolean;
}

export function define(verb: Command): void {
  verb.description('Shows and deletes the records that runs keep in collections (data/create).');
  defineSubverbs(verb, {
    list: { summary: 'list the records of a collection', kind: 'looks', define: defineList },
    read: { summary: 'show one record in full', kind: 'looks', define: defineRead },
    delete: { summary: 'delete records', kind: 'acts', define: defineDelete },
  });
}

const withFilter = (command: Command): Command =>
  command.option('--filter <json>', 'fields with their values, or with the operators of data/list');

function defineList(command: Command): void {
  withFilter(command.description('Lists the records of a collection, the oldest first.'))
    .argument('<collection>', 'the name of the collection')
    .option('--limit <n>', 'the maximum number of records', wholeNumber('--limit', { min: 1, max: 10_000 }), 100)
    .option('--cursor [cursor]', 'read by pages: the first one, or the one behind the cursor of the page before')
    .addHelpText(
      'after',
      `
Examples:
  sentinel data list todos
  sentinel data list todos --filter '{"done": false, "size": {"$gt": 3}}' --json
  sentinel data list todos --cursor --limit 1000 --json    {records, cursor, more}`,
    )
    .action(async (collection: string, _options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const output = openOutput(options);
      const chosen = chosenBy(collection, options);
      const by = await speakerHere(undefined, output);
      await withClient(output, async (client) => {
        const asked = { ...chosen, limit: options.limit };
        const page =
          options.cursor === undefined ? null : await pageOf(client, { ...asked, cursor: options.cursor }, by);
        const found = page?.records ?? (await performCommand<Shown[]>(client, 'data/list', asked, { by }));
        output.object(page ?? found);
        for (const { id, collection: _collection, createdAt: _createdAt, recordVersion: _version, ...data } of found)
          output.line(`${output.paint.strong(id)}  ${oneLine(previewOf(data))}`);
        if (found.length === 0)
          output.note(
            `sentinel: the collection "${collection}" has no ${options.filter === undefined ? 'records' : 'such record'}.`,
          );
        if (page?.more === true) output.note(`sentinel: there are more: --cursor ${page.cursor}`);
      });
    });
}

const pageOf = (
  client: OpenClient,
  asked: Chosen & { limit: number; cursor: string | true },
  by: string,
): Promise<Page> =>
  performCommand<Page>(client, 'data/list', { ...asked, cursor: asked.cursor === true ? null : asked.cursor }, { by });

function defineRead(command: Command): void {
  withFilter(
    command.description(
      'Shows the record with an id, or the first one that matches a filter. Exit code 4 if there is none.',
    ),
  )
    .argument('<collection>', 'the name of the collection')
    .argument('[id]', 'the id of the record, unless --filter is given')
    .addHelpText(
      'after',
      `
Examples:
  sentinel data read todos T-17
  sentinel data read todos --filter '{"title": "Ship it"}' --json`,
    )
    .action(async (collection: string, id: string | undefined, _options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const output = openOutput(options);
      const chosen = someOf(chosenBy(collection, options, id));
      const by = await speakerHere(undefined, output);
      await withClient(output, async (client) => {
        const found = await performCommand<Shown | null>(client, 'data/read', chosen, { by });
        if (found === null) throw noSuchRecord(collection);
        output.object(found);
        output.text(JSON.stringify(found, null, 2));
      });
    });
}

function defineDelete(command: Command): void {
  withFilter(
    command.description(
      'Deletes the record with an id, or all records that match a filter. Exit code 4 if no record has the id.',
    ),
  )
    .argument('<collection>', 'the name of the collection')
    .argument('[id]', 'the id of the record, unless --filter is given')
    .addHelpText(
      'after',
      `
Examples:
  sentinel data delete todos T-17
  sentinel data delete todos --filter '{"done": true}' --json    {ok, collection, deleted}`,
    )
    .action(async (collection: string, id: string | undefined, _options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const output = openOutput(options);
      const chosen = someOf(chosenBy(collection, options, id));
      const by = await speakerHere(undefined, output);
      await withClient(output, async (client) => {
        const { deleted } = await performCommand<{ deleted: number }>(client, 'data/delete', chosen, { by });
        if (id !== undefined && deleted === 0) throw noSuchRecord(collection);
        output.object({ ok: true, collection, deleted });
        output.line(`${deleted} ${deleted === 1 ? 'record' : 'records'} deleted.`);
      });
    });
}

type Chosen = { collection: string; filter: JsonObject };

function chosenBy(collection: string, { filter }: Options, id?: string): Chosen {
  const given: Json = filter === undefined ? {} : givenJson('--filter', filter, FILTER_REMEDY);
  if (!isJsonObject(given)) throw usage(`--filter is not a JSON object; ${FILTER_REMEDY}.`);
  const [issue] = RecordFilter.safeParse(given).error?.issues ?? [];
  if (issue !== undefined) throw usage(`--filter: "${issue.path.join('.')}": ${issue.message}.`);
  return { collection, filter: { ...given, ...defined({ id }) } };
}

/** Requires an id or a filter, so that an omission never deletes a whole collection. */
function someOf(chosen: Chosen): Chosen {
  if (Object.keys(chosen.filter).length > 0) return chosen;
  throw usage(`Which record of ${chosen.collection}? Give its id, or a --filter that names a field.`);
}

const noSuchRecord = (collection: string): ClientError =>
  new ClientError('NOT_FOUND', `The collection "${collection}" has no such record.`);
