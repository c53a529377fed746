/**
 * Answering a question of a run, or of one nested in it. An answer that is not taken is an error: a
 * question that has another answer, that expired, or that nobody asks any more.
 */
import type { Client } from '@temporalio/client';
import { canonicalText } from '../language/canonical.ts';
import type { Json } from '../language/json.ts';
import { isActing, type Answer } from '../language/events/question.ts';
import { defined } from '../language/defined.ts';
import type { InboxItem, Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from '../runs/client-error.ts';
import { answerRun, asksOfRun } from '../runs/steer-run.ts';
import type { AnsweredQuestion, AnswerOptions } from './contract/requests.ts';
import { isShownWhole, questionFor, settledItem, type FoundQuestion } from './lookup/find-question.ts';
import type { Performing } from './perform.ts';
import { countsFor, type Asked } from './answers-for.ts';
import { isWithinStep, STEP } from './rights/within-step.ts';
import { standingText } from './lookup/standing-answer.ts';

const DIGEST_MIN = 8;

interface Parts {
  store: Store;
  client: () => Promise<Client>;
  /** What commands of systems are performed over. */
  performing: Performing;
}

export async function answerQuestion(
  { store, client, performing }: Parts,
  handle: string,
  given: AnswerOptions,
): Promise<AnsweredQuestion> {
  const question = await questionFor(store, handle, given.id);
  const { handle: asking, id, answer: first } = question;
  const asked = { handle: asking, id };
  if (first !== null) return standing(asked, first, given);
  const { choice, note, data, as = 'person', person } = given;
  const isStep = await isWithinStep();
  const by = isStep ? STEP : given.by;
  const seen = digestSeen(question, given);
  try {
    const whom = await whomAsked(store, client, question);
    const answering = { choice, by, as: isStep ? ('step' as const) : as, ...defined({ person }) };
    const counts = whom === null ? undefined : await countsFor(performing, whom, answering);
    const reply = await answerRun(await client(), asking, {
      id,
      choice,
      by,
      ...defined({ note, data, counts }),
      ...(seen === null ? {} : { digest: seen }),
    });
    if (!reply.already) return { handle: asking, ...reply };
    return { ...standing(asked, reply.answer, given), ...defined({ missing: reply.missing }) };
  } catch (error) {
    const isOver = error instanceof ClientError && (error.code === 'RUN_ENDED' || error.code === 'QUESTION_UNKNOWN');
    const item = isOver ? await settledItem(store, asked) : null;
    if (item === null) throw error;
    // Somebody else's answer, given at the same time, may have ended the run.
    if (item.answer !== null) return standing(asked, item.answer, given);
    throw new ClientError('QUESTION_UNKNOWN', overText(item, choice), { cause: error });
  }
}

/** Null where the run asks no such question, as it will say itself. */
async function whomAsked(store: Store, client: Parts['client'], question: FoundQuestion): Promise<Asked | null> {
  const { handle, id } = question;
  const run = await store.runs.find(handle);
  if (run === null) return null;
  const { persona, approvers } = question;
  if (persona !== undefined) return { handle, id, persona, owner: run.persona, approvers };
  // The row is on its way.
  const { questions } = await asksOfRun(await client(), handle);
  const open = questions.find((one) => one.id === id);
  return open === undefined
    ? null
    : { handle, id, persona: open.assignee, owner: run.persona, approvers: open.approvers };
}

/** The digest of what is answered: of what was seen, where somebody says so. */
function digestSeen(question: FoundQuestion, { choice, digest: seen }: AnswerOptions): string | null {
  const { handle, id, digest } = question;
  if (seen === undefined) {
    if (!isActing(choice) || isShownWhole(question)) return digest;
    throw new ClientError(
      'ANSWER_REFUSED',
      `What "${id}" of ${handle} asks is longer than lists show: "sentinel inbox show ${handle} ${id}" shows all of it, and the digest to answer it with.`,
    );
  }
  if (seen.length < DIGEST_MIN)
    throw new ClientError(
      'USAGE',
      `A digest has ${DIGEST_MIN} characters or more; "sentinel inbox show ${handle} ${id}" shows it.`,
    );
  return digest?.startsWith(seen) === true ? digest : seen;
}

/** The answer that a question has; an error where it is another one than is given now. */
function standing(
  { handle, id }: Pick<Asked, 'handle' | 'id'>,
  answer: Answer,
  { choice, data = null }: AnswerOptions,
): AnsweredQuestion {
  if (answer.choice === choice && canonicalText(answer.data) === canonicalText(data))
    return { handle, id, answer, already: true };
  const other = answer.choice === choice ? 'with other data' : `"${choice}"`;
  throw new ClientError('ANSWERED_ALREADY', `${standingText({ handle, id, answer })}; ${other} changes nothing.`, {
    details: { handle, id, answer: answer as unknown as Json },
  });
}

function overText({ handle, id, state, expiresAt }: InboxItem, choice: string): string {
  const question = `The question "${id}" of ${handle}`;
  if (state !== 'expired')
    return `${question} needs no answer any more: the run was stopped or cancelled, went on without one, or asks something else; "${choice}" changes nothing.`;
  const when = expiresAt === null ? '' : ` at ${new Date(expiresAt).toISOString()}`;
  return `${question} expired${when}, and nobody had answered it; "${choice}" comes too late.`;
}
