/** How a question is answered, and the reply. */
import type { AnswerReply, AnswerRequest } from '../../interpreter/questions.ts';

/**
 * `digest`: of the question that was seen, or how it begins. Without it the question is answered as it is in
 * the inbox now, unless lists do not show the whole of it.
 */
export type AnswerOptions = Omit<AnswerRequest, 'id'> & { id?: string };

/** `handle`: the run that asked. `already`: it had been given before, by whom `answer` says. */
export interface AnsweredQuestion extends AnswerReply {
  handle: string;
}
