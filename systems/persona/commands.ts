/** Personas: who owns runs. Persons are personas from their first run on; a model is made one by a person. */
import * as z from 'zod';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { GRANTS } from '../../language/rights/answers.ts';
import { defined } from '../../language/defined.ts';
import { personaPlaces, personaPlacesMax } from '../../language/limits.ts';
import { zoneIn } from '../../language/references/times.ts';
import { usedWords } from '../../operations/day-budget.ts';
import { placesOf } from '../../prisma/store/contract/persona-contract.ts';
import {
  grantsOf,
  type Limits,
  makeHuman,
  makeModel,
  type Persona,
  personas,
  runsWithoutBudget,
  setGrant,
  setLimits,
  setTrust,
  trustOf,
  waitingRuns,
} from './store.ts';

export const Id = z.string().refine(isPersonaId, `must be an id of ${personaRule}`);

const Places = z
  .number()
  .int()
  .min(1)
  .max(personaPlacesMax)
  .nullable()
  .describe('How many of its runs may be at work at the same time; null: any number.');
const Count = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER).nullable();

const Budgets = {
  budgetUsd: z
    .number()
    .nonnegative()
    .nullable()
    .optional()
    .describe('US dollars that its runs may spend in a day; null: any amount.'),
  budgetTokens: Count.optional().describe('Tokens that its runs may use in a day; null: any number.'),
  budgetSteps: Count.optional().describe('Steps that its runs may begin in a day; null: any number.'),
  timeZone: z
    .string()
    .refine((zone) => zoneIn(zone) !== undefined, 'must be a time zone such as "Europe/Zurich"')
    .optional()
    .describe(
      'The time zone whose days they are; left out, the one that was set before, or else that of this machine.',
    ),
};

const BudgetShown = z.strictObject({
  usd: z.number().nullable(),
  tokens: z.number().nullable(),
  steps: z.number().nullable(),
  timeZone: z.string(),
  used: z.strictObject({ usd: z.number(), tokens: z.number(), steps: z.number() }),
  until: z.number(),
});

const Shown = z.strictObject({
  id: z.string(),
  kind: z.enum(['human', 'model']),
  madeBy: z.string().nullable(),
  madeAt: z.number().nullable(),
  runs: z.number(),
  underWay: z.number(),
  asked: z.number(),
  places: z.number().nullable(),
  budget: BudgetShown.nullable(),
  atWork: z.number(),
  waiting: z.number(),
});
const Whole = Shown.extend({
  trusts: z.array(z.string()),
  trustedBy: z.array(z.string()),
  /** What a person has granted to a model. */
  may: z.array(z.string()),
  /** Runs that wait for a place, in the order of their turns. */
  waits: z.array(z.string()),
  /** Runs that wait until there is budget again. */
  waitsForBudget: z.array(z.string()),
  text: z.string(),
});

const WOKEN_MAX = 10_000;
const WOKEN_AT_ONCE = 100;

export const byPerson = ({ caller }: Context): string => {
  if (caller.kind === 'person') return caller.name;
  throw new Error(`bug: a command for persons is called by a ${caller.kind}`);
};

async function known(command: string, id: string, context: Context): Promise<Persona> {
  const [found] = await personas(context, id);
  if (found !== undefined) return found;
  throw new Failure(
    'PERSONA_UNKNOWN',
    `${command}: there is no persona "${id}"; "sentinel persona list" shows them, and "sentinel persona create ${id}" makes a model one`,
  );
}

/** They ask again, and wait for this to be committed. The limit is locked meanwhile, so it comes last. */
async function wakeThoseWithTurns(context: Context, id: string, { places, ...budget }: Limits): Promise<void> {
  const { store, runPort } = context;
  const turns = places === undefined ? [] : await store.leases.turns(placesOf(id), places ?? personaPlacesMax);
  const waiting = Object.keys(defined(budget)).length === 0 ? [] : await runsWithoutBudget(context, id, WOKEN_MAX);
  const woken = [...turns, ...waiting];
  for (let at = 0; at < woken.length; at += WOKEN_AT_ONCE)
    await Promise.all(woken.slice(at, at + WOKEN_AT_ONCE).map((handle) => runPort.wake(handle)));
}

async function whole(command: string, id: string, context: Context) {
  const found = await known(command, id, context);
  const { trusts, trustedBy } = await trustOf(context, id);
  const may = await grantsOf(context, id);
  const waits = await waitingRuns(context, id);
  const waitsForBudget = await runsWithoutBudget(context, id);
  const rights = { trusts, trustedBy, may, waits, waitsForBudget };
  return { ...found, ...rights, text: wordsOf(found, rights) };
}

interface Besides {
  trusts: string[];
  trustedBy: string[];
  may: string[];
  waits: string[];
  waitsForBudget: string[];
}

function wordsOf(persona: Persona, { trusts, trustedBy, may, waits, waitsForBudget }: Besides): string {
  const { id, kind, madeBy, runs, underWay, asked } = persona;
  const made = madeBy === null ? '' : `, made by ${madeBy}`;
  return [
    `${id}: ${kind === 'model' ? 'a model' : 'a person'}${made}`,
    `runs: ${runs}, ${underWay} under way`,
    ...placesWords(persona),
    ...waits.map((handle, at) => `  waits for a place: ${handle} (${at + 1} of ${persona.waiting})`),
    ...budgetWords(persona),
    ...waitsForBudget.map((handle) => `  waits for budget: ${handle}`),
    ...(asked === 0 ? [] : [`asked: ${asked} ${asked === 1 ? 'question waits' : 'questions wait'}`]),
    `trusts: ${trusts.join(', ') || 'nobody'}`,
    `trusted by: ${trustedBy.join(', ') || 'nobody'}`,
    ...(may.length === 0 ? [] : [`may answer: ${may.join(', ')}`]),
  ].join('\n');
}

function placesWords({ places, atWork, waiting }: Persona): string[] {
  if (places === null) return [];
  const queue = waiting === 0 ? '' : `, ${waiting} ${waiting === 1 ? 'run waits' : 'runs wait'}`;
  return [`places: ${places}, ${atWork} taken${queue}`];
}

function budgetWords({ budget }: Persona): string[] {
  if (budget === null) return [];
  const until = new Date(budget.until).toISOString();
  return [`budget: ${usedWords(budget, budget.used)} used until ${until} (${budget.timeZone})`];
}

export const EXISTS = { PERSONA_EXISTS: { title: 'There is such a persona already', retryable: false } } as const;
export const UNKNOWN = { PERSONA_UNKNOWN: { title: 'There is no such persona', retryable: false } } as const;

export const personaCommands: Command[] = [
  defineCommand({
    name: 'persona/create',
    description: 'Makes a persona that is a model.',
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    failures: { ...UNKNOWN, ...EXISTS },
    params: z.strictObject({
      personaId: Id.describe('Its name, which no run has used yet.'),
      places: Places.default(personaPlaces),
      ...Budgets,
    }),
    result: Whole,
    async run({ personaId, ...limits }, context) {
      if (!(await makeModel(context, personaId, byPerson(context))))
        throw new Failure(
          'PERSONA_EXISTS',
          `persona/create: there is a persona "${personaId}" already, and what a person is or was cannot become a model; give it another name`,
        );
      await setLimits(context, personaId, byPerson(context), limits);
      return whole('persona/create', personaId, context);
    },
  }),
  defineCommand({
    name: 'persona/limit',
    description:
      'Limits the runs of a persona: how many of them may be at work at the same time, and what they may use in a day.',
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    failures: UNKNOWN,
    params: z
      .strictObject({ personaId: Id.describe('The persona.'), places: Places.optional(), ...Budgets })
      .refine((said) => Object.keys(defined(said)).length > 1, 'says no limit'),
    result: Whole,
    async run({ personaId, ...limits }, context) {
      await known('persona/limit', personaId, context);
      await setLimits(context, personaId, byPerson(context), limits);
      const shown = await whole('persona/limit', personaId, context);
      await wakeThoseWithTurns(context, personaId, limits);
      return shown;
    },
  }),
  defineCommand({
    name: 'persona/list',
    description:
      'Lists all personas, with how many runs they own, how many of these are under way, at work and waiting for a place, and how many questions wait for them.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({}),
    result: z.array(Shown),
    run: async (_params, context) => (await personas(context)).map((one) => ({ ...one })),
  }),
  defineCommand({
    name: 'persona/show',
    description: 'Shows a persona: whether it is a person or a model, its runs, whom it trusts, and who trusts it.',
    failures: UNKNOWN,
    permission: 'read',
    speed: 'quick',
    textField: 'text',
    params: z.strictObject({ personaId: z.string().min(1) }),
    result: Whole,
    run: ({ personaId }, context) => whole('persona/show', personaId, context),
  }),
  defineCommand({
    name: 'persona/trust',
    description: 'Lets another persona share memories with one, or ends that.',
    failures: UNKNOWN,
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    params: z
      .strictObject({
        personaId: Id.describe('Who trusts.'),
        trusts: Id.describe('Whose memories it takes.'),
        ends: z.boolean().default(false).describe('Ends the trust.'),
      })
      .refine(({ personaId, trusts }) => personaId !== trusts, 'a persona trusts itself'),
    result: Whole,
    async run({ personaId: persona, trusts, ends }, context) {
      const by = byPerson(context);
      if (isPersonaId(by) && [persona, trusts].includes(by)) await makeHuman(context, by);
      for (const id of [persona, trusts]) await known('persona/trust', id, context);
      await setTrust(context, { persona, trusts, by, isGiven: !ends });
      return whole('persona/trust', persona, context);
    },
  }),
  defineCommand({
    name: 'persona/grant',
    description: 'Lets a persona that is a model give an answer to what its own runs ask, or ends that.',
    failures: { ...UNKNOWN, PERSONA_NOT_MODEL: { title: 'Only a model is granted answers', retryable: false } },
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    params: z.strictObject({
      personaId: Id.describe('The model.'),
      may: z.enum(GRANTS).describe('The answer.'),
      ends: z.boolean().default(false).describe('Ends it.'),
    }),
    result: Whole,
    async run({ personaId: persona, may, ends }, context) {
      const { kind } = await known('persona/grant', persona, context);
      if (kind !== 'model')
        throw new Failure(
          'PERSONA_NOT_MODEL',
          `persona/grant: "${persona}" is a person, who answers what they are asked without it`,
        );
      await setGrant(context, { persona, may, by: byPerson(context), isGiven: !ends });
      return whole('persona/grant', persona, context);
    },
  }),
];
