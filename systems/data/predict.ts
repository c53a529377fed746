/** What commands of records would give: records are kept for as long as a simulation lasts. */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import { type Predicted, type SimulatedWorld, simulatedText } from '../../operations/predicted.ts';

const collectionOf = ({ collection }: JsonObject): string => simulatedText(collection);
const assumed = (text: string, result: Json): Predicted => ({ text, source: 'assumed', result });
const fieldsOf = ({ data }: JsonObject): JsonObject => (isJsonObject(data ?? null) ? (data as JsonObject) : {});

/** Only equality is looked at: what operators would find is for `--replies` to say. */
function kept({ collection, filter, id }: JsonObject, { records }: SimulatedWorld): JsonObject[] {
  const wanted = Object.entries({
    ...(isJsonObject(filter ?? null) ? (filter as JsonObject) : {}),
    ...defined({ id }),
  }).filter(([, value]) => !isJsonObject(value));
  return records.filter(
    (record) =>
      record['collection'] === collection && wanted.every(([field, value]) => isDeepStrictEqual(record[field], value)),
  );
}

export function predictCreate(params: JsonObject, { records }: SimulatedWorld): Predicted {
  const collection = collectionOf(params);
  const id = params['id'] ?? `simulated-${records.length + 1}`;
  const record = { id, collection, createdAt: 0, ...fieldsOf(params) };
  records.push(record);
  return assumed(`creates a record in ${collection}`, record);
}

export const predictList = (params: JsonObject, world: SimulatedWorld): Predicted =>
  assumed(`lists ${collectionOf(params)} as this simulation left it`, kept(params, world));

export const predictRead = (params: JsonObject, world: SimulatedWorld): Predicted =>
  assumed(`reads ${collectionOf(params)} as this simulation left it`, kept(params, world)[0] ?? null);

export function predictUpdate(params: JsonObject, world: SimulatedWorld): Predicted {
  const found = kept(params, world);
  for (const record of found) Object.assign(record, fieldsOf(params));
  return assumed(`changes records in ${collectionOf(params)}`, found);
}

export function predictDelete(params: JsonObject, world: SimulatedWorld): Predicted {
  const { records } = world;
  const found = new Set(kept(params, world));
  records.splice(0, records.length, ...records.filter((record) => !found.has(record)));
  return assumed(`deletes records in ${collectionOf(params)}`, { deleted: found.size });
}
