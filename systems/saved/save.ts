/** `sentinel/save`: a definition becomes a saved sentinel of the persona that saves it, or a new version of its own. */
import * as z from 'zod';
import { isJsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { isPersonaId, personaRule } from '../../language/persona-id.ts';
import { defined } from '../../language/defined.ts';
import { definitionValue, readBrought, savingOf } from '../../operations/brought-definition.ts';
import type { Context } from '../../operations/command.ts';
import type { StoredDefinition } from '../../prisma/store/contract/contract.ts';
import type { Saving } from '../../prisma/store/contract/sentinel-contract.ts';
import { Listed, listedOf, timeOf } from './load.ts';

const tagsMax = 100;
const tagLengthMax = 200;
const nameLengthMax = 200;

export const Tags = z.array(z.string().trim().min(1).max(tagLengthMax)).max(tagsMax);

export const SaveParams = z.strictObject({
  definition: z.union([z.string().min(1), z.record(z.string(), Value)]),
  name: z.string().trim().min(1).max(nameLengthMax).optional().describe('in place of its own'),
  tags: Tags.optional(),
  isPublic: z.boolean().optional(),
  parentPersonaId: z.string().refine(isPersonaId, `must be the id of a persona: ${personaRule}`).optional(),
});

export const SaveResult = Listed;

export async function save(params: z.infer<typeof SaveParams>, context: Context): Promise<Listed> {
  const { definition: given, name, tags, isPublic, parentPersonaId } = params;
  const written = typeof given === 'string' ? definitionValue(given, '"definition"') : given;
  const named = name === undefined || !isJsonObject(written) ? written : { ...written, name };
  const { definition } = await readBrought(named, context, { isDraft: true });
  // A name is a person's to move: what a model stores, or has drafted, is found by its id.
  if (context.confinement?.byModel === true) return keptOf(await context.store.definitions.keep(definition), context);
  const by: Saving = { ...savingOf(context), ...defined({ tags, isPublic, parentPersona: parentPersonaId }) };
  return listedOf(await context.store.sentinels.save(context.session, definition, by));
}

/** It is nobody's, and no name finds it. */
const keptOf = ({ name, version, hash, createdAt, definition }: StoredDefinition, { run }: Context): Listed => ({
  name,
  version,
  id: hash,
  savedAt: timeOf(createdAt),
  description: definition.description ?? null,
  personaId: run.persona,
  project: run.project,
  parentPersonaId: null,
  tags: [],
  isPublic: false,
  runCount: 0,
  successRate: null,
  averageDurationMs: null,
  lastRunAt: null,
});
