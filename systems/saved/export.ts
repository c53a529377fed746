/** `sentinel/export`: a saved sentinel with its versions and what it names, as a signed file of the project. */
import * as z from 'zod';
import { entriesFor } from '../../language/catalogue.ts';
import type { Definition } from '../../language/model.ts';
import { writeWhole } from '../../operations/files/whole-file.ts';
import type { Context } from '../../operations/command.ts';
import type { SavedSentinel, SentinelVersion } from '../../prisma/store/contract/sentinel-contract.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { referredDefinitions } from '../../prisma/store/values/referred-definitions.ts';
import { Failure } from '../../world/failures/failures.ts';
import { refuseSecrets } from '../../operations/signed-documents.ts';
import { exportText, type Payload, type RunRow } from './document.ts';
import { Name, timeOf } from './load.ts';

/** Runs in an export, the newest ones. */
const historyMax = 1_000;

export const ExportParams = z.strictObject({
  sentinelId: Name.describe('the name of a saved sentinel, or the id of a version'),
  output: z.string().min(1).describe('the file to write, in the project'),
  includeHistory: z.boolean().default(false).describe('with how its runs went'),
});

export const ExportResult = z.strictObject({
  path: z.string(),
  name: z.string(),
  id: z.string(),
  version: z.number(),
  versions: z.number(),
  with: z.array(z.string()),
  commands: z.array(z.string()),
  runs: z.number().nullable(),
});

export async function exportSentinel(
  { sentinelId, output, includeHistory }: z.infer<typeof ExportParams>,
  context: Context,
): Promise<z.infer<typeof ExportResult>> {
  const found = await foundIn(sentinelId, context);
  const payload = await payloadOf(found, includeHistory, context);
  const text = exportText(payload);
  refuseSecrets(text, found.name, 'let the definition name the variable in "env", and save it again', context);
  await writeWhole(output, Buffer.from(text, 'utf8'), context);
  const { name, hash: id, version } = found;
  const { versions, library, commands, history } = payload;
  return {
    path: output,
    name,
    id,
    version,
    versions: versions.length,
    with: library.map((one) => one.name),
    commands,
    runs: history?.length ?? null,
  };
}

/** Throws `SENTINEL_NOT_FOUND`. */
export async function foundIn(sentinelId: string, { store, session, run }: Context): Promise<SavedSentinel> {
  const found = await store.sentinels.find(session, sentinelId, run);
  if (found !== null) return found;
  throw new Failure(
    'SENTINEL_NOT_FOUND',
    `there is no saved sentinel "${sentinelId}"; sentinel/load lists those there are`,
  );
}

/** What a definition names: the definitions, and the commands of all of them. */
export async function neededBy(
  definitions: readonly Definition[],
  { store, run, commands }: Pick<Context, 'store' | 'run' | 'commands'>,
): Promise<{ library: Definition[]; commands: string[] }> {
  const referred = await referredDefinitions(store, definitions, run);
  const library = [...referred.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const named = entriesFor(commands.catalogue, [...definitions, ...library]);
  return { library, commands: Object.keys(named).toSorted() };
}

async function payloadOf(found: SavedSentinel, includeHistory: boolean, context: Context): Promise<Payload> {
  const { store, session, run } = context;
  const versions = await store.sentinels.versions(session, found.id);
  const { library, commands } = await neededBy([found.definition], context);
  return {
    exportedAt: timeOf(context.now()),
    by: run.persona,
    installation: await store.installation(),
    name: found.name,
    owner: found.persona,
    parentPersonaId: found.parentPersona,
    tags: found.tags,
    isPublic: found.isPublic,
    origin: found.origin,
    statistics: {
      runCount: found.runCount,
      successRate: found.successRate,
      averageDurationMs: found.averageDurationMs,
      lastRunAt: found.lastRunAt === null ? null : timeOf(found.lastRunAt),
    },
    current: found.hash,
    versions: versions.map(({ version, hash, savedAt, definition }) => ({
      version,
      id: hash,
      savedAt: timeOf(savedAt),
      definition,
    })),
    library: library.map((definition) => ({ name: definition.name, id: contentHash(definition), definition })),
    commands,
    history: includeHistory ? await historyOf(found, versions, context) : null,
  };
}

/** How runs went, and nothing of what they were given or found: that may be anybody's. */
async function historyOf(
  { name, project }: SavedSentinel,
  versions: readonly SentinelVersion[],
  { store }: Context,
): Promise<RunRow[]> {
  const hashes = new Set(versions.map(({ hash }) => hash));
  const runs = await store.runs.list({ name, limit: historyMax, ...(project === '' ? {} : { project }) });
  return runs
    .filter(({ definitionHash }) => hashes.has(definitionHash))
    .map(({ handle, definitionHash, persona, status, outcome, failure, iterations, startedAt, finishedAt }) => ({
      handle,
      id: definitionHash,
      persona,
      status,
      outcome,
      failure: failure?.code ?? null,
      iterations,
      startedAt: timeOf(startedAt),
      durationMs: finishedAt === null ? null : finishedAt - startedAt,
    }));
}
