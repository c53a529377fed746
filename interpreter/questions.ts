/**
 * Asking a persona and waiting for the answer.
 *
 * - A question is part of the position, under the key of the step that asks: it is asked once, also
 *   when the run continues as new meanwhile, and its answer is taken up wherever the walk is then.
 * - Its digest is over exactly what was asked. Who answers names it, so an answer to what a question
 *   was before a change is refused (answers.ts).
 * - Waiting ends with the answer, the question's own expiry, or the run's: a stop, a cancellation, a
 *   limit. Then the question is withdrawn.
 */
import { canonicalText } from '../language/canonical.ts';
import type { Json, JsonObject } from '../language/json.ts';
import type { Answer, Choice, Priority, Question, QuestionKind } from '../language/events/question.ts';
import { wait, type Walking } from './drive.ts';
import { isCancelled, leftAround, shieldOf, type AskEnd, type Flow, type Strand } from './host.ts';
import { record, type Walk } from './walk-state.ts';
import { countExtension, limitAsked } from './limit-questions.ts';
import { endingMs, holdAtLimit, limitReached, remainingMs } from './limits.ts';

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
  priority: Priority;
  expiresAt?: number | undefined;
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
    const end = yield* wait(walk.host.ask(strand, question, endOf(walk, strand, question)));
    const verdict = yield* verdictOf(walk, strand, question, end);
    if (verdict !== null) return verdict;
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
    assignee = walk.input.persona,
    priority,
    expiresAt = null,
    about,
  } = draft;
  const digest = yield* wait(walk.host.digest(canonicalText({ run: walk.input.handle, id, about })));
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
  };
  walk.position.questions.push(question);
  record(walk, { type: 'asked', key, question: { ...question, expiresAt: lastMoment(walk, strand, question) } });
  return question;
}

/**
 * Until when it can be answered, as things stand: its own expiry, or the end of the run or of a step
 * around it. Time that the run will be held comes on top, so only its own expiry refuses an answer.
 */
function lastMoment(walk: Walk, strand: Strand, { expiresAt }: Question): number | null {
  const shield = shieldOf(strand);
  const lefts = [shield === null ? endingMs(walk) : shield.until - walk.host.now(), leftAround(strand)].filter(
    (left) => left !== null,
  );
  const ends = [
    ...(expiresAt === null ? [] : [expiresAt]),
    ...lefts.map((left) => walk.host.now() + Math.max(0, left)),
  ];
  return ends.length === 0 ? null : Math.min(...ends);
}

/** When waiting ends at the latest: the question's expiry, or the end of the run's time. */
function endOf(walk: Walk, strand: Strand, question: Question): number | null {
  const shield = shieldOf(strand);
  const left = shield === null ? remainingMs(walk) : null;
  const ends = [question.expiresAt, shield?.until ?? null, left === null ? null : walk.host.now() + left].filter(
    (end) => end !== null,
  );
  return ends.length === 0 ? null : Math.min(...ends);
}

function* verdictOf(walk: Walk, strand: Strand, question: Question, end: AskEnd): Walking<Verdict | null> {
  switch (end) {
    case 'settled': {
      const answer = answerTo(walk, question.id);
      if (answer === undefined) throw new Error(`bug: the question "${question.id}" is settled without an answer`);
      return { answer };
    }
    case 'late':
      return yield* whenLate(walk, strand, question);
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
  const now = walk.host.now();
  const shield = shieldOf(strand);
  if ((question.expiresAt !== null && now >= question.expiresAt) || (shield !== null && now >= shield.until)) {
    close(walk, question, 'expired');
    return { expired: true };
  }
  const limit = shield === null ? limitReached(walk) : null;
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
  record(walk, { type: how, key: keyOf(id), id, open: position.questions.length, held: position.paused !== null });
}

/** Questions of the run itself have ids that are no key. */
export const keyOf = (id: string): string => (id.includes('@') ? (id.split(':')[0] ?? '') : '');
