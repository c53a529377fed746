/** Taking up an answer: what is refused, and what an accepted one leaves in the position. */
import { isJsonObject, type Json } from '../language/json.ts';
import { answersKeptMax, type Answer, type Choice, type Question } from '../language/events/question.ts';
import { record, type Walk } from './walk-state.ts';
import { extensionFault, takeExtension } from './limit-questions.ts';
import { keyOf } from './questions.ts';

export interface AnswerRequest {
  id: string;
  choice: Choice;
  note?: string;
  data?: Json;
  /** The persona that answers. */
  by: string;
  /** The digest of the question that was seen; a question that changed since is not answered. */
  digest?: string;
}

export interface AnswerReply {
  id: string;
  answer: Answer;
  /** It had been answered before, and this is the first answer. */
  already: boolean;
}

/** What a client is told; no failure of the run, which goes on waiting. */
type RefusalCode = 'QUESTION_UNKNOWN' | 'QUESTION_CHANGED' | 'QUESTION_EXPIRED' | 'ANSWER_INVALID';

export interface Refusal {
  code: RefusalCode;
  message: string;
}

const refuse = (code: RefusalCode, message: string): Refusal => ({ code, message });

export function firstAnswer(walk: Walk, { id }: AnswerRequest): AnswerReply | null {
  const settled = walk.position.answered.findLast((entry) => entry.id === id);
  return settled === undefined ? null : { id, answer: settled.answer, already: true };
}

/** Whoever can hold data against a form has found that they do not fit. */
export const unfit = (id: string, finding: string): Refusal =>
  refuse('ANSWER_INVALID', `the data of the answer to "${id}" does not fit its form: ${finding}`);

/** Null when the request answers an open question, or one that has been answered. */
export function refusalOf(walk: Walk, request: AnswerRequest): Refusal | null {
  const { id, choice, digest, data = null } = request;
  const { handle } = walk.input;
  const settled = walk.position.answered.findLast((entry) => entry.id === id);
  if (settled !== undefined) {
    if (digest === undefined || digest === settled.digest) return null;
    return refuse(
      'QUESTION_CHANGED',
      `${handle} asked something else under "${id}" and has its answer; see "sentinel inbox"`,
    );
  }
  const question = walk.position.questions.find((open) => open.id === id);
  if (question === undefined)
    return refuse('QUESTION_UNKNOWN', `${handle} has no open question "${id}"; "sentinel inbox" shows those there are`);
  if (question.expiresAt !== null && walk.host.now() >= question.expiresAt) {
    return refuse(
      'QUESTION_EXPIRED',
      `the question "${id}" expired at ${new Date(question.expiresAt).toISOString()}; the run no longer waits for it`,
    );
  }
  if (digest !== undefined && digest !== question.digest) {
    return refuse(
      'QUESTION_CHANGED',
      `what "${id}" asks about changed after you saw it; look at it again with "sentinel inbox"`,
    );
  }
  if (!question.choices.includes(choice)) {
    return refuse(
      'ANSWER_INVALID',
      `"${choice}" is no choice of "${id}"; choose one of ${question.choices.join(', ')}`,
    );
  }
  const fault = choice === 'extend' ? extensionFault(id, data) : null;
  if (fault !== null) return refuse('ANSWER_INVALID', fault);
  return choice === 'edit' ? editRefusal(question, data) : null;
}

const editable: { readonly [type: string]: readonly string[] } = {
  shell: ['command', 'args', 'cwd', 'env', 'stdin'],
  command: ['params'],
  emit: ['event', 'data'],
};

/** What an `edit` may change of an action, by the action's type. */
export function editableFields(show: Json): readonly string[] {
  const action = isJsonObject(show) ? (show['action'] ?? null) : null;
  const type = isJsonObject(action) ? action['type'] : undefined;
  return typeof type === 'string' && Object.hasOwn(editable, type) ? (editable[type] ?? []) : [];
}

const fieldKinds: { readonly [field: string]: (value: Json) => boolean } = {
  command: (value) => typeof value === 'string' && value !== '',
  event: (value) => typeof value === 'string' && value !== '',
  cwd: (value) => typeof value === 'string',
  stdin: (value) => typeof value === 'string',
  args: (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'),
  env: (value) => isJsonObject(value) && Object.values(value).every((item) => typeof item === 'string'),
  params: isJsonObject,
  data: () => true,
};

function editRefusal({ id, show }: Question, data: Json): Refusal | null {
  const fields = editableFields(show);
  const example = fields.map((field) => `"${field}"`).join(', ');
  if (!isJsonObject(data) || Object.keys(data).length === 0) {
    return refuse(
      'ANSWER_INVALID',
      `"edit" of "${id}" needs --data with the fields to change: an object with any of ${example}`,
    );
  }
  const wrong = Object.entries(data).find(
    ([field, value]) => !fields.includes(field) || fieldKinds[field]?.(value) !== true,
  );
  if (wrong === undefined) return null;
  return refuse('ANSWER_INVALID', `"edit" of "${id}" cannot set "${wrong[0]}" like that; it can change ${example}`);
}

/** Settles the question; the first answer stands for good. */
export function takeAnswer(walk: Walk, request: AnswerRequest): AnswerReply {
  const first = firstAnswer(walk, request);
  if (first !== null) return first;
  const { position, host } = walk;
  const question = position.questions.find((open) => open.id === request.id);
  if (question === undefined) throw new Error(`bug: no open question "${request.id}"`);
  const { id, choice, note = null, data = null, by } = request;
  const answer: Answer = { choice, note, data, by, at: host.now() };
  takeExtension(walk, id, answer);
  position.questions = position.questions.filter((open) => open !== question);
  position.answered = [...position.answered, { id, digest: question.digest, answer }].slice(-answersKeptMax);
  record(walk, {
    type: 'answered',
    key: keyOf(id),
    id,
    answer,
    open: position.questions.length,
    held: position.paused !== null,
  });
  return { id, answer, already: false };
}
