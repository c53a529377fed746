/** What personas remember: stored, recalled by likeness, recency and goal, shared with those who trust, forgotten. */
import * as z from 'zod';
import { withoutTokens } from '../../language/secrets.ts';
import { isJsonObject, type Json } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { personaOfCaller } from '../../operations/caller.ts';
import { type Command, type Context, defineCommand, shortMark } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { ownMasker } from '../../world/own-keys/own-keys.ts';
import { recall } from './recall.ts';
import { forget, memories, type Origin, remember, share } from './store.ts';

const contentBytesMax = 256 * 1024;
const limitMax = 1_000;

const Persona = z.string().refine(isPersonaId, `must be the id of a persona: ${personaRule}`);
const Owner = Persona.optional().describe('Whose memories; those of the persona of the run, or of who calls.');
const Type = z.string().min(1).max(100);
const Text = z.string().min(1).max(10_000);
const Tags = z
  .array(z.string().max(200).nullable())
  .max(50)
  .transform((tags) => tags.filter((tag) => tag !== null && tag !== ''))
  .pipe(z.array(z.string()));
const Content = Value.refine(
  (value) => value !== null && JSON.stringify(value).length <= contentBytesMax,
  `is a value of at most ${contentBytesMax} characters as JSON`,
);
const Limit = z.number().int().positive().max(limitMax);
const Id = z.string().min(1).max(200);
const Filter = z.strictObject({ id: Id.optional(), type: Type.optional(), tags: Tags.optional() });

const Kept = z.strictObject({
  id: z.string(),
  type: z.string(),
  content: Value,
  tags: z.array(z.string()),
  at: z.number(),
  origin: z.strictObject({
    by: z.string(),
    handle: z.string().nullable(),
    byModel: z.boolean(),
    sharedFrom: z.string().nullable(),
  }),
});
const Found = Kept.extend({
  score: z.number(),
  parts: z.strictObject({ similarity: z.number(), recency: z.number(), goal: z.number() }),
  embedding: z.string(),
});

const originOf = ({ caller, run }: Context): Origin =>
  caller.kind === 'step'
    ? { by: run.persona, handle: run.handle, byModel: caller.byModel, project: run.project }
    : { by: caller.name, handle: null, byModel: false, project: null };

/** A run reaches the memories of another persona where that one trusts its own; a model of it never does. */
async function ownerOf(command: string, persona: string | undefined, context: Context): Promise<string> {
  const { caller, run } = context;
  if (caller.kind !== 'step') return persona ?? caller.name;
  if (persona === undefined || persona === run.persona) return run.persona;
  if (caller.byModel)
    throw new Failure('RIGHTS_EXCEEDED', `${command}: a model has to do with the memories of ${run.persona} alone`);
  if (await trusts(persona, run.persona, context)) return persona;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `${command}: "${persona}" does not trust "${run.persona}"; a person says so: "sentinel persona trust ${persona} ${run.persona}"`,
  );
}

async function trusts(persona: string, other: string, context: Context): Promise<boolean> {
  const shown = await context.call('persona/show', { personaId: persona });
  return isJsonObject(shown) && Array.isArray(shown['trusts']) && shown['trusts'].includes(other);
}

function refuseSecret(value: Json, { secrets }: Context): void {
  const text = JSON.stringify(value);
  const maskers = [secrets?.results, secrets?.logs, ownMasker()].filter((one) => one !== undefined);
  if (withoutTokens(text) === text && maskers.every((masker) => masker.text(text) === text)) return;
  throw new Failure(
    'MEMORY_SECRET',
    'memory/store: the memory holds a secret, which would be told to whoever recalls it; take it out',
  );
}

const keeping: Command[] = [
  defineCommand({
    name: 'memory/store',
    description: 'Remembers something for a persona, once for the step.',
    permission: 'write',
    speed: 'quick',
    textField: 'id',
    doors: ['step', 'model', 'person'],
    failures: { MEMORY_SECRET: { title: 'A memory holds a secret', retryable: false } },
    params: z.strictObject({
      personaId: Owner,
      type: Type.default('note'),
      content: Content.describe('What is remembered.'),
      tags: Tags.default([]),
    }),
    result: z.strictObject({ id: z.string(), personaId: z.string(), type: z.string() }),
    async run({ personaId, type, content, tags }, context) {
      const persona = await ownerOf('memory/store', personaId, context);
      refuseSecret({ type, content, tags }, context);
      const source = `step:${context.run.handle}:${shortMark(context)}`;
      const { id } = await remember(context, { persona, type, content, tags, source, origin: originOf(context) });
      return { id, personaId: persona, type };
    },
  }),
  defineCommand({
    name: 'memory/recall',
    description: 'Recalls what a persona remembers that is closest to a question, each memory with where it is from.',
    permission: 'read',
    speed: 'quick',
    doors: ['step', 'model', 'person'],
    textParams: ['query', 'goal'],
    params: z.strictObject({
      personaId: Owner,
      query: Text.describe('A question, or words.'),
      type: Type.optional().describe('Only memories of this type.'),
      goal: Text.optional().describe('What it is for; memories that are close to it come earlier.'),
      limit: Limit.default(10),
    }),
    result: z.array(Found),
    async run({ personaId, ...asked }, context) {
      const persona = await ownerOf('memory/recall', personaId, context);
      return (await recall(context, { persona, ...asked })).map((one) => ({ ...one }));
    },
  }),
  defineCommand({
    name: 'memory/list',
    description: 'Lists what a persona remembers, the newest first.',
    permission: 'read',
    speed: 'quick',
    doors: ['step', 'model', 'person'],
    params: z.strictObject({
      personaId: Owner,
      type: Type.optional(),
      tags: Tags.optional(),
      limit: Limit.default(50),
    }),
    result: z.array(Kept),
    async run({ personaId, limit, ...which }, context) {
      const persona = await ownerOf('memory/list', personaId, context);
      return (await memories(context, persona, which, limit)).map((one) => ({ ...one }));
    },
  }),
];

const moving: Command[] = [
  defineCommand({
    name: 'memory/share',
    description: 'Gives copies of memories to a persona that trusts the one they are from.',
    permission: 'write',
    speed: 'quick',
    doors: ['step', 'person'],
    params: z.strictObject({
      from: Persona.optional().describe('The persona of the run, or who calls.'),
      to: Persona,
      filter: Filter.default({}).describe('Which memories; all of them without it.'),
    }),
    result: z.strictObject({ from: z.string(), to: z.string(), shared: z.number() }),
    async run({ from: given, to, filter }, context) {
      const { caller, run } = context;
      const from = given ?? personaOfCaller(context);
      if (caller.kind === 'step' && from !== run.persona)
        throw new Failure(
          'RIGHTS_EXCEEDED',
          `memory/share: a run shares what ${run.persona} remembers, and nothing else`,
        );
      if (from === to || !(await trusts(to, from, context)))
        throw new Failure(
          'RIGHTS_EXCEEDED',
          `memory/share: "${to}" does not trust "${from}"; a person says so: "sentinel persona trust ${to} ${from}"`,
        );
      return { from, to, shared: await share(context, { from, to, by: originOf(context).by, which: filter }) };
    },
  }),
  defineCommand({
    name: 'memory/forget',
    description: 'Forgets memories of a persona: they are gone, with their vectors.',
    permission: 'delete',
    speed: 'quick',
    doors: ['step', 'person'],
    needs: [['id'], ['type'], ['tags']],
    params: z
      .strictObject({ personaId: Owner, id: Id.optional(), type: Type.optional(), tags: Tags.optional() })
      .refine(
        ({ id, type, tags }) => id !== undefined || type !== undefined || (tags ?? []).length > 0,
        'must hold one of: id, type, tags',
      ),
    result: z.strictObject({ forgotten: z.number() }),
    async run({ personaId, ...which }, context) {
      const { caller, run } = context;
      const persona = personaId ?? personaOfCaller(context);
      if (caller.kind === 'step' && persona !== run.persona)
        throw new Failure(
          'RIGHTS_EXCEEDED',
          `memory/forget: a run forgets what ${run.persona} remembers, and nothing else`,
        );
      return { forgotten: await forget(context, persona, which) };
    },
  }),
];

export const memoryCommands: Command[] = [...keeping, ...moving];
