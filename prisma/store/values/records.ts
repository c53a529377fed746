/**
 * Rows that quick commands write through their session. None of these statements can fail because
 * the row is there already: that would abort the segment's transaction.
 */
import type { JsonObject } from '../../../language/json.ts';
import type { Database } from '../connection/database.ts';
import type { DataRecord, RecordPageQuery, Records } from '../contract/record-contract.ts';
import type { BulkInsert, KeyedRead, Session } from '../contract/session-contract.ts';
import { fromJsonbString, toJsonbString } from '../connection/jsonb-text.ts';
import { jsonbText } from './record-filter.ts';
import { indexesOf, RecordIndexes } from './record-indexes.ts';
import { pageStatement, type PageRow } from './record-pages.ts';
import { COLUMNS, onlyId, recordDelete, recordQuery, recordUpdate } from './record-query.ts';

/** What a btree entry holds is bounded; past it the insert would fail inside the transaction. */
const ID_BYTES_MAX = 1_000;

interface Row {
  collection: string;
  id: string;
  data: JsonObject;
  createdAt: Date;
  version: number;
}

function toRecord(row: Row): DataRecord {
  return {
    collection: fromJsonbString(row.collection),
    id: fromJsonbString(row.id),
    data: row.data,
    createdAt: row.createdAt.getTime(),
    version: row.version,
  };
}

function checkKey(collection: string, id: string): void {
  for (const [name, value] of [
    ['collection', collection],
    ['id', id],
  ] as const) {
    const bytes = Buffer.byteLength(value);
    if (bytes === 0 || bytes > ID_BYTES_MAX)
      throw new Error(`a record's ${name} has 1 to ${ID_BYTES_MAX} bytes; this one has ${bytes}`);
  }
}

const ROWS: BulkInsert = {
  text: (rows) => `insert into records (collection, id, data, created_at)
    select e.value->>0, e.value->>1, (e.value->2)::jsonb, to_timestamp((e.value->>3)::double precision / 1000)
    from json_array_elements(${rows}::json) as e
    on conflict (collection, id) do nothing`,
};

const BY_KEY: KeyedRead = {
  text: `select place::integer, ${COLUMNS} from records
    join unnest($1::text[], $2::text[]) with ordinality as asked(collection_asked, id_asked, place) on collection = collection_asked and id = id_asked`,
  within: `select array_position($2, id) as place, ${COLUMNS} from records where collection = $1 and id = any($2::text[])`,
};

function add(session: Session, { collection, id, data, createdAt }: Omit<DataRecord, 'version'>): void {
  checkKey(collection, id);
  const [place, key] = [toJsonbString(collection), toJsonbString(id)].map((text) => JSON.stringify(text));
  session.later(ROWS, `[${place},${key},${jsonbText(data)},${createdAt}]`);
}

async function create(session: Session, collection: string, id: string, data: JsonObject): Promise<DataRecord> {
  checkKey(collection, id);
  const key = [toJsonbString(collection), toJsonbString(id)];
  const [created] = await session.write<Row>(
    `insert into records (collection, id, data, created_at) values ($1, $2, $3::jsonb, clock_timestamp())
     on conflict (collection, id) do nothing returning ${COLUMNS}`,
    [...key, jsonbText(data)],
  );
  if (created !== undefined) return toRecord(created);
  const existing = await session.find<Row>(BY_KEY, key);
  if (existing === undefined)
    throw new Error(`record ${collection}/${id} was deleted while it was being created; run the step again`);
  return toRecord(existing);
}

export function recordsIn(database: Database): Records {
  const indexes = new RecordIndexes(database);
  return {
    create,
    add,
    async list(session, query) {
      const id = onlyId(query);
      if (id !== null) {
        const found = await session.find<Row>(BY_KEY, [toJsonbString(query.collection), toJsonbString(id)]);
        return found === undefined ? [] : [toRecord(found)];
      }
      const { text, values } = recordQuery(query, await indexes.of(session, query.collection));
      return (await session.read<Row>(text, values)).map(toRecord);
    },
    async page(session: Session, query: RecordPageQuery) {
      const { text, values, limit, cursorAfter } = pageStatement(query, await indexes.of(session, query.collection));
      const found = await session.read<Row & PageRow>(text, values);
      const shown = found.slice(0, limit);
      return { records: shown.map(toRecord), cursor: cursorAfter(shown.at(-1)), more: found.length > limit };
    },
    async update(session, chosen, fields, version) {
      const { text, values } = recordUpdate(chosen, fields, {
        indexed: await indexes.of(session, chosen.collection),
        version,
      });
      return (await session.write<Row>(text, values)).map(toRecord);
    },
    async delete(session, chosen, version) {
      const { text, values } = recordDelete(chosen, { indexed: await indexes.of(session, chosen.collection), version });
      return (await session.write(text, values)).length;
    },
    ...indexesOf(indexes),
  };
}
