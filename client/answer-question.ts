/**
 * Answering a question of a run, or of one nested in it. An answer that is not taken is an error: a
 * question that has another answer, that expired, or that nobody asks any more.
 */
import type { Client } from '@temporalio/client';
import { canonicalText } from '../language/canonical.ts';
import { isActing, type Answer } from '../language/events/question.ts';
import { defined } from '../language/defined.ts';
import type { InboxItem, Store } from '../prisma/store/contract/contract.ts';
import { ClientError } from '../runs/client-error.ts';
import { answerRun } from '../runs/steer-run.ts';
import type { AnsweredQuestion, AnswerOptions } from './contract/requests.ts';
import { isShownWhole, questionFor, settledItem, type FoundQuestion } from './lookup/find-question.ts';
import { isWithinStep, STEP } from './rights/within-step.ts';
import { standingText } from './lookup/standing-answer.ts';

const DIGEST_MIN = 8;

interface Parts {
  store: Store;
  client: () => Promise<Client>;
}

interface Asked {
  handle: string;
  id: string;
}

export async function answerQuestion(
  { store, client }: Parts,
  handle: string,
  given: AnswerOptions,
): Promise<AnsweredQuestion> {
  const question = await questionFor(store, handle, given.id);
  const { handle: asking, id, answer: first } = question;
  const asked = { handle: asking, id };
  if (first !== null) return standing(asked, first, given);
  const { choice, note, data } = given;
  const by = (await isWithinStep()) ? STEP : given.by;
  const seen = digestSeen(question, given);
  try {
    const reply = await answerRun(await client(), asking, {
      id,
      choice,
      by,
      ...defined({ note, data }),
      ...(seen === null ? {} : { digest: seen }),
    });
    return reply.already ? standing(asked, reply.answer, given) : { handle: asking, ...reply };
  } catch (error) {
    const isOver = error instanceof ClientError && (error.code === 'RUN_ENDED' || error.code === 'QUESTION_UNKNOWN');
    const item = isOver ? await settledItem(store, asked) : null;
    if (item === null) throw error;
    // Somebody else's answer, given at the same time, may have ended the run.
    if (item.answer !== null) return standing(asked, item.answer, given);
    throw new ClientError('QUESTION_UNKNOWN', overText(item, choice), { cause: error });
  }
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
function standing({ handle, id }: Asked, answer: Answer, { choice, data = null }: AnswerOptions): AnsweredQuestion {
  if (answer.choice === choice && canonicalText(answer.data) === canonicalText(data))
    return { handle, id, answer, already: true };
  const other = answer.choice === choice ? 'with other data' : `"${choice}"`;
  throw new ClientError('ANSWERED_ALREADY', `${standingText({ handle, id, answer })}; ${other} changes nothing.`, {
    details: { handle, id, answer: { ...answer } },
  });
}

function overText({ handle, id, state, expiresAt }: InboxItem, choice: string): string {
  const question = `The question "${id}" of ${handle}`;
  if (state !== 'expired')
    return `${question} needs no answer any more: the run was stopped or cancelled, went on without one, or asks something else; "${choice}" changes nothing.`;
  const when = expiresAt === null ? '' : ` at ${new Date(expiresAt).toISOString()}`;
  return `${question} expired${when}, and nobody had answered it; "${choice}" comes too late.`;
}
