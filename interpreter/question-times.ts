/** When the wait for an answer ends without one, and when whoever is asked is reminded. Time that the run is held passes for nobody. */
import type { Question } from '../language/events/question.ts';
import { leftAround, shieldOf, type Strand } from './host.ts';
import { keyOfQuestion } from './keys.ts';
import { endingMs, limitReached, remainingMs } from './limits.ts';
import { heldMs, record, type Walk } from './walk-state.ts';

/** A question that nobody has answered for longer is reminded of no more. */
const reminderMsMax = 366 * 24 * 60 * 60_000;

/**
 * Until when it can be answered, as things stand: its own expiry, or the end of the run or of a step
 * around it. Time that the run will be held comes on top, so only its own expiry refuses an answer.
 */
export function lastMoment(walk: Walk, strand: Strand, { expiresAt }: Question): number | null {
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

/** When it expires: time that the run is held does not pass for who is asked either. */
export const expiryOf = (walk: Walk, question: Question): number | null =>
  question.expiresAt === null ? null : question.expiresAt + heldSince(walk, question);

const heldSince = (walk: Walk, { held = 0 }: Question): number => Math.max(0, heldMs(walk) - held);

/** When the next reminder is due; null where there is none any more. */
const reminderOf = (walk: Walk, question: Question): number | null =>
  question.remindAt === undefined ? null : question.remindAt + heldSince(walk, question);

/** When waiting ends at the latest: the question's expiry or its next reminder, or the end of the run's time. */
export function endOf(walk: Walk, strand: Strand, question: Question): number | null {
  const shield = shieldOf(strand);
  const left = shield === null ? remainingMs(walk) : null;
  const ends = [
    expiryOf(walk, question),
    reminderOf(walk, question),
    shield?.until ?? null,
    left === null ? null : walk.host.now() + left,
  ].filter((end) => end !== null);
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Whether the question has expired, or the time around it is up. */
export function isOver(walk: Walk, strand: Strand, question: Question): boolean {
  const shield = shieldOf(strand);
  return hasExpired(walk, strand, question) || (shield === null && limitReached(walk) !== null);
}

export function hasExpired(walk: Walk, strand: Strand, question: Question): boolean {
  const now = walk.host.now();
  const [expiry, shield] = [expiryOf(walk, question), shieldOf(strand)];
  return (expiry !== null && now >= expiry) || (shield !== null && now >= shield.until);
}

/**
 * Where it is due, and by whichever of several lines that wait for one answer comes first. What came due while no worker
 * was there is said once. Each wait is twice the one before, and a question of a year has no more.
 */
export function remind(walk: Walk, strand: Strand, question: Question): void {
  const { id, remindAfterMs } = question;
  const due = reminderOf(walk, question);
  const now = walk.host.now();
  if (remindAfterMs === undefined || due === null || now < due || !walk.position.questions.includes(question)) return;
  question.reminders = (question.reminders ?? 0) + 1;
  const next = remindAfterMs * 2 ** question.reminders;
  if (next > reminderMsMax) delete question.remindAt;
  else question.remindAt = now - heldSince(walk, question) + next;
  const shown = { ...question, expiresAt: lastMoment(walk, strand, question) };
  record(walk, { type: 'reminded', key: keyOfQuestion(id), id, question: shown });
}
