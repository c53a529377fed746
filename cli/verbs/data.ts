/** `sentinel data list|read|delete COLLECTION`: the records that runs keep. */
import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { previewOf } from '../../language/events/preview.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { RecordFilter } from '../../language/params/record-filter.ts';
import type { DataRecord, RecordChoice } from '../../prisma/store/contract/contract.ts';
import { ClientError } from '../../client/client.ts';
import { oneLine } from '../../client/show/trace.ts';
import { openOutput } from '../output/output.ts';
import { givenJson } from '../request/given-json.ts';
import { defineGroup } from '../request/group.ts';
import { usage, wholeNumber } from '../request/usage.ts';
import { withClient } from '../request/with-client.ts';
import { withSession } from '../request/with-session.ts';

const FILTER_REMEDY = `write it in single quotes: --filter '{"name": "value"}'`;

interface Options {
  json?: boolean;
  filter?: string;
  limit: number;
}

export function define(group: Command): void {
  group.description('Shows and deletes the records that runs keep in collections (data/create).');
  defineGroup(group, {
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
    .option('--limit <n>', 'the maximum number of records', wholeNumber('--limit', { min: 1, max: 100_000 }), 100)
    .addHelpText(
      'after',
      `
Examples:
  sentinel data list todos
  sentinel data list todos --filter '{"done": false, "size": {"$gt": 3}}' --json`,
    )
    .action(async (collection: string, _options: unknown, self: Command) => {
      const options = self.optsWithGlobals<Options>();
      const output = openOutput(options);
      const chosen = chosenBy(collection, options);
      await withClient(output, async (client) => {
        const found = await withSession(client, (session, { records }) =>
          records.list(session, { ...chosen, limit: options.limit }),
        );
        output.object(found.map(view));
        for (const { id, data } of found) output.line(`${output.paint.strong(id)}  ${oneLine(previewOf(data))}`);
        if (found.length === 0)
          output.note(
            `sentinel: the collection "${collection}" has no ${options.filter === undefined ? 'records' : 'such record'}.`,
          );
      });
    });
}

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
      await withClient(output, async (client) => {
        const [found] = await withSession(client, (session, { records }) =>
          records.list(session, { ...chosen, limit: 1 }),
        );
        if (found === undefined) throw noSuchRecord(collection);
        output.object(view(found));
        output.text(JSON.stringify(view(found), null, 2));
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
      await withClient(output, async (client) => {
        const deleted = await withSession(client, async (session, { records }) => {
          const count = await records.delete(session, chosen);
          await session.commit({ handle: '@data', key: randomUUID(), result: count, events: [] });
          return count;
        });
        if (id !== undefined && deleted === 0) throw noSuchRecord(collection);
        output.object({ ok: true, collection, deleted });
        output.line(`${deleted} ${deleted === 1 ? 'record' : 'records'} deleted.`);
      });
    });
}

function chosenBy(collection: string, { filter }: Options, id?: string): RecordChoice {
  const given: Json = filter === undefined ? {} : givenJson('--filter', filter, FILTER_REMEDY);
  if (!isJsonObject(given)) throw usage(`--filter is not a JSON object; ${FILTER_REMEDY}.`);
  const [issue] = RecordFilter.safeParse(given).error?.issues ?? [];
  if (issue !== undefined) throw usage(`--filter: "${issue.path.join('.')}": ${issue.message}.`);
  return { collection, filter: { ...given, ...(id === undefined ? {} : { id }) } };
}

/** Requires an id or a filter, so that an omission never deletes a whole collection. */
function someOf(chosen: RecordChoice): RecordChoice {
  if (Object.keys(chosen.filter ?? {}).length > 0) return chosen;
  throw usage(`Which record of ${chosen.collection}? Give its id, or a --filter that names a field.`);
}

const noSuchRecord = (collection: string): ClientError =>
  new ClientError('NOT_FOUND', `The collection "${collection}" has no such record.`);

const view = ({ id, collection, createdAt, data }: DataRecord): JsonObject => ({ id, collection, createdAt, ...data });
