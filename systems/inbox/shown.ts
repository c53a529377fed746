/** An item of the inbox as commands give it, whether a run asks or tells it, or somebody has posted it. */
import type { Json, JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { Context } from '../../operations/command.ts';
import type { Item } from './items.ts';

export interface ShownItem {
  itemId: string;
  /** Of the run that asks, tells or has posted it; null: a person posted it. */
  handle: string | null;
  /** Within that run, of what it asks or tells; else the `itemId`. */
  id: string;
  persona: string;
  kind: string;
  message: string;
  priority: string;
  choices: Json[];
  show: Json;
  form: JsonObject | null;
  digest: string | null;
  askedAt: number;
  expiresAt: number | null;
  state: string;
  answer: Json;
  domain: string | null;
  /** Who posted it; null: a run asks or tells it. */
  by: string | null;
  /** A model has written it, and not the definition of a run. */
  byModel: boolean;
  takenBy: string | null;
  takenUntil: number | null;
}

export const shownItem = ({
  id,
  at,
  takenBy,
  takenHandle,
  takenUntil,
  closedBy,
  answer,
  ...item
}: Item): ShownItem => ({
  ...item,
  itemId: id,
  id,
  choices: [],
  form: null,
  digest: null,
  askedAt: at,
  expiresAt: null,
  answer: closedBy === null ? null : { by: closedBy, ...(answer as JsonObject | null) },
  takenBy: takenHandle ?? takenBy,
  takenUntil,
});

/** What runs ask and tell. */
export async function ofRuns(
  { store, session, confinement, run }: Context,
  { persona, handle, id }: { persona?: readonly string[] | undefined; handle?: string; id?: string },
  { order, limit }: { order: 'next' | 'newest' | 'all'; limit: number },
): Promise<ShownItem[]> {
  const project = confinement?.byModel === true ? run.project : undefined;
  const query = { all: order === 'all', limit, ...defined({ persona, handle, id, project }) };
  const found = await store.inbox.list({ ...query, ...(order === 'next' ? { order } : {}) }, session);
  return found.map(({ handle: of, id: within, answer, ...item }) => ({
    ...item,
    itemId: `${of}/${within}`,
    handle: of,
    id: within,
    answer: answer as unknown as Json,
    domain: null,
    by: null,
    byModel: false,
    takenBy: null,
    takenUntil: null,
  }));
}
