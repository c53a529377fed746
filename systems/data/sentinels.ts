/** The collection of saved sentinels: read as any other, and written by the commands that save and delete them. */
import type { JsonObject } from '../../language/json.ts';
import { SENTINELS_COLLECTION } from '../../prisma/store/contract/sentinel-contract.ts';
import { Failure } from '../../world/failures/failures.ts';
import type { CommandContext } from '../../operations/command.ts';

export function refuseWrite(command: string, collection: string): void {
  if (collection !== SENTINELS_COLLECTION) return;
  throw new Failure(
    'COLLECTION_READ_ONLY',
    `${command}: the collection "${collection}" shows what is saved, and is only read; sentinel/save saves a definition, and sentinel/delete deletes one`,
  );
}

/** What a caller sees of a collection: of saved sentinels, a model has to do with those of its own project. */
export function seenBy(
  { run, confinement }: Pick<CommandContext, 'run' | 'confinement'>,
  collection: string,
  filter: JsonObject | undefined,
): JsonObject | undefined {
  if (collection !== SENTINELS_COLLECTION || confinement?.byModel !== true) return filter;
  const own = { project: run.project };
  return filter === undefined ? own : { $and: [filter, own] };
}

/** A name may be several's: read by it, it is the one that the name finds. */
export async function nearest(
  { collection, filter, id }: { collection: string; filter: JsonObject; id: string | undefined },
  { store, session, run }: CommandContext,
): Promise<JsonObject> {
  if (collection !== SENTINELS_COLLECTION || id === undefined) return filter;
  const found = await store.sentinels.find(session, id, run);
  return found === null ? filter : { ...filter, createdBy: found.persona, project: found.project };
}
