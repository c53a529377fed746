/** What the store holds of a run that ended, made into a test case. */
import type { Definition } from '../../language/model.ts';
import type { SentinelClient } from '../client.ts';
import { ClientError } from '../client-error.ts';
import { libraryOf, referencesOf } from '../library.ts';
import { nestedEvents } from '../nested-events.ts';
import { recordRun, type Recorded, type StoredRun } from './record.ts';

export async function recordHandle(client: SentinelClient, handle: string): Promise<Recorded & { name: string }> {
  const run = await client.find(handle);
  if (run.finishedAt === null) throw new ClientError('USAGE', `The run ${handle} has not ended; record it when it has.`);
  const { definitions } = await client.store();
  const definition = (await definitions.find(run.definitionHash))?.definition;
  if (definition === undefined) throw new ClientError('DEFINITION_NOT_FOUND', `The store has no definition of the run ${handle}; record a newer run.`);
  const library = await storedLibrary(definition, async (name) => (await definitions.find(name))?.definition);
  const events = await client.events(handle);
  const below = await nestedEvents(client, handle, events);
  const nested = [...below].map(([under, inner]) => ({ under, events: inner, definition: nestedDefinition(definition, library, under) }));
  return { name: run.name, ...(await recordRun({ run, definition, library, events, nested } satisfies StoredRun)) };
}

/** Names are looked up until nothing new is named. */
async function storedLibrary(definition: Definition, find: (name: string) => Promise<Definition | undefined>): Promise<{ [name: string]: Definition }> {
  const found = new Map<string, Definition | undefined>();
  const waiting = referencesOf(definition);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const stored = await find(name);
    found.set(name, stored);
    if (stored !== undefined) waiting.push(...referencesOf(stored));
  }
  return libraryOf(definition, (name) => found.get(name));
}

/** The definition that the nested run at `under` (`steps.2@1/steps.0@1`) runs. */
function nestedDefinition(definition: Definition, library: { [name: string]: Definition }, under: string): Definition | null {
  let here: Definition | undefined = definition;
  for (const key of under.split('/')) {
    const [path = ''] = key.split('@');
    let step: unknown = here;
    for (const part of path.split('.')) step = typeof step === 'object' && step !== null ? (step as { [name: string]: unknown })[part] : undefined;
    const named: Definition | { $ref: string } | undefined = typeof step === 'object' && step !== null && 'definition' in step ? (step.definition as Definition | { $ref: string }) : undefined;
    here = named === undefined ? undefined : '$ref' in named ? library[named.$ref] : named;
    if (here === undefined) return null;
  }
  return here;
}

