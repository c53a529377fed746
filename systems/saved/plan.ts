/** What an import or a deployment would change, said before it is done. */
import { createTwoFilesPatch } from 'diff';
import * as z from 'zod';
import { inOrder } from '../../language/read/key-order.ts';
import type { Definition } from '../../language/model.ts';
import type { Context } from '../../operations/command.ts';
import type { Seeker } from '../../prisma/store/contract/sentinel-contract.ts';
import { contentHash } from '../../prisma/store/values/content-hash.ts';

export const Change = z.strictObject({
  name: z.string(),
  /** Of its definition. */
  id: z.string(),
  state: z.enum(['new', 'same', 'changed']),
  /** From what the name finds for its owner there to what it would; empty where that is the same. */
  diff: z.string(),
});
export type Change = z.infer<typeof Change>;

export async function changesFor(
  definitions: readonly Definition[],
  owner: Seeker,
  { store, session }: Pick<Context, 'store' | 'session'>,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const definition of definitions) {
    const { name } = definition;
    const found = await store.sentinels.own(session, name, owner);
    const id = contentHash(definition);
    const state = found === null ? 'new' : found.hash === id ? 'same' : 'changed';
    changes.push({
      name,
      id,
      state,
      diff: state === 'same' ? '' : diffOf(name, found?.definition ?? null, definition),
    });
  }
  return changes;
}

const textOf = (definition: Definition | null): string =>
  definition === null ? '' : `${JSON.stringify(inOrder(definition), null, 2)}\n`;

const diffOf = (name: string, before: Definition | null, after: Definition): string =>
  createTwoFilesPatch(before === null ? '(none)' : name, name, textOf(before), textOf(after), undefined, undefined, {
    context: 3,
  });
