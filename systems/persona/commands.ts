/** Personas: who owns runs. Persons are personas from their first run on; a model is made one by a person. */
import * as z from 'zod';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { makeHuman, makeModel, type Persona, personas, setTrust, trustOf } from './store.ts';

const Id = z.string().refine(isPersonaId, `must be an id of ${personaRule}`);

const Shown = z.strictObject({
  id: z.string(),
  kind: z.enum(['human', 'model']),
  madeBy: z.string().nullable(),
  madeAt: z.number().nullable(),
  runs: z.number(),
  underWay: z.number(),
});
const Whole = Shown.extend({ trusts: z.array(z.string()), trustedBy: z.array(z.string()), text: z.string() });

const byPerson = ({ caller }: Context): string => {
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

async function whole(command: string, id: string, context: Context) {
  const found = await known(command, id, context);
  const { trusts, trustedBy } = await trustOf(context, id);
  return { ...found, trusts, trustedBy, text: wordsOf(found, trusts, trustedBy) };
}

function wordsOf({ id, kind, madeBy, runs, underWay }: Persona, trusts: string[], trustedBy: string[]): string {
  const made = madeBy === null ? '' : `, made by ${madeBy}`;
  return [
    `${id}: ${kind === 'model' ? 'a model' : 'a person'}${made}`,
    `runs: ${runs}, ${underWay} under way`,
    `trusts: ${trusts.join(', ') || 'nobody'}`,
    `trusted by: ${trustedBy.join(', ') || 'nobody'}`,
  ].join('\n');
}

const UNKNOWN = { PERSONA_UNKNOWN: { title: 'There is no such persona', retryable: false } } as const;

export const personaCommands: Command[] = [
  defineCommand({
    name: 'persona/create',
    description: 'Makes a persona that is a model.',
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    failures: { ...UNKNOWN, PERSONA_EXISTS: { title: 'There is such a persona already', retryable: false } },
    params: z.strictObject({ personaId: Id.describe('Its name, which no run has used yet.') }),
    result: Whole,
    async run({ personaId }, context) {
      if (!(await makeModel(context, personaId, byPerson(context))))
        throw new Failure(
          'PERSONA_EXISTS',
          `persona/create: there is a persona "${personaId}" already, and what a person is or was cannot become a model; give it another name`,
        );
      return whole('persona/create', personaId, context);
    },
  }),
  defineCommand({
    name: 'persona/list',
    description: 'Lists all personas, with how many runs they own and how many of these are under way.',
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
];
