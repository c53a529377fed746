/**
 * The graph of a run: its definition, with what its events say of each step laid over it. The run's
 * row names the definition; a nested run's is found in the one around it.
 */
import { graphOf } from '../language/graph/draw.ts';
import type { Graph } from '../language/graph/graph.ts';
import { foldStates, prefixOf, withStates, type RunStates } from '../language/graph/run-states.ts';
import type { Definition, Step } from '../language/model.ts';
import type { RunEvent } from '../language/run-event.ts';
import { ClientError, type SentinelClient } from './client.ts';
import { libraryOf } from './library.ts';
import { nestedEvents } from './nested-events.ts';

export interface RunParts {
  definition: Definition;
  known: (name: string) => Definition | undefined;
  events: readonly RunEvent[];
  /** Events of nested runs, by what their handle adds to the run's own. */
  nested?: ReadonlyMap<string, readonly RunEvent[]>;
}

export function drawRun({ definition, known, events, nested = new Map() }: RunParts): Graph {
  const states: RunStates = new Map();
  foldStates(states, events);
  for (const [under, below] of nested) foldStates(states, below, prefixOf(under));
  return withStates(graphOf(definition, { knownRefs: known }), states);
}

/** `inFiles` finds what `$ref`s name where the store does not have it. */
export async function runGraph(client: SentinelClient, handle: string, inFiles: (name: string) => Definition | undefined): Promise<Graph> {
  const run = await client.find(handle);
  const events = await client.events(handle);
  const nested = await nestedEvents(client, handle, events);
  const store = await client.store();
  const [outermost = handle, ...keys] = handle.split('/');
  const hash = keys.length === 0 ? run.definitionHash : (await client.find(outermost)).definitionHash;
  const root = (await store.definitions.find(hash))?.definition;
  if (root === undefined) throw notKept(handle);
  const stored = await storedLibrary(root, async (name) => (await store.definitions.find(name))?.definition ?? inFiles(name));
  const known = (name: string): Definition | undefined => stored.get(name);
  const definition = definitionWithin(root, keys, known);
  if (definition === undefined) throw notKept(handle);
  return drawRun({ definition, known, events, nested });
}

function notKept(handle: string): ClientError {
  return new ClientError('DEFINITION_NOT_FOUND', `The definition that ${handle} runs is not in the store; "sentinel trace ${handle}" shows what it did.`);
}

async function storedLibrary(root: Definition, find: (name: string) => Promise<Definition | undefined>): Promise<Map<string, Definition>> {
  const found = new Map<string, Definition>();
  const asked = new Set<string>();
  for (;;) {
    const missing = new Set<string>();
    libraryOf(root, (name) => {
      if (!found.has(name) && !asked.has(name)) missing.add(name);
      return found.get(name);
    });
    if (missing.size === 0) return found;
    for (const name of missing) {
      asked.add(name);
      const definition = await find(name);
      if (definition !== undefined) found.set(name, definition);
    }
  }
}

/** The definition of a nested run, from the keys of the steps that lead to it. */
export function definitionWithin(root: Definition, keys: readonly string[], known: (name: string) => Definition | undefined): Definition | undefined {
  return keys.reduce<Definition | undefined>((definition, key) => {
    const step = definition === undefined ? undefined : stepAt(definition, key);
    if (step?.type !== 'sentinel') return undefined;
    return '$ref' in step.definition ? known(step.definition.$ref) : step.definition;
  }, root);
}

/** The canonical form is JSON, and a key without its passes is the path in it. */
function stepAt(definition: Definition, key: string): Step | undefined {
  const at = key.lastIndexOf('@');
  let value: unknown = definition;
  for (const word of (at === -1 ? key : key.slice(0, at)).split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, word)) return undefined;
    value = (value as { [name: string]: unknown })[word];
  }
  return value as Step;
}
