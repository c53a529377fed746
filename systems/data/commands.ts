/**
 * Records in collections. A record reads as its own fields plus `id`, `collection` and `createdAt`, which no
 * data of it may hide: an `id` among its fields is its id, and the other two are refused. Everything goes through the step's session, so that a
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
import type { DataRecord, RecordChoice, RecordQuery } from '../../prisma/store/contract/contract.ts';
import { changedAction, refuseChanged, shownOf } from '../../operations/approved-action.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type CommandContext, defineCommand } from '../../operations/command.ts';
import { predictCreate, predictDelete, predictList, predictRead, predictUpdate } from './predict.ts';

/** What the store says of each record. */
const OWN_FIELDS = ['collection', 'createdAt'] as const;

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
const OrderBy = z.strictObject({ field: z.string().min(1), direction: z.enum(['asc', 'desc']).default('asc') });
const Count = z.number().int().nonnegative();

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
const ListParams = z.strictObject({
  collection: Collection,
  filter: RecordFilter.optional(),
  orderBy: z.union([z.array(OrderBy), OrderBy.transform((one) => [one])]).optional(),
  limit: Count.max(COMMAND_BOUNDS.rowsMax).optional(),
  offset: Count.optional(),
});
const ReadParams = z.strictObject({ collection: Collection, filter: RecordFilter.optional(), id: Id.optional() });

const CHOICE = 'give an "id", or a "filter" that names a field';
const isChoice = ({ id, filter }: { id?: string | undefined; filter?: JsonObject | undefined }): boolean =>
  id !== undefined || Object.keys(filter ?? {}).length > 0;

const UpdateParams = ReadParams.extend({
  data: Fields.refine((fields) => !Object.hasOwn(fields, 'id'), 'the id of a record cannot be changed'),
}).refine(isChoice, CHOICE);
const DeleteParams = ReadParams.refine(isChoice, CHOICE);

/** The fields were checked when they came in; walking them again would cost more than the query. */
const Row = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value));

const view = ({ id, collection, createdAt, data }: DataRecord): JsonObject => ({ id, collection, createdAt, ...data });

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
  // A list of records puts one level around each.
  const fault = valueFault(data, '"data" of the record', { around: 1 });
  if (fault !== null) throw new Failure(fault.code, fault.message);
  const own = Id.safeParse(data['id']);
  const chosen = id ?? (own.success ? own.data : undefined);
  if (chosen === undefined) {
    const added: DataRecord = { collection, id: idOf(context.run.handle, context.key), data, createdAt: context.now() };
    context.store.records.add(context.session, added);
    return view(added);
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

async function list(params: z.infer<typeof ListParams>, context: CommandContext): Promise<JsonObject[]> {
  const { collection, filter, orderBy, limit, offset } = params;
  const query: RecordQuery = {
    collection,
    limit: limit ?? COMMAND_BOUNDS.rowsMax,
    ...(filter === undefined ? {} : { filter: withTextId(filter) }),
    ...defined({ orderBy, offset }),
  };
  return (await context.store.records.list(context.session, query)).map(view);
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
  await refuseChanged(context, () => shownRecords(params, context), changedAction('data/update'));
  const chosen = chosenBy(params);
  const { data } = params;
  // Looked at first: what was written by a step that fails stays in its segment.
  for (const record of await context.store.records.list(context.session, {
    ...chosen,
    limit: COMMAND_BOUNDS.rowsMax,
  })) {
    const fault = valueFault({ ...record.data, ...data }, `record "${record.id}" with "data"`, { around: 1 });
    if (fault !== null) throw new Failure(fault.code, fault.message);
  }
  return (await context.store.records.update(context.session, chosen, data)).map(view);
}

async function remove(params: z.infer<typeof DeleteParams>, context: CommandContext): Promise<{ deleted: number }> {
  await refuseChanged(context, () => shownRecords(params, context), changedAction('data/delete'));
  return { deleted: await context.store.records.delete(context.session, chosenBy(params)) };
}

async function read(params: z.infer<typeof ReadParams>, context: CommandContext): Promise<JsonObject | null> {
  // Not a spread of `chosenBy`: V8 keeps such objects in its old generation, 250 bytes for each read of a long loop.
  const wanted = { collection: params.collection, filter: wantedBy(params), limit: 1 };
  const [found] = await context.store.records.list(context.session, wanted);
  return found === undefined ? null : view(found);
}

export const dataCommands: Command[] = [
  defineCommand({
    name: 'data/create',
    description: 'Creates a record in a collection.',
    permission: 'write',
    speed: 'quick',
    failures: {
      RECORD_EXISTS: { title: 'Another record has that id', retryable: false },
    },
    params: CreateParams,
    result: Row,
    run: create,
    predict: predictCreate,
  }),
  defineCommand({
    name: 'data/list',
    description: 'Lists the records of a collection that a filter fits.',
    permission: 'read',
    speed: 'quick',
    params: ListParams,
    result: z.array(Row),
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
    params: DeleteParams,
    needs: [['id'], ['filter']],
    result: z.strictObject({ deleted: z.number() }),
    run: remove,
    predict: predictDelete,
    resolves: true,
    resolve: shownRecords,
  }),
];
