/** A definition that a command is handed: read as each door reads it, with what its names mean for who brings it. */
import { readJson } from '../language/expression/json-text.ts';
import { isJsonObject, type Json } from '../language/json.ts';
import type { Definition } from '../language/model.ts';
import { withoutDraftKeys } from '../language/read/draft/draft-keys.ts';
import { replyValue } from '../language/models/reply-value.ts';
import { readStarted, referring, type Handed } from '../language/read/started-program.ts';
import { referredDefinitions } from '../prisma/store/values/referred-definitions.ts';
import type { Saving } from '../prisma/store/contract/sentinel-contract.ts';
import { Failure } from '../world/failures/failures.ts';
import { asStored, refuseBeyond } from './brought.ts';
import type { Context } from './command.ts';
import { withFiles } from './named-definitions.ts';

/**
 * As it is stored. `isDraft`: it may say more of itself than a definition does, which is left out; `dropped` names that.
 * Throws `DEFINITION_INVALID`, and `RIGHTS_EXCEEDED` where it does more than the model that brings it.
 */
export async function readBrought(
  given: Json,
  context: Context,
  { isDraft }: { isDraft: boolean },
): Promise<{ definition: Definition; dropped: string[] }> {
  const { definition: written, dropped } =
    isDraft && isJsonObject(given) ? withoutDraftKeys(given) : { definition: given, dropped: [] };
  const handed: Handed = { written };
  const stored = await referredDefinitions(
    withFiles(context.store, context.commands.catalogue),
    referring(handed),
    context.run,
  );
  const read = readStarted(handed, context.commands.catalogue, Object.fromEntries(stored));
  if ('fault' in read) throw new Failure('DEFINITION_INVALID', read.fault);
  refuseBeyond(read.definition, context.commands.catalogue, context);
  return { definition: asStored(read.definition, context), dropped };
}

/** Of a text. What a model has drafted may stand in a fence. `where`: of the text, in the words of the failure. */
export function definitionValue(text: Json | undefined, where: string): Json {
  const value = typeof text === 'string' ? (readJson(text) ?? replyValue(text)) : null;
  if (isJsonObject(value)) return value;
  throw new Failure('DEFINITION_INVALID', `${where} holds no JSON object, which a definition is; write one`);
}

/** For whom a command saves: the persona of its run, or who calls it. */
export const savingOf = ({ run, caller }: Pick<Context, 'run' | 'caller'>): Saving => ({
  persona: run.persona,
  project: run.project,
  isPerson: caller.kind === 'person',
});
