/** What a project may set of records: the indexes that its collections have. */
import * as z from 'zod';
import type { RecordIndex } from '../../prisma/store/contract/record-contract.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';

/** No operator, and none of the record's own, each of which is there without an index or could have none. */
const INDEXED = /^(?!\$|(?:id|collection|createdAt|recordVersion)$)/;

const Name = z
  .string()
  .min(1)
  .max(COMMAND_BOUNDS.indexedNameMax)
  .regex(INDEXED, 'names a field of the data: id, collection, createdAt and recordVersion need no index');

const Field = z.union([
  z.strictObject({ field: Name, direction: z.enum(['asc', 'desc']).default('asc') }),
  Name.transform((field) => ({ field, direction: 'asc' as const })),
]);

export const Settings = z.strictObject({
  indexes: z
    .array(
      z.strictObject({
        collection: z.string().min(1).max(COMMAND_BOUNDS.indexedNameMax),
        fields: z
          .array(Field)
          .min(1)
          .max(COMMAND_BOUNDS.indexedFieldsMax)
          .describe('those that filters compare first, then those of the order, with its directions'),
      }),
    )
    .max(COMMAND_BOUNDS.indexesMax)
    .default([])
    .describe('indexes of collections, which a worker of the project makes'),
});

export const indexesIn = (set: object): readonly RecordIndex[] => Settings.parse(set).indexes;
