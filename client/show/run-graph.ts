/**
 * The graph of a run: its definition as it was edited, with what its events say of each step laid over
 * it. The run's row names the definition; a nested run's is found in what led to it.
 */
import { drawRunTree } from '../../language/graph/draw-run.ts';
import type { Graph } from '../../language/graph/graph.ts';
import { RunTree } from '../../language/graph/run-tree.ts';
import type { Definition } from '../../language/model.ts';
import type { RunEvent } from '../../language/events/run-event.ts';
import { reachedDefinitions } from '../../prisma/store/values/referred-definitions.ts';
import { ClientError } from '../client.ts';
import type { OpenClient } from '../open-client.ts';
import { referencesOf } from '../../runs/library.ts';
import { nestedEvents } from '../follow/nested-events.ts';

export interface RunParts {
  definition: Definition;
  known: (name: string) => Definition | undefined;
  events: readonly RunEvent[];
  /** Events of nested runs, by what their handle adds to the run's own. */
  nested?: ReadonlyMap<string, readonly RunEvent[]>;
}

export function drawRun({ definition, known, events, nested = new Map() }: RunParts): Graph {
  return drawRunTree(new RunTree({ definition, known, nested }, events), known);
}

/** `inFiles` finds what `$ref`s name where the store does not have it. */
export async function runGraph(
  client: OpenClient,
  handle: string,
  inFiles: (name: string) => Definition | undefined,
): Promise<Graph> {
  await client.find(handle);
  const [outermost = handle, ...keys] = handle.split('/');
  const store = await client.store();
  const { definitionHash } = await client.find(outermost);
  const root = (await store.definitions.find(definitionHash))?.definition;
  if (root === undefined) throw notKept(handle);
  const around = await eventsOnTheWay(client, outermost, keys);
  const find = async (name: string): Promise<Definition | undefined> =>
    (await store.definitions.find(name))?.definition ?? inFiles(name);
  const stored = await reachedDefinitions(
    [root, ...addedSteps([...around.values()].flat())].flatMap(referencesOf),
    find,
    referencesOf,
  );
  const known = (name: string): Definition | undefined => stored.get(name);
  const definition = definitionWithin(root, keys, known, around);
  if (definition === undefined) throw notKept(handle);
  const events = await client.events(handle);
  const nested = await nestedEvents(client, handle, events);
  const edits = addedSteps([...events, ...[...nested.values()].flat()]);
  for (const [name, found] of await reachedDefinitions(edits.flatMap(referencesOf), find, referencesOf))
    stored.set(name, found);
  return drawRun({ definition, known, events, nested });
}

function notKept(handle: string): ClientError {
  return new ClientError(
    'DEFINITION_NOT_FOUND',
    `The definition that ${handle} runs is not in the store; "sentinel trace ${handle}" shows what it did.`,
  );
}

/** Events of the runs around the one that the keys lead to, by what their handle adds to the outermost one's. */
async function eventsOnTheWay(
  client: OpenClient,
  outermost: string,
  keys: readonly string[],
): Promise<Map<string, RunEvent[]>> {
  const around = keys.map((_, depth) => keys.slice(0, depth).join('/'));
  const read = await Promise.all(
    around.map((under) => client.events([outermost, under].filter((part) => part !== '').join('/'))),
  );
  return new Map(around.map((under, index) => [under, read[index] ?? []]));
}

/** Steps that edits brought in may name definitions, too. */
function addedSteps(events: readonly RunEvent[]): Pick<Definition, 'steps'>[] {
  return events.flatMap((event) => (event.type === 'edited' && event.after !== null ? [{ steps: [event.after] }] : []));
}

/** What a nested run was started with, from the keys of the steps that lead to it and what went on around it. */
export function definitionWithin(
  root: Definition,
  keys: readonly string[],
  known: (name: string) => Definition | undefined,
  around: ReadonlyMap<string, readonly RunEvent[]>,
): Definition | undefined {
  if (keys.length === 0) return root;
  const wanted = keys.join('/');
  const nested = new Map([...around, [wanted, []]]);
  return new RunTree({ definition: root, known, nested }, around.get('') ?? []).startedWith(wanted);
}
