/** Nested runs that wait to be told something, seen from a run around them, which goes on or waits for them. */
import { HELD_WITH_PARENT } from '../language/question.ts';
import type { SentinelClient } from './client.ts';

export interface WaitingRun {
  handle: string;
  name: string;
  /** Why it is held, where something but a question holds it. */
  reason: string | null;
  /** Ids of what it asks. */
  questions: string[];
}

const PAUSED_MAX = 10_000;

export async function waitingWithin(client: Pick<SentinelClient, 'list' | 'inbox' | 'heldBy'>, handle: string): Promise<WaitingRun[]> {
  const paused = await waitingBelow(client, [handle]);
  const inner = paused.get(handle) ?? [];
  if (inner.length === 0) return [];
  const open = (await client.inbox({ handle })).filter(({ state }) => state === 'open');
  const waiting = await Promise.all(
    inner.map(async ({ handle: of, name }) => {
      const questions = open.filter((item) => item.handle === of).map(({ id }) => id);
      return { handle: of, name, reason: questions.length === 0 ? ((await client.heldBy(of))?.reason ?? null) : null, questions };
    }),
  );
  return waiting.filter(({ reason }) => reason !== HELD_WITH_PARENT);
}

/** Runs that wait, by the run of `handles` that is around them. */
export async function waitingBelow(client: Pick<SentinelClient, 'list'>, handles: readonly string[]): Promise<Map<string, { handle: string; name: string }[]>> {
  const wanted = new Set(handles);
  const below = new Map<string, { handle: string; name: string }[]>();
  if (wanted.size === 0) return below;
  for (const { handle, name } of await client.list({ status: 'paused', limit: PAUSED_MAX })) {
    for (let end = handle.lastIndexOf('/'); end !== -1; end = handle.lastIndexOf('/', end - 1)) {
      const around = handle.slice(0, end);
      if (wanted.has(around)) below.set(around, [...(below.get(around) ?? []), { handle, name }]);
    }
  }
  return below;
}
