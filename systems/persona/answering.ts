/**
 * Who answers for whom: the members of a group for the group, and persons for those who have them do it.
 *
 * - A1 A person answers for themselves, for groups that they are a member of, and for models that they have made.
 * - A2 Who is asked, or a member of a group that is, delegates to another person, who does not pass it on.
 * - A3 No model answers for anybody, and no group is a member of another.
 */
import * as z from 'zod';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import { Failure } from '../../world/failures/failures.ts';
import { byPerson, EXISTS, Id } from './commands.ts';
import { membersOf, personas, setDelegate, setMember, voicesOf } from './store.ts';

const DAY_MS = 86_400_000;

const NOT_PERSON = {
  PERSONA_NOT_PERSON: { title: 'Only a person answers for others', retryable: false },
} as const;

const Group = z.strictObject({ id: z.string(), members: z.array(z.string()), text: z.string() });

async function groupOf(id: string, context: Context) {
  const members = await membersOf(context, id);
  return { id, members, text: `${id}: ${members.join(', ') || 'nobody'}` };
}

/** Whoever has no entry, and owns no run, is a person, too. */
async function refuseOthers(command: string, id: string, context: Context): Promise<void> {
  const [found] = await personas(context, id);
  const isGroup = (await membersOf(context, id)).length > 0;
  if (found?.kind !== 'model' && !isGroup) return;
  throw new Failure(
    'PERSONA_NOT_PERSON',
    `${command}: "${id}" is a ${isGroup ? 'group' : 'model'}, and only a person answers for others`,
  );
}

async function refuseUnlessOwn(personaId: string, context: Context): Promise<void> {
  const { caller } = context;
  const [found] = await personas(context, personaId);
  if ((await membersOf(context, personaId)).length > 0)
    throw new Failure(
      'PERSONA_NOT_PERSON',
      `persona/delegate: "${personaId}" is a group; its members delegate, or "sentinel persona member" adds another`,
    );
  if (
    caller.kind === 'person' &&
    (caller.name === personaId || (found?.kind === 'model' && found.madeBy === caller.name))
  )
    return;
  throw new Failure(
    'RIGHTS_EXCEEDED',
    `persona/delegate: whom "${personaId}" has answer, "${personaId}" says: add "--by ${personaId}" if that is you`,
  );
}

export const answeringCommands: Command[] = [
  defineCommand({
    name: 'persona/member',
    description: 'Makes a person a member of a group, who answers what the group is asked; or takes them out.',
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    failures: { ...NOT_PERSON, ...EXISTS },
    params: z.strictObject({
      groupId: Id.describe('The group; one without members is none.'),
      personaId: Id.describe('The person.'),
      ends: z.boolean().default(false).describe('Takes them out of the group.'),
    }),
    result: Group,
    async run({ groupId, personaId, ends }, context) {
      if (!ends && (await personas(context, groupId)).length > 0)
        throw new Failure('PERSONA_EXISTS', `persona/member: "${groupId}" is a persona; give the group another name`);
      if (!ends) await refuseOthers('persona/member', personaId, context);
      await setMember(context, { group: groupId, member: personaId, by: byPerson(context), isMember: !ends });
      return groupOf(groupId, context);
    },
  }),
  defineCommand({
    name: 'persona/delegate',
    description: 'Has another person answer what a persona is asked, as if they were asked themselves; or ends that.',
    permission: 'write',
    speed: 'quick',
    textField: 'text',
    doors: ['person'],
    failures: NOT_PERSON,
    params: z
      .strictObject({
        personaId: Id.describe('Who is asked.'),
        to: Id.describe('The person who answers in their place.'),
        days: z.number().positive().max(3_650).optional().describe('For so long; until it is ended when left out.'),
        ends: z.boolean().default(false).describe('Ends it.'),
      })
      .refine(({ personaId, to }) => personaId !== to, 'nobody delegates to themselves'),
    result: z.strictObject({ personaId: z.string(), to: z.string(), ends: z.boolean(), text: z.string() }),
    async run({ personaId, to, days, ends }, context) {
      await refuseUnlessOwn(personaId, context);
      if (!ends) await refuseOthers('persona/delegate', to, context);
      await setDelegate(context, {
        persona: personaId,
        delegate: to,
        forMs: days === undefined ? null : days * DAY_MS,
        isGiven: !ends,
      });
      const until = days === undefined ? '' : ` for ${days} days`;
      return {
        personaId,
        to,
        ends,
        text: `${to} ${ends ? 'no more answers' : 'answers'} for ${personaId}${ends ? '' : until}`,
      };
    },
  }),
  defineCommand({
    name: 'persona/answers-for',
    description: 'Says for whom a person answers: the names that may be asked, and whose answer it then is.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({ personaId: z.string().min(1) }),
    result: z.array(z.strictObject({ among: z.string(), person: z.string() })),
    run: async ({ personaId }, context) => (await voicesOf(context, personaId)).map((one) => ({ ...one })),
  }),
];
