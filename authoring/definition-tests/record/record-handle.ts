/** What the store holds of a run that ended, made into a test case. */
import type { Definition } from '../../../language/model.ts';
import type { OpenClient } from '../../../client/open-client.ts';
import { ClientError } from '../../../runs/client-error.ts';
import { libraryOf, referencesOf } from '../../../runs/library.ts';
import { nestedEvents } from '../../../client/follow/nested-events.ts';
import { reachedDefinitions } from '../../../prisma/store/values/referred-definitions.ts';
import { definitionWithin } from '../../../client/show/run-graph.ts';
import { recordRun, type Recorded, type StoredRun } from './record.ts';

export async function recordHandle(client: OpenClient, handle: string): Promise<Recorded & { name: string }> {
  const run = await client.find(handle);
  if (run.finishedAt === null)
    throw new ClientError('USAGE', `The run ${handle} has not ended; record it when it has.`);
  if (run.parent !== null)
    throw new ClientError(
      'USAGE',
      `The run ${handle} is nested in another, and is recorded with it: record ${run.parent}.`,
    );
  if (run.failure?.code === 'RUN_LOST')
    throw new ClientError(
      'USAGE',
      `The run ${handle} was ended from outside, which no definition leads to; record another one.`,
    );
  const { definitions, conversations } = await client.store();
  const definition = (await definitions.find(run.definitionHash))?.definition;
  if (definition === undefined)
    throw new ClientError(
      'DEFINITION_NOT_FOUND',
      `The store has no definition of the run ${handle}; record a newer run.`,
    );
  const stored = await reachedDefinitions(
    referencesOf(definition),
    async (name) => (await definitions.find(name))?.definition,
    referencesOf,
  );
  const library = libraryOf(definition, (name) => stored.get(name));
  const events = await client.events(handle);
  const catalogue = await client.catalogue(run.project);
  const below = await nestedEvents(client, handle, events);
  const around = new Map([['', events], ...below]);
  const known = (name: string): Definition | undefined => library[name];
  const nested = await Promise.all(
    [...below].map(async ([under, inner]) => ({
      under,
      events: inner,
      definition: definitionWithin(definition, under.split('/'), known, around) ?? null,
      turns: await conversations.turns(`${handle}/${under}`),
    })),
  );
  const turns = await conversations.turns(handle);
  return {
    name: run.name,
    ...(await recordRun({ run, definition, library, catalogue, events, nested, turns } satisfies StoredRun)),
  };
}
