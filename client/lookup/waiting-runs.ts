/** Nested runs that wait to be told something, seen from a run around them, which goes on or waits for them. */
import { HELD_WITH_PARENT } from '../../language/events/question.ts';
import type { InboxItem, Store } from '../../prisma/store/contract/contract.ts';

export interface WaitingRun {
  handle: string;
  name: string;
  /** Why it is held, where something but a question holds it. */
  reason: string | null;
  /** Ids of what it asks. */
  questions: string[];
}

interface Stored {
  store(): Promise<Store>;
}

/** `open`: what the run and those nested in it ask. */
export async function waitingWithin(
  client: Stored & { heldBy(handle: string): Promise<{ reason: string } | null> },
  handle: string,
  open: readonly InboxItem[],
): Promise<WaitingRun[]> {
  const paused = await (await client.store()).runs.pausedBelow([handle]);
  const waiting = await Promise.all(
    paused.map(async ({ handle: of, name }) => {
      const questions = open.filter((item) => item.handle === of).map(({ id }) => id);
      return {
        handle: of,
        name,
        reason: questions.length === 0 ? ((await client.heldBy(of))?.reason ?? null) : null,
        questions,
      };
    }),
  );
  return waiting.filter(({ reason }) => reason !== HELD_WITH_PARENT);
}

/** Handles of runs that wait, by the run of `handles` that is around them. */
export async function waitingBelow(client: Stored, handles: readonly string[]): Promise<Map<string, string[]>> {
  const below = new Map<string, string[]>();
  if (handles.length === 0) return below;
  for (const { handle, around } of await (await client.store()).runs.pausedBelow(handles))
    below.set(around, [...(below.get(around) ?? []), handle]);
  return below;
}
