/** What personas are asked, told and given to do. */
import * as z from 'zod';
import { defineSystem } from '../../operations/system.ts';
import { inboxCommands } from './commands.ts';
import { KINDS, PRIORITIES } from './items.ts';
import { tables } from './tables.ts';

const kind = z.enum(KINDS);

export const inbox = defineSystem({
  name: 'inbox',
  summary: 'what personas are asked, told and given to do',
  commands: inboxCommands,
  tables,
  events: {
    'inbox:*:posted': z.strictObject({
      itemId: z.string(),
      kind,
      domain: z.string().nullable(),
      priority: z.enum(PRIORITIES),
    }),
    'inbox:*:answered': z.strictObject({
      itemId: z.string(),
      kind,
      state: z.enum(['done', 'dropped']),
      by: z.string(),
    }),
  },
});
