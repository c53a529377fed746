/** `sentinel/import`: what a signed file holds is saved for a persona, as a whole or not at all. */
import * as z from 'zod';
import type { Json } from '../../language/json.ts';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import type { Definition } from '../../language/model.ts';
import { parseDefinition } from '../../language/read/definition.ts';
import { problemsInWords } from '../../language/read/remedies/problems-in-words.ts';
import { changedAction, refuseChanged } from '../../operations/approved-action.ts';
import type { Caller } from '../../operations/caller.ts';
import type { Context } from '../../operations/command.ts';
import { savingOf } from '../../operations/brought-definition.ts';
import { readWhole } from '../../operations/files/whole-file.ts';
import type { Saving, Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';
import { Failure } from '../../world/failures/failures.ts';
import { knownSigner } from '../../operations/signed-documents.ts';
import { type Payload, readExport } from './document.ts';
import { Change, changesFor } from './plan.ts';

export const ImportParams = z.strictObject({
  file: z.string().min(1).describe('in the project'),
  personaId: z
    .string()
    .refine(isPersonaId, `must be the id of a persona: ${personaRule}`)
    .optional()
    .describe('whose it is from then on; the owner of the run unless stated'),
  addToMemory: z.boolean().optional().describe('the persona remembers it, so that memory/recall finds it'),
  preview: z.boolean().optional().describe('says what would be done, and does nothing'),
  expects: z
    .string()
    .optional()
    .describe('"digest" of a preview: where it would be something else by now, nothing is done'),
});

export const ImportResult = z.strictObject({
  name: z.string(),
  id: z.string(),
  personaId: z.string(),
  signer: z.strictObject({ fingerprint: z.string(), name: z.string() }),
  exportedBy: z.string(),
  changes: z.array(Change),
  versions: z.number(),
  commands: z.array(z.string()),
  runs: z.number().nullable(),
  digest: z.string(),
  done: z.boolean(),
  addedToMemory: z.boolean(),
});
type Result = z.infer<typeof ImportResult>;

export async function importSentinel(params: z.infer<typeof ImportParams>, context: Context): Promise<Result> {
  const { preview = false, expects } = params;
  const document = await documentIn(params.file, context);
  const plan = await planOf(document, params, context);
  if (preview) return plan;
  const changed = changedAction('sentinel/import');
  if (expects !== undefined && expects !== plan.digest) throw changed;
  await refuseChanged(context, () => plan, changed);
  await saveAll(document, params, context);
  if (params.addToMemory === true) await remember(document.payload, plan.personaId, context);
  return { ...plan, done: true, addedToMemory: params.addToMemory === true };
}

/** Who starts an import by hand says for which persona it is, also for its memory; another run needs that one's trust. */
async function asPerson({ caller, run, store }: Context): Promise<{ caller?: Caller }> {
  if (caller.kind !== 'step') return {};
  const found = await store.runs.find(run.handle);
  return found?.startedBy === 'person' && found.parent === null
    ? { caller: { kind: 'person', name: run.persona } }
    : {};
}

/** As what a persona remembers of a definition that has served it, with how it has served whoever exported it. */
async function remember({ name, current, versions, tags, statistics }: Payload, personaId: string, context: Context) {
  const definition = versions.find(({ id }) => id === current)?.definition;
  const { description = null } = definition ?? {};
  const { runCount: executions, successRate, averageDurationMs: avgDurationMs, lastRunAt } = statistics;
  const served = { executions, successRate, avgDurationMs, lastRunAt };
  const content = { name, description, id: current, definition: definition as unknown as Json, ...served };
  const memory = { personaId, type: 'sentinel', content, tags: ['skill', 'imported', name, ...tags] };
  await context.call('memory/store', memory, await asPerson(context));
}

/** What a person is shown who is asked whether it may be done. */
export const shownImport = async (params: z.infer<typeof ImportParams>, context: Context): Promise<Json> =>
  planOf(await documentIn(params.file, context), params, context);

interface Known {
  payload: Payload;
  signer: { fingerprint: string; name: string };
}

async function documentIn(file: string, context: Context): Promise<Known> {
  const place = `"${file}"`;
  const { payload, signer } = readExport((await readWhole(file, context)).toString('utf8'), place);
  return { payload, signer: knownSigner(signer, place) };
}

const ownerOf = ({ personaId }: z.infer<typeof ImportParams>, { run }: Context): Seeker => ({
  persona: personaId ?? run.persona,
  project: run.project,
});

async function planOf(
  { payload, signer }: Known,
  params: z.infer<typeof ImportParams>,
  context: Context,
): Promise<Result> {
  const owner = ownerOf(params, context);
  const [current, ...others] = definitionsOf(payload, context);
  if (current === undefined) throw new Error('bug: an export without its own definition');
  for (const { name } of [current, ...others]) await refuseTaking(name, owner, context);
  const changes = await changesFor([current, ...others], owner, context);
  const { name, versions, by: exportedBy, history } = payload;
  const id = payload.current;
  return {
    name,
    id,
    personaId: owner.persona,
    signer,
    exportedBy,
    changes,
    versions: versions.length,
    commands: payload.commands,
    runs: history?.length ?? null,
    digest: contentHash({ id, owner, changes, versions: versions.map((one) => one.id) }),
    done: false,
    addedToMemory: false,
  };
}

/** The one that the name is to find, and what it names. Throws `DEFINITION_INVALID` where a reader of definitions refuses one. */
function definitionsOf({ versions, library, current }: Payload, context: Context): Definition[] {
  const { catalogue } = context.commands;
  const brought = new Map(library.map(({ name, definition }) => [name, definition]));
  const own = versions.filter(({ id }) => id === current).map(({ definition }) => definition);
  for (const definition of [...versions.map((one) => one.definition), ...brought.values()]) {
    // An older version may name what a later one does not, and what is not in the file.
    const isCurrent = own.includes(definition) || brought.get(definition.name) === definition;
    const knownRefs = (name: string): Definition | undefined =>
      brought.get(name) ?? own.find((one) => one.name === name) ?? (isCurrent ? undefined : anything(name));
    const read = parseDefinition(definition, { catalogue, knownRefs });
    if (!read.ok) throw new Failure('DEFINITION_INVALID', `"${definition.name}": ${problemsInWords(read.problems)}`);
    if (contentHash(read.definition) !== contentHash(definition))
      throw new Failure(
        'EXPORT_INVALID',
        `"${definition.name}" in the file is not in its canonical form; export it again`,
      );
  }
  return [...own, ...brought.values()];
}

const anything = (name: string): Definition => ({ name, steps: [], loop: { type: 'once' } });

/** What a person has saved for a persona is that persona's alone to save over, and a person's. */
async function refuseTaking(name: string, owner: Seeker, { caller, run, store, session }: Context): Promise<void> {
  if (caller.kind === 'person' || owner.persona === run.persona) return;
  const found = await store.sentinels.own(session, name, owner);
  if (found?.byPerson !== true) return;
  throw new Failure(
    'SENTINEL_NAME_TAKEN',
    `a person has saved "${name}" for ${owner.persona}, and a run of ${run.persona} does not save over it; import it for another persona`,
  );
}

/** In the order of names, in which every writer takes them. */
async function saveAll(
  { payload, signer }: Known,
  params: z.infer<typeof ImportParams>,
  context: Context,
): Promise<void> {
  const { store, session } = context;
  const { name, versions, library, current, tags, owner: parentPersona, isPublic } = payload;
  const by: Saving = { ...savingOf(context), ...ownerOf(params, context) };
  const origin = originOf(payload, signer.fingerprint);
  const own = [
    ...versions.toReversed().filter(({ id }) => id !== current),
    ...versions.filter(({ id }) => id === current),
  ].map(({ definition }) => definition);
  const all = new Map<string, Definition[]>(library.map((one) => [one.name, [one.definition]]));
  all.set(name, own);
  for (const [saved, definitions] of [...all].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const said = saved === name ? { tags, isPublic, parentPersona, origin } : { origin };
    for (const definition of definitions) await store.sentinels.save(session, definition, { ...by, ...said });
  }
}

/** From where it came, and from where it had come there. */
const originOf = (payload: Payload, fingerprint: string): Json => ({
  fingerprint,
  installation: payload.installation,
  exportedBy: payload.by,
  exportedAt: payload.exportedAt,
  owner: payload.owner,
  id: payload.current,
  statistics: payload.statistics,
  history: payload.history,
  before: payload.origin,
});
