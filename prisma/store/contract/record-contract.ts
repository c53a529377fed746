/** Records in collections, as commands read and write them. */
import type { JsonObject } from '../../../language/json.ts';
import type { Session } from './session-contract.ts';

export interface DataRecord {
  id: string;
  collection: string;
  data: JsonObject;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** From 1; each change of the record counts. */
  version: number;
}

/** Records of a collection. */
export interface RecordChoice {
  collection: string;
  /**
   * Field → value, or field → operators of language/params/record-filter.ts; dots descend. `$and`, `$or` and `$not`
   * combine filters. `id`, `collection`, `createdAt` and `recordVersion` name the record's own, every other field is
   * one of its `data`.
   */
  filter?: JsonObject;
}

export interface RecordOrder {
  field: string;
  direction: 'asc' | 'desc';
}

export interface RecordQuery extends RecordChoice {
  /**
   * Numbers, texts by their first 100 characters, booleans, then lists and objects; what is missing or null comes last,
   * whatever the direction. Those that are the same, and all without an order, are in the order in which they were written.
   */
  orderBy?: RecordOrder[];
  /** 1,000 unless told otherwise. */
  limit?: number;
  offset?: number;
}

/**
 * `cursor`: where the page before ended; null for the first. Without an order each record is on one page, those that are
 * written meanwhile, too; with one, each that was there before the first page and whose fields of the order stay as
 * they are.
 */
export type RecordPageQuery = Omit<RecordQuery, 'offset'> & { cursor: string | null };

export interface RecordPage {
  records: DataRecord[];
  /** Goes on behind this page, also later. */
  cursor: string;
  /** Whether there is another page now. */
  more: boolean;
}

/** It is none of this query. */
export class CursorRefused extends Error {
  override readonly name = 'CursorRefused';
}

/** An index that a project wants, of the fields by which one collection is filtered and ordered. */
export interface RecordIndex {
  collection: string;
  fields: readonly RecordOrder[];
}

export interface IndexState extends RecordIndex {
  name: string;
  /** `building`: some process is at it. `broken`: it was not finished; whoever makes indexes next makes it again. */
  state: 'ready' | 'building' | 'broken' | 'missing';
}

export interface MadeIndex extends RecordIndex {
  name: string;
  /** Why it could not be made; null where it was. */
  failure: string | null;
}

export interface Records {
  /** A record with this id; where there is one, that. */
  create(session: Session, collection: string, id: string, data: JsonObject): Promise<DataRecord>;
  /** A record under an id that nobody else can have: nothing needs to be asked, so it goes out with the session's next statement. */
  add(session: Session, record: Omit<DataRecord, 'version'>): void;
  list(session: Session, query: RecordQuery): Promise<DataRecord[]>;
  /** Throws `CursorRefused`. */
  page(session: Session, query: RecordPageQuery): Promise<RecordPage>;
  /** Puts fields into the records that fit, of this version where one is given; the records as they are then. */
  update(session: Session, chosen: RecordChoice, fields: JsonObject, version?: number): Promise<DataRecord[]>;
  /** How many there were. */
  delete(session: Session, chosen: RecordChoice, version?: number): Promise<number>;
  /** Makes those that are missing, while records are read and written; what it made. Nothing where another process is at it. */
  makeIndexes(indexes: readonly RecordIndex[]): Promise<MadeIndex[]>;
  indexStates(indexes: readonly RecordIndex[]): Promise<IndexState[]>;
}
