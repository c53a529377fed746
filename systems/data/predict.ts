/** What commands of records would give: records are kept for as long as a simulation lasts. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { RecordFilter } from '../../language/params/record-filter.ts';
import { type Predicted, type SimulatedWorld, simulatedText } from '../../operations/predicted.ts';
import { matches } from './matches.ts';

const collectionOf = ({ collection }: JsonObject): string => simulatedText(collection);
const assumed = (text: string, result: Json): Predicted => ({ text, source: 'assumed', result });
const fieldsOf = ({ data }: JsonObject): JsonObject => (isJsonObject(data ?? null) ? (data as JsonObject) : {});

function kept({ collection, filter, id }: JsonObject, { records }: SimulatedWorld): JsonObject[] {
  const read = RecordFilter.safeParse({
    ...(isJsonObject(filter) ? filter : {}),
    ...defined({ id }),
  });
  // What is no filter finds nothing here, and is refused by the command.
  const wanted = read.success ? read.data : null;
  return records.filter((record) => wanted !== null && record['collection'] === collection && matches(record, wanted));
}

export function predictCreate(params: JsonObject, { records }: SimulatedWorld): Predicted {
  const collection = collectionOf(params);
  const id = params['id'] ?? `simulated-${records.length + 1}`;
  const record = { id, collection, createdAt: 0, recordVersion: 1, ...fieldsOf(params) };
  records.push(record);
  return assumed(`creates a record in ${collection}`, record);
}

/** One page has all of it. */
export function predictList(params: JsonObject, world: SimulatedWorld): Predicted {
  const records = kept(params, world);
  const isPage = params['cursor'] !== undefined;
  const result = isPage ? { records, cursor: 'simulated', more: false } : records;
  return assumed(`lists ${collectionOf(params)} as this simulation left it`, result);
}

export const predictRead = (params: JsonObject, world: SimulatedWorld): Predicted =>
  assumed(`reads ${collectionOf(params)} as this simulation left it`, kept(params, world)[0] ?? null);

export function predictUpdate(params: JsonObject, world: SimulatedWorld): Predicted {
  const found = kept(params, world);
  for (const record of found)
    Object.assign(record, fieldsOf(params), { recordVersion: Number(record['recordVersion']) + 1 });
  return assumed(`changes records in ${collectionOf(params)}`, found);
}

export function predictDelete(params: JsonObject, world: SimulatedWorld): Predicted {
  const { records } = world;
  const found = new Set(kept(params, world));
  records.splice(0, records.length, ...records.filter((record) => !found.has(record)));
  return assumed(`deletes records in ${collectionOf(params)}`, { deleted: found.size });
}
