/** The questions of one scripted run: whom they are put to, and what became of the answers. */
import type { Question } from '../../language/question.ts';
import { refusalOf, takeAnswer, type AnswerReply, type AnswerRequest, type Refusal } from '../interpreter/answers.ts';
import type { Walk } from '../interpreter/ledger.ts';
import type { Answers } from './script.ts';
import type { Simulation } from './simulation.ts';

export class Questions {
  /** What became of every answer that was given. */
  readonly replies: (AnswerReply | Refusal)[] = [];
  private readonly posed = new Set<string>();
  private readonly carried = new Set<string>();

  /** Has the script answer, once for every question. */
  pose({ id, askedAt }: Question, key: string, script: Answers, simulation: Simulation, answer: (request: AnswerRequest) => void): void {
    const posed = `${id} ${askedAt}`;
    if (this.posed.has(posed)) return;
    this.posed.add(posed);
    for (const { afterMs = 10, by = 'someone', ...rest } of script.answersTo?.(key) ?? []) {
      simulation.schedule(afterMs, () => answer({ id, by, ...rest }));
    }
  }

  /** True the first time it is asked of a question: then the run continues as new over it. */
  carry({ id, askedAt }: Question): boolean {
    const key = `${id} ${askedAt}`;
    if (this.carried.has(key)) return false;
    this.carried.add(key);
    return true;
  }

  /** What a client's update does: refused, or taken up, or told the first answer. */
  answer(walk: Walk, request: AnswerRequest): AnswerReply | Refusal {
    const reply = refusalOf(walk, request) ?? takeAnswer(walk, request);
    this.replies.push(reply);
    return reply;
  }
}
