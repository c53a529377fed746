/**
 * Records in collections. A record reads as its own fields plus `id`, `collection`, `createdAt` and `recordVersion`,
 * which no data of it may hide: an `id` among its fields is its id, and the others are refused. Everything goes through the step's session, so that a
 * record and the journal row of its step are committed together.
 */
import { hash, randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { valueFault, type Json, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { RecordFilter } from '../../language/params/record-filter.ts';
import { defined } from '../../language/defined.ts';
import { Failure } from '../../world/failures/failures.ts';
import {
  CursorRefused,
  type DataRecord,
  type RecordChoice,
  type RecordOrder,
  type RecordPageQuery,
  type RecordQuery,
} from '../../prisma/store/contract/record-contract.ts';
import { changedAction, refuseChanged, shownOf } from '../../operations/approved-action.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { nearest, refuseWrite, seenBy } from './sentinels.ts';
import { predictCreate, predictDelete, predictList, predictRead, predictUpdate } from './predict.ts';

/** What the store says of each record. */
const OWN_FIELDS = ['collection', 'createdAt', 'recordVersion'] as const;

const Collection = z.string().min(1).max(200);
const Id = z.union([z.string().min(1).max(200), z.number()]).transform(String);
const Fields = z.record(z.string(), Value).superRefine((fields, problems) => {
  for (const name of OWN_FIELDS)
    if (Object.hasOwn(fields, name))
      problems.addIssue({
        code: 'custom',
        path: [name],
        message: `each record has a "${name}" of its own; give the field another name`,
      });
});
const OrderBy = z.strictObject({
  field: z.string().regex(/^[^$]/, 'is the name of a field, and no field of an order begins with $'),
  direction: z.enum(['asc', 'desc']).default('asc'),
});
const ORDER = `needs a list of 1 to ${COMMAND_BOUNDS.ordersMax} fields, such as [{"field": "size", "direction": "desc"}]; a direction is asc or desc, and no field begins with $`;
const Count = z.number().int().nonnegative();
const Version = z.number().int().positive().optional();

const CreateParams = z
  .strictObject({ collection: Collection, data: Fields, id: Id.optional() })
  .superRefine(({ data, id }, problems) => {
    if (!Object.hasOwn(data, 'id')) return;
    const own = Id.safeParse(data['id']);
    const message = !own.success
      ? 'the "id" of a record is a text of 1 to 200 characters, or a number'
      : id !== undefined && own.data !== id
        ? `the record has the id "${id}"; leave this one out, or give the field another name`
        : null;
    if (message !== null) problems.addIssue({ code: 'custom', path: ['data', 'id'], message });
  });
const ListParams = z
  .strictObject({
    collection: Collection,
    filter: RecordFilter.optional(),
    orderBy: z
      .union([z.array(OrderBy).max(COMMAND_BOUNDS.ordersMax), OrderBy.transform((one) => [one])], ORDER)
      .optional(),
    limit: Count.max(COMMAND_BOUNDS.rowsMax).optional(),
    offset: Count.optional(),
    cursor: z
      .string()
      .nullable()
      .optional()
      .describe('null for the first page, "cursor" of the page before for another; the result is a page then'),
  })
  .refine(
    ({ cursor, offset }) => cursor === undefined || offset === undefined,
    'a page goes on where the one before ended: leave out "offset"',
  );
const ReadParams = z.strictObject({ collection: Collection, filter: RecordFilter.optional(), id: Id.optional() });

const CHOICE = 'give an "id", or a "filter" that names a field';
const isChoice = ({ id, filter }: { id?: string | undefined; filter?: JsonObject | undefined }): boolean =>
  id !== undefined || Object.keys(filter ?? {}).length > 0;

const VERSIONED = ReadParams.extend({
  recordVersion: Version.describe('"recordVersion" of the record as it was read; fails where it was changed since'),
});
const ONE = 'a version is that of one record: give its "id"';
const isOfOne = ({ id, recordVersion }: { id?: string | undefined; recordVersion?: number | undefined }): boolean =>
  recordVersion === undefined || id !== undefined;

const UpdateParams = VERSIONED.extend({
  data: Fields.refine((fields) => !Object.hasOwn(fields, 'id'), 'the id of a record cannot be changed'),
})
  .refine(isChoice, CHOICE)
  .refine(isOfOne, ONE);
const DeleteParams = VERSIONED.refine(isChoice, CHOICE).refine(isOfOne, ONE);

/** The fields were checked when they came in; walking them again would cost more than the query. */
const Row = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

const Page = z.strictObject({ records: z.array(Row), cursor: z.string(), more: z.boolean() });

const view = ({ id, collection, createdAt, version, data }: DataRecord): JsonObject => ({
  id,
  collection,
  createdAt,
  recordVersion: version,
  ...data,
});

/** Nobody can work out the id of a record that is still to be written, and take it first: that write would be lost. */
const ID_KEY = randomBytes(32).toString('hex');

/** The same within a session, however often it performs the step; nothing of a session without a commit is kept. */
function idOf(handle: string, key: string): string {
  // Half of the digest, from which no other can be worked out.
  return hash('sha256', `${ID_KEY}:${handle}:${key}`).slice(0, 32);
}

async function create(
  { collection, data, id }: z.infer<typeof CreateParams>,
  context: CommandContext,
): Promise<JsonObject> {
  refuseWrite('data/create', collection);
  // A list of records puts one level around each.
  const fault = valueFault(data, '"data" of the record', { around: 1 });
  if (fault !== null) throw new Failure(fault.code, fault.message);
  const own = Id.safeParse(data['id']);
  const chosen = id ?? (own.success ? own.data : undefined);
  if (chosen === undefined) {
    const added = { collection, id: idOf(context.run.handle, context.key), data, createdAt: context.now() };
    context.store.records.add(context.session, added);
    return view({ ...added, version: 1 });
  }
  const record = await context.store.records.create(context.session, collection, chosen, data);
  // The store keeps what it has, and that may be another record.
  if (isDeepStrictEqual(record.data, data)) return view(record);
  throw new Failure(
    'RECORD_EXISTS',
    `collection "${collection}" has a record "${chosen}" with other data; choose another id or leave it out`,
  );
}

/** Ids are text, whatever the definition wrote. */
function withTextId(filter: JsonObject): JsonObject {
  return typeof filter['id'] === 'number' ? { ...filter, id: String(filter['id']) } : filter;
}

type ListQuery = z.infer<typeof ListParams>;

async function list(params: ListQuery, context: CommandContext): Promise<JsonObject[] | z.infer<typeof Page>> {
  const { collection, orderBy, limit, offset, cursor } = params;
  const filter = seenBy(context, collection, params.filter);
  const query: RecordQuery & { orderBy?: RecordOrder[] } = {
    collection,
    ...(filter === undefined ? {} : { filter: withTextId(filter) }),
    ...defined({ orderBy }),
  };
  if (cursor !== undefined) {
    const size = limit ?? COMMAND_BOUNDS.pageRows;
    // A reference that is not there yet is an empty text within another.
    return page({ ...query, limit: size, cursor: cursor === '' ? null : cursor }, context);
  }
  const asked = { ...query, limit: limit ?? COMMAND_BOUNDS.rowsMax, ...defined({ offset }) };
  return (await context.store.records.list(context.session, asked)).map(view);
}

async function page(query: RecordPageQuery, { store, session }: CommandContext): Promise<z.infer<typeof Page>> {
  try {
    const { records, cursor, more } = await store.records.page(session, query);
    return { records: records.map(view), cursor, more };
  } catch (error) {
    if (!(error instanceof CursorRefused)) throw error;
    throw new Failure(
      'CURSOR_INVALID',
      `data/list: "cursor" cannot be used: ${error.message}; begin with null, and hand over the "cursor" of each page with the same collection, filter and orderBy`,
    );
  }
}

const chosenBy = (params: z.infer<typeof ReadParams>): RecordChoice => ({
  collection: params.collection,
  filter: wantedBy(params),
});

const wantedBy = ({ filter, id }: z.infer<typeof ReadParams>): JsonObject => ({
  ...withTextId(filter ?? {}),
  ...defined({ id }),
});

const shownRecordsMax = 20;

/** The records that an id or a filter names, for the question about what is to happen to them. */
async function shownRecords(params: z.infer<typeof ReadParams>, { store, session }: CommandContext): Promise<Json> {
  const found = await store.records.list(session, { ...chosenBy(params), limit: COMMAND_BOUNDS.rowsMax });
  const isWhole = found.length < COMMAND_BOUNDS.rowsMax;
  return {
    records: isWhole ? found.length : `${found.length} and more`,
    first: shownOf(found.map(view), shownRecordsMax),
  };
}

async function update(params: z.infer<typeof UpdateParams>, context: CommandContext): Promise<JsonObject[]> {
  refuseWrite('data/update', params.collection);
  await refuseChanged(context, () => shownRecords(params, context), changedAction('data/update'));
  const chosen = chosenBy(params);
  const { data, recordVersion } = params;
  // Looked at first: what was written by a step that fails stays in its segment.
  for (const record of await context.store.records.list(context.session, {
    ...chosen,
    limit: COMMAND_BOUNDS.rowsMax,
  })) {
    const fault = valueFault({ ...record.data, ...data }, `record "${record.id}" with "data"`, { around: 1 });
    if (fault !== null) throw new Failure(fault.code, fault.message);
  }
  const changed = await context.store.records.update(context.session, chosen, data, recordVersion);
  if (changed.length === 0) await refuseOther('data/update', params, context);
  return changed.map(view);
}

async function remove(params: z.infer<typeof DeleteParams>, context: CommandContext): Promise<{ deleted: number }> {
  refuseWrite('data/delete', params.collection);
  await refuseChanged(context, () => shownRecords(params, context), changedAction('data/delete'));
  const deleted = await context.store.records.delete(context.session, chosenBy(params), params.recordVersion);
  if (deleted === 0) await refuseOther('data/delete', params, context);
  return { deleted };
}

/** Of a version that was read: what is there now is another, or nothing is. */
async function refuseOther(
  command: string,
  { collection, id, recordVersion }: z.infer<typeof DeleteParams>,
  { store, session }: CommandContext,
): Promise<void> {
  if (recordVersion === undefined || id === undefined) return;
  const [found] = await store.records.list(session, { collection, filter: { id }, limit: 1 });
  const now = found === undefined ? 'is no longer there' : `has version ${found.version} now, or does not fit "filter"`;
  throw new Failure(
    'RECORD_CHANGED',
    `${command}: record "${id}" of collection "${collection}" was to have version ${recordVersion}, and ${now}; nothing was changed: read it again, and decide by what it holds`,
    { details: { collection, id, recordVersion, now: found?.version ?? null } },
  );
}

async function read(params: z.infer<typeof ReadParams>, context: CommandContext): Promise<JsonObject | null> {
  // Not a spread of `chosenBy`: V8 keeps such objects in its old generation, 250 bytes for each read of a long loop.
  const { collection, id } = params;
  const filter = await nearest({ collection, filter: wantedBy(params), id }, context);
  const wanted = { collection, filter: seenBy(context, collection, filter) ?? filter, limit: 1 };
  const [found] = await context.store.records.list(context.session, wanted);
  return found === undefined ? null : view(found);
}

const readOnly = { COLLECTION_READ_ONLY: { title: 'A collection is only read', retryable: false } };
const changedRecord = { title: 'A record was changed after it had been read', retryable: false };

export const dataCommands: Command[] = [
  defineCommand({
    name: 'data/create',
    description: 'Creates a record in a collection.',
    permission: 'write',
    speed: 'quick',
    failures: {
      ...readOnly,
      RECORD_EXISTS: { title: 'Another record has that id', retryable: false },
    },
    params: CreateParams,
    result: Row,
    run: create,
    predict: predictCreate,
  }),
  defineCommand({
    name: 'data/list',
    description: 'Lists the records of a collection that a filter fits, whole or page by page.',
    permission: 'read',
    speed: 'quick',
    failures: {
      CURSOR_INVALID: { title: 'A cursor is of another list', retryable: false },
    },
    params: ListParams,
    result: z.union([z.array(Row), Page]),
    run: list,
    predict: predictList,
  }),
  defineCommand({
    name: 'data/read',
    description: 'Reads one record of a collection by its id.',
    permission: 'read',
    speed: 'quick',
    params: ReadParams,
    result: Row.nullable(),
    run: read,
    predict: predictRead,
  }),
  defineCommand({
    name: 'data/update',
    description: 'Puts fields into the records of a collection that an id or a filter names.',
    permission: 'write',
    speed: 'quick',
    failures: { ...readOnly, RECORD_CHANGED: changedRecord },
    params: UpdateParams,
    needs: [['id'], ['filter']],
    result: z.array(Row),
    run: update,
    predict: predictUpdate,
    resolves: true,
    resolve: shownRecords,
  }),
  defineCommand({
    name: 'data/delete',
    description: 'Deletes the records of a collection that an id or a filter names.',
    permission: 'delete',
    speed: 'quick',
    failures: { ...readOnly, RECORD_CHANGED: changedRecord },
    params: DeleteParams,
    needs: [['id'], ['filter']],
    result: z.strictObject({ deleted: z.number() }),
    run: remove,
    predict: predictDelete,
    resolves: true,
    resolve: shownRecords,
  }),
];
