/**
 * What personas are asked, told and given to do: questions and messages of runs, and items that somebody posts. Both are
 * one list, in one shape, and each has an `itemId`: of what a run asks or tells, its handle, "/" and the id there.
 */
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import { type Command, type Context, defineCommand, shortMark } from '../../operations/command.ts';
import { simulatedText } from '../../operations/predicted.ts';
import { Failure } from '../../world/failures/failures.ts';
import { ofRuns, shownItem } from './shown.ts';
import { acknowledge, close, find, items, KINDS, post, PRIORITIES, take, type Item, type Taker } from './items.ts';

const HOUR_MS = 3_600_000;
const messageMax = 1_000;
const showBytesMax = 256 * 1024;
const peekedDefault = 10;

const Id = z.string().min(1);
const Persona = z.string().refine(isPersonaId, `must be the id of a persona: ${personaRule}`);
const Domain = z.string().min(1).max(100);
const Shown = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);
const Limit = z.number().int().positive().max(COMMAND_BOUNDS.rowsMax);
const Show = Value.refine(
  (value) => JSON.stringify(value).length <= showBytesMax,
  `has at most ${showBytesMax} characters as JSON; put more into a record or a file, and name that`,
);

const FAILURES = {
  ITEM_UNKNOWN: { title: 'The inbox has no such item', retryable: false },
  ITEM_NOT_YOURS: { title: 'Another has the item, or it is closed', retryable: false },
} as const;

const takerOf = ({ caller, run }: Context): Taker =>
  caller.kind === 'step' ? { name: run.persona, handle: run.handle } : { name: caller.name, handle: null };

const rank = ({ priority }: { priority: string }): number => -PRIORITIES.findIndex((one) => one === priority);

/** The newest first, or what presses most. */
async function both(
  context: Context,
  {
    among = [],
    ...wanted
  }: {
    persona?: string;
    /** What runs ask these is shown, too. */
    among?: readonly string[];
    handle?: string;
    id?: string;
    domain?: string;
    kind?: (typeof KINDS)[number];
  },
  { order, limit }: { order: 'next' | 'newest' | 'all'; limit: number },
): Promise<JsonObject[]> {
  const posted = (await items(context, wanted, { order, limit })).map(shownItem);
  // What runs ask and tell has no domain, and is none of the kinds that are posted.
  const persona = wanted.persona === undefined ? undefined : [wanted.persona, ...among];
  const asked =
    wanted.domain === undefined && wanted.kind === undefined
      ? await ofRuns(context, { ...wanted, persona }, { order, limit })
      : [];
  return [...posted, ...asked]
    .toSorted((a, b) => (order === 'next' ? rank(a) - rank(b) || a.askedAt - b.askedAt : b.askedAt - a.askedAt))
    .slice(0, limit) as unknown as JsonObject[];
}

const ofWhom = {
  personaId: Id.optional().describe('Only what this persona is asked, told and given to do.'),
  handle: Id.optional().describe('Only what this run and the runs nested in it ask, tell and post.'),
};
const ofWhat = {
  domain: Domain.optional().describe('Only posted items of this domain.'),
  kind: z.enum(KINDS).optional().describe('Only posted items of this kind.'),
};

const looking: Command[] = [
  defineCommand({
    name: 'inbox/peek',
    description:
      'Shows what waits for a persona, without taking it: the most pressing first, of these the oldest. What another has taken is not shown.',
    permission: 'read',
    speed: 'quick',
    runParams: ['handle'],
    params: z.strictObject({
      ...ofWhom,
      ...ofWhat,
      limit: Limit.default(peekedDefault),
    }),
    result: z.array(Shown),
    run: ({ personaId: persona, handle, domain, kind, limit }, context) =>
      both(context, defined({ persona, handle, domain, kind }), { order: 'next', limit }),
  }),
  defineCommand({
    name: 'inbox/list',
    description: 'Lists what personas are asked, told and given to do, newest first.',
    permission: 'read',
    speed: 'quick',
    runParams: ['handle'],
    params: z.strictObject({
      ...ofWhom,
      among: z.array(Id).default([]).describe('With `personaId`: also what runs ask these, for whom it answers.'),
      id: Id.optional().describe('Only items with this id.'),
      ...ofWhat,
      all: z.boolean().default(false).describe('Also what was answered, closed or seen, or has expired.'),
      limit: Limit.default(1_000),
    }),
    result: z.array(Shown),
    run: ({ personaId: persona, all, limit, ...wanted }, context) =>
      both(context, defined({ persona, ...wanted }), { order: all ? 'all' : 'newest', limit }),
  }),
];

const posting: Command[] = [
  defineCommand({
    name: 'inbox/post',
    description: 'Puts a task, a question, a notice or a completion into the inbox of a persona.',
    permission: 'write',
    speed: 'quick',
    textField: 'itemId',
    textParams: ['message'],
    doors: ['step', 'model', 'person', 'follower', 'background'],
    params: z.strictObject({
      personaId: Persona.describe('For whom it is.'),
      message: z.string().trim().min(1).max(messageMax).describe('What is to be done, answered or known.'),
      show: Show.optional().describe('What belongs to it, as data.'),
      kind: z.enum(KINDS).default('task'),
      domain: Domain.optional(),
      priority: z.enum(PRIORITIES).default('normal'),
    }),
    result: z.strictObject({ itemId: z.string(), personaId: z.string(), event: z.string() }),
    async run({ personaId: persona, message, show = null, kind, domain = null, priority }, context) {
      const id = `item-${shortMark(context)}`;
      const event = `inbox:${persona}:posted`;
      if (await post(context, { id, persona, kind, message, show, domain, priority }))
        await context.tx.publish(event, { itemId: id, kind, domain, priority });
      return { itemId: id, personaId: persona, event };
    },
    predict: ({ personaId }) => {
      const persona = simulatedText(personaId);
      const result = { itemId: 'item-simulated', personaId: persona, event: `inbox:${persona}:posted` };
      return { text: `posts an item for ${persona}`, source: 'assumed', result };
    },
  }),
  defineCommand({
    name: 'inbox/take',
    description:
      'Takes the item that presses most, so that nobody else has it while the run is under way; null if none is free.',
    permission: 'write',
    speed: 'quick',
    doors: ['step', 'person'],
    params: z.strictObject({
      personaId: Persona.optional().describe('For whom it is; the persona of the run, or who calls.'),
      itemId: Id.optional().describe('This item; the run that has it keeps it for longer.'),
      domain: Domain.optional(),
      kind: z.enum(KINDS).optional(),
      forMs: z
        .number()
        .int()
        .min(1_000)
        .max(30 * 24 * HOUR_MS)
        .default(HOUR_MS)
        .describe('After that time it is free again; it is when the run ends, too.'),
    }),
    result: z.union([Shown, z.null()]),
    async run({ personaId, itemId: id, domain, kind, forMs }, context) {
      const taker = takerOf(context);
      const persona = personaId ?? taker.name;
      await refuseStranger(persona, taker, context);
      const wanted = defined({ persona, id, domain, kind });
      const taken = await take(context, wanted, { taker, forMs });
      return taken === null ? null : (shownItem(taken) as unknown as JsonObject);
    },
  }),
  defineCommand({
    name: 'inbox/answer',
    description: 'Closes an item that was taken, with an answer or without.',
    permission: 'write',
    speed: 'quick',
    doors: ['step', 'person'],
    failures: FAILURES,
    textParams: ['note'],
    params: z.strictObject({
      itemId: Id,
      data: Value.optional(),
      note: z.string().min(1).max(10_000).optional(),
      drops: z.boolean().default(false).describe('Nothing is done about it.'),
    }),
    result: Shown,
    async run({ itemId, data = null, note = null, drops }, context) {
      const state = drops ? 'dropped' : 'done';
      const taker = takerOf(context);
      const closed = await close(context, itemId, { taker, state, answer: { data, note } });
      if (closed === null) throw await refusal(itemId, context);
      await context.tx.publish(`inbox:${closed.persona}:answered`, {
        itemId,
        kind: closed.kind,
        state,
        by: taker.name,
      });
      return shownItem(closed) as unknown as JsonObject;
    },
  }),
];

/** What is for a persona, it deals with itself, or one that it trusts. */
async function refuseStranger(persona: string, { name }: Taker, context: Context): Promise<void> {
  if (persona === name) return;
  const shown = await context.call('persona/show', { personaId: persona });
  if (isJsonObject(shown) && Array.isArray(shown['trusts']) && shown['trusts'].includes(name)) return;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `inbox/take: what is for "${persona}" is not for "${name}", whom it does not trust; a person says so: "sentinel persona trust ${persona} ${name}"`,
  );
}

async function refusal(itemId: string, context: Context): Promise<Failure> {
  const found = await find(context, itemId);
  if (found === null) {
    const split = itemId.lastIndexOf('/');
    const remedy =
      split === -1
        ? '"inbox/list" shows the items'
        : `what a run asks is answered with sentinel/answer (handle "${itemId.slice(0, split)}", question "${itemId.slice(split + 1)}")`;
    return new Failure('ITEM_UNKNOWN', `inbox/answer: there is no item "${itemId}"; ${remedy}`);
  }
  return new Failure('ITEM_NOT_YOURS', `inbox/answer: ${standing(found)}`);
}

function standing({ id, state, closedBy, takenBy, takenHandle }: Item): string {
  if (state === 'done' || state === 'dropped') return `"${id}" was closed by ${closedBy ?? 'nobody'}`;
  if (state === 'taken')
    return `"${id}" is with ${takenBy ?? 'nobody'}${takenHandle === null ? '' : ` (run ${takenHandle})`}`;
  return `nobody has taken "${id}"; take it first, with inbox/take`;
}

const seeing = defineCommand({
  name: 'inbox/acknowledge',
  description:
    'Marks messages to a persona or of a run as seen, and closes posted items for the own persona that nobody has taken. Questions stay open.',
  permission: 'write',
  speed: 'quick',
  doors: ['step', 'person'],
  runParams: ['handle'],
  needs: [['itemId'], ['handle'], ['personaId']],
  params: z
    .strictObject({
      itemId: Id.optional().describe('"itemId" of an item, or its "id"; of several runs without "handle".'),
      handle: Id.optional(),
      personaId: Id.optional(),
    })
    .refine(
      ({ itemId, handle, personaId }) => (itemId ?? handle ?? personaId) !== undefined,
      'must hold one of: itemId, handle, personaId',
    ),
  result: z.strictObject({ seen: z.number() }),
  async run({ itemId: id, handle, personaId: persona }, context) {
    const { store, session } = context;
    const by = takerOf(context).name;
    let seen = (persona ?? by) === by ? await acknowledge(context, { by, ...defined({ id, handle }) }) : 0;
    seen += await store.inbox.clear(defined({ id, handle, persona }), session);
    // Of an `itemId` of what a run told, wherever its handle ends.
    for (const { index } of id?.matchAll(/\//g) ?? [])
      seen += await store.inbox.clear(
        defined({ id: id?.slice(index + 1), handle: id?.slice(0, index), persona }),
        session,
      );
    return { seen };
  },
});

export const inboxCommands: Command[] = [...looking, ...posting, seeing];
