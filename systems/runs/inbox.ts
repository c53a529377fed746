/** What personas are asked and told: seen, and what was only told marked as seen. */
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { JsonObject } from '../../language/json.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, defineCommand } from '../../operations/command.ts';

const Id = z.string().min(1);
const Item = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

export const inboxCommands: Command[] = [
  defineCommand({
    name: 'inbox/peek',
    description: 'Lists what runs ask and tell, newest first: open questions, and messages that nobody has seen.',
    permission: 'read',
    speed: 'quick',
    runParams: ['handle'],
    params: z.strictObject({
      personaId: Id.optional().describe('Only what this persona is asked and told.'),
      handle: Id.optional().describe('Only what this run and the runs nested in it ask and tell.'),
      id: Id.optional().describe('Only the items with this id.'),
      all: z.boolean().default(false).describe('Also what was answered, has expired or was seen.'),
      limit: z.number().int().positive().max(COMMAND_BOUNDS.rowsMax).optional(),
    }),
    result: z.array(Item),
    async run({ personaId: persona, handle, id, all, limit }, { store, session, confinement, run }) {
      const project = confinement?.byModel === true ? run.project : undefined;
      const query = { all, ...defined({ persona, handle, id, limit, project }) };
      return (await store.inbox.list(query, session)) as unknown as JsonObject[];
    },
  }),
  defineCommand({
    name: 'inbox/acknowledge',
    description: 'Marks messages to a persona or of a run as seen. Questions stay open.',
    permission: 'write',
    speed: 'quick',
    doors: ['step', 'person'],
    runParams: ['handle'],
    needs: [['itemId'], ['handle'], ['personaId']],
    params: z
      .strictObject({
        itemId: Id.optional().describe('"id" of an item; of several runs without "handle".'),
        handle: Id.optional(),
        personaId: Id.optional(),
      })
      .refine(
        ({ itemId, handle, personaId }) => (itemId ?? handle ?? personaId) !== undefined,
        'must hold one of: itemId, handle, personaId',
      ),
    result: z.strictObject({ seen: z.number() }),
    run: async ({ itemId: id, handle, personaId: persona }, { store, session }) => ({
      seen: await store.inbox.clear(defined({ id, handle, persona }), session),
    }),
  }),
];
