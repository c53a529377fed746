/**
 * Whom a question asks, and whether somebody is that. A question that names nobody is for the owner of the run, and any
 * person answers it; one that names somebody is answered by them, a member of a group that is named, or whom they have
 * answer in their place. An answer after which the run does less may come from a step or an agent, too, in their own name.
 */
import { letsAct, type Approvers, type Choice } from '../language/events/question.ts';
import { approversWords, type Counts } from '../interpreter/approvers.ts';
import { ClientError } from '../runs/client-error.ts';
import { performCommand, type Performing } from './perform.ts';

export interface Asked {
  handle: string;
  id: string;
  /** Whom it asks, and who owns the run. */
  persona: string;
  owner: string;
  approvers?: Approvers | undefined;
}

export interface Answering {
  choice: Choice;
  by: string;
  /** A step, an agent, or a person. */
  as: 'step' | 'agent' | 'person';
  /** For whom an agent answers. */
  person?: string | undefined;
}

/** Undefined where the question names nobody. Throws `ANSWER_REFUSED` where it asks others. */
export async function countsFor(
  client: Performing,
  { handle, id, persona, owner, approvers }: Asked,
  { choice, by, as, person = by }: Answering,
): Promise<Counts | undefined> {
  const named = approvers?.of ?? (persona === owner ? [] : [persona]);
  if (named.length === 0 || (as !== 'person' && !letsAct(choice))) return undefined;
  const counts = (await voicesOf(client, person)).find(({ among }) => named.includes(among));
  if (counts !== undefined) return counts;
  const whom = approvers === undefined ? persona : approversWords(approvers);
  throw new ClientError(
    'ANSWER_REFUSED',
    `"${id}" of ${handle} asks ${whom}, and "${person}" does not answer for them: whoever is asked answers with --by, or has another do it with "sentinel persona delegate".`,
  );
}

/** For whom a person answers: under which name one is asked, and whose answer it then is. */
export async function voicesOf(client: Performing, person: string): Promise<Counts[]> {
  const { builtInSystems } = await import('../systems/built-in.ts');
  const asked = builtInSystems.flatMap(({ answersFor }) => answersFor ?? []);
  const found = await Promise.all(
    asked.map((command) => performCommand(client, command, { personaId: person }, { by: person })),
  );
  return found.flat() as unknown as Counts[];
}
