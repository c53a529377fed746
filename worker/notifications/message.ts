/** What a notification says of an event of a run: one JSON object. Secrets are masked as in the event itself. */
import { createHash } from 'node:crypto';
import type { Json, JsonObject } from '../../language/json.ts';
import type { Asked, Reminded, RunEvent } from '../../language/events/run-event.ts';
import { maskTokens } from '../../language/secrets.ts';
import { defined } from '../../language/defined.ts';
import type { Run } from '../../prisma/store/contract/contract.ts';
import type { NewDelivery, Notice } from '../../prisma/store/contract/notification-contract.ts';

const SHOWN_MAX = 16_000;

/** Null where the event says nothing that is worth a message. */
export function deliveryOf(run: Run, notice: Notice, event: RunEvent, url: string): NewDelivery | null {
  const said = saidBy(event, run.handle);
  if (said === null) return null;
  // The same event to the same address is one message, whoever makes it.
  const id = createHash('sha256').update(`${run.handle}\n${notice.seq}\n${url}`).digest('hex').slice(0, 32);
  const body: JsonObject = {
    id,
    event: notice.kind,
    at: new Date(notice.at).toISOString(),
    handle: run.handle,
    name: run.name,
    project: run.project,
    persona: run.persona,
    ...said,
  };
  const masked = maskTokens(body);
  return { id, handle: run.handle, event: notice.kind, url, body: JSON.stringify(masked) };
}

function saidBy(event: RunEvent, handle: string): JsonObject | null {
  if (event.type === 'asked' || event.type === 'reminded') return questionOf(event, handle);
  if (event.type === 'warning') return { message: event.message, step: event.key, code: event.code };
  if (event.type !== 'run-finished') return null;
  const { failure, limit, outcome } = event;
  return {
    message: failure?.message ?? `the run ended as ${outcome}${limit === undefined ? '' : ` at its limit ${limit}`}`,
    ...(failure === undefined ? {} : { code: failure.code }),
    ...defined({ limit }),
  };
}

function questionOf({ key, question }: Asked | Reminded, handle: string): JsonObject {
  const { id, kind, message, choices, priority, assignee, show, expiresAt, digest, reminders } = question;
  const until = expiresAt === null ? null : new Date(expiresAt).toISOString();
  return {
    message,
    step: key,
    question: {
      id,
      kind,
      choices: [...choices],
      priority,
      assignee,
      expiresAt: until,
      digest,
      show: bounded(show),
      ...defined({ reminders }),
    },
    answer: choices.map((choice) => `sentinel answer ${handle} ${id} ${choice}`),
  };
}

/** The question that a message asks; null where it tells of something else. */
export function questionIn(body: string): string | null {
  const { question } = JSON.parse(body) as { question?: { id: string } };
  return question?.id ?? null;
}

/** What is too long for a message is looked up where the run is. */
const bounded = (value: Json): Json => (JSON.stringify(value).length <= SHOWN_MAX ? value : null);
