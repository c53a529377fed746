/**
 * Asking a persona and waiting for the answer.
 *
 * - A question is part of the position, under the key of the step that asks: it is asked once, also
 *   when the run continues as new meanwhile, and its answer is taken up wherever the walk is then.
 * - Its digest is over exactly what was asked. Who answers names it, so an answer to what a question
 *   was before a change is refused (questions.ts).
 * - Waiting ends with the answer, the question's own expiry, or the run's: a stop, a cancellation, a
 *   limit. Then the question is withdrawn.
 */
import { canonicalText } from '../language/canonical.ts';
import { type Json, type JsonObject, isJsonObject, valueFault, type ValueFault } from '../language/json.ts';
import {
  type Answer,
  type Approvers,
  type Choice,
  type Priority,
  type Question,
  type QuestionKind,
  answersKeptMax,
} from '../language/events/question.ts';
import { defined } from '../language/defined.ts';
import { strangerFault, takeApproval, type Counts } from './approvers.ts';
import { wait, type Walking } from './drive.ts';
import { isCancelled, shieldOf, type AskEnd, type Strand } from './host.ts';
import type { Flow } from './effect.ts';
import { keyOfQuestion } from './keys.ts';
import { heldMs, record, type Walk } from './walk-state.ts';
import { countExtension, limitAsked, holdAtLimit, limitReached, extensionFault, takeExtension } from './limits.ts';
import { idle, type PlaceEnd, withPlace } from './places.ts';
import { endOf, expiryOf, hasExpired, isOver, lastMoment, remind } from './question-times.ts';

export interface Draft {
  id: string;
  /** Key of the step that asks; empty for the run itself. */
  key: string;
  kind: QuestionKind;
  message: string;
  choices: Choice[];
  show: Json;
  form?: JsonObject | undefined;
  assignee?: string | undefined;
  /** In place of `assignee`. */
  approvers?: Approvers | undefined;
  priority: Priority;
  expiresAt?: number | undefined;
  remindAfterMs?: number | undefined;
  /** What the answer holds for, in full. */
  about: unknown;
}

export type Verdict = { answer: Answer } | { expired: true } | { flow: Flow };

export function openQuestion(walk: Walk, id: string): Question | undefined {
  return walk.position.questions.find((question) => question.id === id);
}

export function answerTo(walk: Walk, id: string): Answer | undefined {
  return walk.position.answered.findLast((settled) => settled.id === id)?.answer;
}

export function* ask(walk: Walk, strand: Strand, draft: Draft): Walking<Verdict> {
  const known = answerTo(walk, draft.id);
  if (known !== undefined) return { answer: known };
  if (isCancelled(strand)) {
    withdrawOpen(walk, draft.id);
    return { flow: { kind: 'cancelled' } };
  }
  const question = openQuestion(walk, draft.id) ?? (yield* pose(walk, strand, draft));
  if (question === null) return { flow: { kind: 'yield' } };
  for (;;) {
    const end = yield* untilItEnds(walk, strand, question);
    const verdict = yield* verdictOf(walk, strand, question, end);
    if (verdict !== null) return verdict;
  }
}

/** For a reminder alone the run takes no place of its persona. */
function* untilItEnds(walk: Walk, strand: Strand, question: Question): Walking<AskEnd | PlaceEnd> {
  for (;;) {
    const end = yield* idle(walk, () => walk.host.ask(strand, question, endOf(walk, strand, question)));
    if (end !== 'late' || isOver(walk, strand, question)) return yield* withPlace(walk, strand, end);
    remind(walk, strand, question);
  }
}

/** Null where the host cannot wait: then nothing was asked. */
function* pose(walk: Walk, strand: Strand, draft: Draft): Walking<Question | null> {
  const {
    id,
    key,
    kind,
    message,
    choices,
    show,
    form = null,
    approvers,
    assignee = approvers?.of.join(', ') ?? walk.input.persona,
    priority,
    expiresAt = null,
    remindAfterMs,
    about,
  } = draft;
  const digest = yield* wait(walk.host.digest(canonicalText({ run: walk.input.handle, id, about }), id));
  if (digest === null) return null;
  // Another branch may have asked the same of the run while the digest was made.
  const other = openQuestion(walk, id);
  if (other !== undefined) return other;
  const question: Question = {
    id,
    kind,
    message,
    choices,
    show,
    form,
    assignee,
    priority,
    askedAt: walk.host.now(),
    expiresAt,
    digest,
    ...defined({ approvers, remindAfterMs }),
    ...(remindAfterMs === undefined ? {} : { remindAt: walk.host.now() + remindAfterMs }),
  };
  walk.position.questions.push(question);
  record(walk, { type: 'asked', key, question: { ...question, expiresAt: lastMoment(walk, strand, question) } });
  const held = heldMs(walk);
  if (held > 0 && (expiresAt !== null || remindAfterMs !== undefined)) question.held = held;
  return question;
}

function* verdictOf(walk: Walk, strand: Strand, question: Question, end: AskEnd): Walking<Verdict | null> {
  switch (end) {
    case 'settled': {
      const answer = answerTo(walk, question.id);
      if (answer === undefined) throw new Error(`bug: the question "${question.id}" is settled without an answer`);
      return { answer };
    }
    case 'late': {
      // It may have been answered while the run waited for a place.
      const answer = answerTo(walk, question.id);
      return answer === undefined ? yield* whenLate(walk, strand, question) : { answer };
    }
    case 'yield':
      return { flow: { kind: 'yield' } };
    case 'stop':
      withdraw(walk, question);
      return { flow: { kind: 'stopped', limit: 'stop' } };
    case 'cancel':
      withdraw(walk, question);
      return { flow: { kind: 'cancelled' } };
    default:
      return end satisfies never;
  }
}

function* whenLate(walk: Walk, strand: Strand, question: Question): Walking<Verdict | null> {
  if (hasExpired(walk, strand, question)) {
    close(walk, question, 'expired');
    return { expired: true };
  }
  const limit = shieldOf(strand) === null ? limitReached(walk) : null;
  const flow = limit === null ? null : yield* holdAtLimit(walk, limit);
  if (flow === null) return null;
  if (flow.kind !== 'yield') withdraw(walk, question);
  return { flow };
}

export const withdraw = (walk: Walk, question: Question): void => close(walk, question, 'withdrawn');

export function withdrawOpen(walk: Walk, id: string): void {
  const question = openQuestion(walk, id);
  if (question !== undefined) withdraw(walk, question);
}

/** Who resumes a run has answered what it asked at its limits; who stops it has not. */
export function withdrawLimits(walk: Walk): void {
  for (const question of walk.position.questions) {
    const limit = limitAsked(question.id);
    if (limit === null) continue;
    if (!walk.position.stopping) countExtension(walk, limit);
    withdraw(walk, question);
  }
}

function close(walk: Walk, question: Question, how: 'expired' | 'withdrawn'): void {
  const { position } = walk;
  const { id } = question;
  // Several lines may have waited for one answer.
  if (!position.questions.includes(question)) return;
  position.questions = position.questions.filter((other) => other !== question);
  record(walk, {
    type: how,
    key: keyOfQuestion(id),
    id,
    open: position.questions.length,
    held: position.paused !== null,
  });
}

/** Taking up an answer: what is refused, and what an accepted one leaves in the position. */

export interface AnswerRequest {
  id: string;
  choice: Choice;
  note?: string;
  data?: Json;
  /** Who answers. */
  by: string;
  /** Absent: that of `by`. */
  counts?: Counts;
  /** The digest of the question that was seen; a question that changed since is not answered. */
  digest?: string;
}

export interface AnswerReply {
  id: string;
  answer: Answer;
  /** It had been answered before, and this is the first answer. */
  already: boolean;
  /** Of a question to several: how many have to approve besides; absent: the question is answered. */
  missing?: number;
}

/** What a client is told; no failure of the run, which goes on waiting. */
type RefusalCode = 'QUESTION_UNKNOWN' | 'QUESTION_CHANGED' | 'QUESTION_EXPIRED' | 'ANSWER_INVALID' | ValueFault['code'];

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
  const beyond = valueFault(request, `the answer to "${id}"`);
  if (beyond !== null) return beyond;
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
  const expiry = expiryOf(walk, question);
  if (expiry !== null && walk.host.now() >= expiry) {
    return refuse(
      'QUESTION_EXPIRED',
      `the question "${id}" expired at ${new Date(expiry).toISOString()}; the run no longer waits for it`,
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
  const fault = strangerFault(question, request) ?? (choice === 'extend' ? extensionFault(id, data) : null);
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
  const counted = takeApproval(walk, question, request);
  if (counted !== null) return counted;
  const { id, choice, note = null, data = null, by } = request;
  const { approvals } = question;
  const answer: Answer = { choice, note, data, by, at: host.now(), ...defined({ approvals }) };
  takeExtension(walk, id, answer);
  position.questions = position.questions.filter((open) => open !== question);
  position.answered = [...position.answered, { id, digest: question.digest, answer }].slice(-answersKeptMax);
  record(walk, {
    type: 'answered',
    key: keyOfQuestion(id),
    id,
    answer,
    open: position.questions.length,
    held: position.paused !== null,
  });
  return { id, answer, already: false };
}
