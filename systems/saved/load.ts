/** Saved sentinels as they are listed and given: whose they are, what their names find, and how their runs went. */
import * as z from 'zod';
import { defined } from '../../language/defined.ts';
import type { JsonObject } from '../../language/json.ts';
import { COMMAND_BOUNDS } from '../../operations/bounds.ts';
import type { Context } from '../../operations/command.ts';
import { loadFile } from '../../operations/named-definitions.ts';
import type { SavedSentinel } from '../../prisma/store/contract/sentinel-contract.ts';

/** Of a list, where it does not say otherwise. */
const listMax = 1_000;

export const Name = z.string().min(1);
const Definition = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);
const Version = z.strictObject({ version: z.number(), id: z.string(), savedAt: z.string() });

export const Listed = Version.extend({
  name: z.string(),
  description: z.string().nullable(),
  personaId: z.string(),
  project: z.string(),
  parentPersonaId: z.string().nullable(),
  tags: z.array(z.string()),
  isPublic: z.boolean(),
  runCount: z.number(),
  successRate: z.number().nullable(),
  averageDurationMs: z.number().nullable(),
  lastRunAt: z.string().nullable(),
});
export type Listed = z.infer<typeof Listed>;

export const LoadResult = z.union([
  z.array(Listed),
  Listed.extend({ definition: Definition, versions: z.array(Version) }),
  z.null(),
]);

export const LoadParams = z
  .strictObject({
    name: Name.optional().describe('or the id of a version'),
    personaId: z.string().min(1).optional().describe('those of this persona'),
    after: Name.optional().describe('the last name of the list before'),
    limit: z.number().int().positive().max(COMMAND_BOUNDS.rowsMax).default(listMax),
  })
  .refine(
    ({ name, after, personaId }) => name === undefined || (after ?? personaId) === undefined,
    'the one of a name is given whole: leave out "personaId" and "after"',
  );

export const timeOf = (at: number): string => new Date(at).toISOString();

export const listedOf = (one: SavedSentinel): Listed => ({
  name: one.name,
  version: one.version,
  id: one.hash,
  savedAt: timeOf(one.savedAt),
  description: one.definition.description ?? null,
  personaId: one.persona,
  project: one.project,
  parentPersonaId: one.parentPersona,
  tags: one.tags,
  isPublic: one.isPublic,
  runCount: one.runCount,
  successRate: one.successRate,
  averageDurationMs: one.averageDurationMs,
  lastRunAt: one.lastRunAt === null ? null : timeOf(one.lastRunAt),
});

export async function load(
  { name, personaId, after, limit }: z.infer<typeof LoadParams>,
  context: Context,
): Promise<z.infer<typeof LoadResult>> {
  const { store, session, run, confinement, commands } = context;
  if (name === undefined) {
    // A model has to do with its own project.
    const project = confinement?.byModel === true ? run.project : undefined;
    const query = { limit, ...defined({ persona: personaId, project, after }) };
    return (await store.sentinels.list(session, query)).map(listedOf);
  }
  const file = await loadFile(name, run, { definitions: store.definitions, catalogue: commands.catalogue });
  const found = await store.sentinels.find(session, file?.hash ?? name, run);
  if (found === null) return null;
  const versions = await store.sentinels.versions(session, found.id);
  return {
    ...listedOf(found),
    definition: found.definition as unknown as JsonObject,
    versions: versions.map(({ version, hash, savedAt }) => ({ version, id: hash, savedAt: timeOf(savedAt) })),
  };
}
