/**
 * What `sentinel/run` and `sentinel/start` are handed, and the definition that it is: what is shown to whoever
 * approves it, and what is started.
 */
import type { Catalogue } from '../catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import type { Definition } from '../model.ts';
import { isFilePath } from '../references/written-references.ts';
import { parseDefinition } from './definition.ts';
import { withoutFile } from './draft/mounts.ts';
import { problemsInWords } from './remedies/problems-in-words.ts';
import { defined } from '../defined.ts';

export type Handed = { written: Json } | { name: string };

export interface Library {
  [name: string]: Definition;
}

/** `library`: what the definition's `$ref`s lead to. `fault`: why nothing can be started, as half a sentence. */
export type StartedProgram = { definition: Definition; library: Library } | { fault: string };

const once = (name: Json, steps: Json): Handed => ({ written: { name, loop: { type: 'once' }, steps } });

/** Null where the parameters hold none. */
export function handedIn({ definition, steps, command, args, name, sentinelId }: JsonObject): Handed | null {
  if (definition !== undefined) return typeof definition === 'string' ? { name: definition } : { written: definition };
  if (steps !== undefined) return once(name ?? 'pipeline', steps);
  if (command !== undefined) return once('command', [{ type: 'shell', command, ...defined({ args }) }]);
  const stored = name ?? sentinelId;
  return typeof stored === 'string' ? { name: stored } : null;
}

/** The same as a value whose `$ref`s can be looked up. */
export const referring = (handed: Handed): Json => ('name' in handed ? { $ref: handed.name } : handed.written);

/** `stored`: every definition that it leads to, by name. */
export function readStarted(handed: Handed, catalogue: Catalogue, stored: Library): StartedProgram {
  const known = (name: string): Definition | undefined => (Object.hasOwn(stored, name) ? stored[name] : undefined);
  const written = 'name' in handed ? known(handed.name) : handed.written;
  if (written === undefined) {
    const name = 'name' in handed ? handed.name : '';
    if (isFilePath(name)) return { fault: withoutFile(name) };
    return {
      fault: `there is no stored definition "${name}"; save it ("sentinel save FILE"), or give the definition itself`,
    };
  }
  const read = parseDefinition(written, { catalogue, knownRefs: known });
  if (read.ok) return { definition: read.definition, library: reachedFrom(read.definition, known) };
  return { fault: problemsInWords(read.problems) };
}

function reachedFrom(definition: Definition, known: (name: string) => Definition | undefined): Library {
  const library: Library = {};
  const waiting: unknown[] = [definition];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    waiting.push(...Object.values(next));
    const name: unknown = '$ref' in next ? next.$ref : undefined;
    const found = typeof name === 'string' && !Object.hasOwn(library, name) ? known(name) : undefined;
    if (typeof name !== 'string' || found === undefined) continue;
    library[name] = found;
    waiting.push(found);
  }
  return library;
}

/** The parameters with the definition itself in place of what leads to it. */
export function withProgram(params: JsonObject, definition: Definition): JsonObject {
  const inputs = params['inputs'];
  return {
    definition: definition as unknown as JsonObject,
    ...(isJsonObject(inputs) ? { inputs } : {}),
  };
}
