/** `sentinel/save`: a definition becomes a saved sentinel of the persona that saves it, or a new version of its own. */
import * as z from 'zod';
import { isJsonObject } from '../../language/json.ts';
import { Value } from '../../language/model.ts';
import { defined } from '../../language/defined.ts';
import { definitionValue, readBrought, savingOf } from '../../operations/brought-definition.ts';
import type { Context } from '../../operations/command.ts';
import type { Saving } from '../../prisma/store/contract/sentinel-contract.ts';
import { Listed, listedOf } from './load.ts';

const tagsMax = 100;
const tagLengthMax = 200;
const nameLengthMax = 200;

export const Tags = z.array(z.string().trim().min(1).max(tagLengthMax)).max(tagsMax);

export const SaveParams = z.strictObject({
  definition: z.union([z.string().min(1), z.record(z.string(), Value)]),
  name: z.string().trim().min(1).max(nameLengthMax).optional().describe('in place of its own'),
  tags: Tags.optional(),
  isPublic: z.boolean().optional(),
  parentPersonaId: z.string().min(1).optional(),
});

export const SaveResult = Listed;

export async function save(params: z.infer<typeof SaveParams>, context: Context): Promise<Listed> {
  const { definition: given, name, tags, isPublic, parentPersonaId } = params;
  const written = typeof given === 'string' ? definitionValue(given, '"definition"') : given;
  const named = name === undefined || !isJsonObject(written) ? written : { ...written, name };
  const { definition } = await readBrought(named, context, { isDraft: true });
  const by: Saving = { ...savingOf(context), ...defined({ tags, isPublic, parentPersona: parentPersonaId }) };
  return listedOf(await context.store.sentinels.save(context.session, definition, by));
}
