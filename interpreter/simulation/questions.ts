/** The questions of one scripted run: whom they are put to, and what became of the answers. */
import type { Question } from '../../language/events/question.ts';
import { refusalOf, takeAnswer, unfit, type AnswerReply, type AnswerRequest, type Refusal } from '../questions.ts';
import type { Walk } from '../walk-state.ts';
import type { Answers } from './script.ts';
import type { Simulation } from './simulation.ts';

export class Questions {
  /** What became of every answer that was given. */
  readonly replies: (AnswerReply | Refusal)[] = [];
  private readonly posed = new Set<string>();
  private readonly carried = new Set<string>();

  /** Has the script answer, once for every question; whether one of its answers decides about a limit. */
  pose(
    { id, askedAt, approvers }: Pick<Question, 'id' | 'askedAt' | 'approvers'>,
    key: string,
    script: Answers,
    simulation: Simulation,
    answer: (request: AnswerRequest) => void | Promise<void>,
  ): boolean {
    const posed = `${id} ${askedAt}`;
    const answers = script.answersTo?.(key) ?? [];
    const decides = answers.some(({ choice }) => choice === 'extend' || choice === 'stop');
    if (this.posed.has(posed)) return decides;
    this.posed.add(posed);
    for (const [nth, { afterMs = 10, by = approvers?.of[nth] ?? 'someone', ...rest }] of answers.entries())
      simulation.schedule(afterMs, () => answer({ id, by, ...rest }));
    return decides;
  }

  /** True the first time it is asked of a question: then the run continues as new over it. */
  carry({ id, askedAt }: Question): boolean {
    const key = `${id} ${askedAt}`;
    if (this.carried.has(key)) return false;
    this.carried.add(key);
    return true;
  }

  /** What a client's update does: refused, or taken up, or told the first answer; `walk` is the run's, then and now. */
  answer(
    walk: () => Walk,
    { stage }: Simulation,
    request: AnswerRequest,
    then: (reply: AnswerReply | Refusal) => void,
  ): void | Promise<void> {
    const settle = (misfit: Refusal | null): void => {
      const reply = misfit ?? refusalOf(walk(), request) ?? takeAnswer(walk(), request);
      this.replies.push(reply);
      then(reply);
    };
    const form = walk().position.questions.find(({ id }) => id === request.id)?.form ?? null;
    if (form === null || request.choice !== 'approve' || refusalOf(walk(), request) !== null) return settle(null);
    return stage
      .formFault(form, request.data ?? null)
      .then((finding) => settle(finding === null ? null : unfit(request.id, finding)));
  }
}
