/**
 * Questions that need the approval of several: each of them counts once, and the last one that is needed is the answer.
 *
 * - A1 An approval counts for a person: who gives it, or for whom it is given. Neither counts twice.
 * - A2 Only who is among those asked approves; whom the name of a group stands for, the door has found.
 * - A3 Any other choice is the answer at once.
 */
import type { Json } from '../language/json.ts';
import type { Answer, Approval, Choice, Question } from '../language/events/question.ts';
import { keyOfQuestion } from './keys.ts';
import { record, type Walk } from './walk-state.ts';

/** Whose answer it is, as the door has found: by which of the names that the question asks, and the person. */
export interface Counts {
  among: string;
  person: string;
}

/** An answer as it is given. */
export interface Approving {
  by: string;
  choice: Choice;
  counts?: Counts;
  note?: string;
  data?: Json;
}

/** What became of one of several approvals. */
interface Counted {
  id: string;
  answer: Answer;
  already: boolean;
  missing: number;
}

const voiceOf = ({ by, counts = { among: by, person: by } }: Approving): Counts => counts;

/** Why the request approves nothing; null where it may. */
export function strangerFault({ id, approvers }: Question, request: Approving): string | null {
  if (approvers === undefined || request.choice !== 'approve') return null;
  const { among } = voiceOf(request);
  if (approvers.of.includes(among)) return null;
  return `"${request.by}" is not asked by "${id}"; it asks ${approversWords(approvers)}`;
}

export const approversWords = ({ of, atLeast }: NonNullable<Question['approvers']>): string =>
  `${of.join(', ')}${atLeast === 1 ? '' : ` (${atLeast} of them)`}`;

/** The approval that the same person, or the same hand, has given before. */
export function approvalBefore({ approvals = [] }: Question, request: Approving): Approval | undefined {
  const { person } = voiceOf(request);
  return approvals.find((one) => one.person === person || one.by === request.by);
}

export const missingOf = ({ approvers, approvals = [] }: Question): number =>
  Math.max(0, (approvers?.atLeast ?? 1) - approvals.length);

export const asAnswer = ({ by, note, data, at }: Approval): Answer => ({ choice: 'approve', note, data, by, at });

/** Takes an approval of one of several; null where it is the last that was needed, or none: then it is the answer. */
export function takeApproval(walk: Walk, question: Question, request: Approving): Counted | null {
  const { id, approvers } = question;
  if (approvers === undefined || request.choice !== 'approve') return null;
  const before = approvalBefore(question, request);
  if (before !== undefined) return { id, answer: asAnswer(before), already: true, missing: missingOf(question) };
  const { by, note = null, data = null } = request;
  const approval: Approval = { by, ...voiceOf(request), note, data, at: walk.host.now() };
  question.approvals = [...(question.approvals ?? []), approval];
  const missing = missingOf(question);
  if (missing === 0) return null;
  record(walk, {
    type: 'approved',
    key: keyOfQuestion(id),
    id,
    approvals: question.approvals,
    missing,
  });
  return { id, answer: asAnswer(approval), already: false, missing };
}
