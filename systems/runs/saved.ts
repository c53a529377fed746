/** Definitions that are saved under a name: seen, and their name taken from them. */
import * as z from 'zod';
import type { JsonObject } from '../../language/json.ts';
import { type Command, type Context, defineCommand } from '../../operations/command.ts';
import type { StoredDefinition } from '../../prisma/store/contract/contract.ts';

const Name = z.string().min(1);
const Version = z.strictObject({ name: z.string(), version: z.number(), id: z.string(), savedAt: z.string() });
const Definition = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);
const One = Version.extend({ definition: Definition, versions: z.array(Version.omit({ name: true })) });

const reportOf = ({ name, version, hash, createdAt }: StoredDefinition) => ({
  name,
  version,
  id: hash,
  savedAt: new Date(createdAt).toISOString(),
});

async function load({ name }: { name?: string | undefined }, { store: { definitions } }: Context) {
  if (name === undefined)
    return (await definitions.list()).map((one) => ({
      ...reportOf(one),
      description: one.definition.description ?? null,
    }));
  const found = await definitions.find(name);
  if (found === null) return null;
  const versions = (await definitions.versions(found.name)).map((one) => {
    const { name: _name, ...version } = reportOf(one);
    return version;
  });
  return { ...reportOf(found), definition: found.definition as unknown as JsonObject, versions };
}

export const savedCommands: Command[] = [
  defineCommand({
    name: 'sentinel/load',
    description:
      'Lists the saved definitions, or gives the one of a name or an id, with the versions of its name; null if there is none.',
    permission: 'read',
    speed: 'quick',
    params: z.strictObject({ name: Name.optional() }),
    result: z.union([z.array(Version.extend({ description: z.string().nullable() })), One, z.null()]),
    run: load,
  }),
  defineCommand({
    name: 'sentinel/delete',
    description: 'Takes the name from a saved definition. Runs, schedules and triggers keep theirs.',
    permission: 'delete',
    speed: 'quick',
    // A name is moved by a person, or by what a person wrote.
    doors: ['step', 'person'],
    params: z.strictObject({ name: Name }),
    result: z.strictObject({ name: z.string(), deleted: z.boolean() }),
    run: async ({ name }, { store, session }) => ({ name, deleted: await store.definitions.forget(name, session) }),
  }),
];
