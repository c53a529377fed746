/**
 * What a name in a definition means at one place of a run: built-ins, then the strand's own
 * variables, then the scopes around it, then the run's inputs and inherited variables.
 */
import type { Json } from '../../language/json.ts';
import type { ScopeReader } from '../../language/scope.ts';
import type { Strand } from './host.ts';
import type { Walk } from './ledger.ts';

export function namesAt(walk: Walk, strand: Strand, passes: readonly number[]): ScopeReader {
  const get = (name: string): Json | undefined => builtIn(walk, passes, name) ?? variable(walk, strand, name);
  return { get, has: (name) => get(name) !== undefined, textField: (name) => walk.textFields.get(name) };
}

function variable(walk: Walk, strand: Strand, name: string): Json | undefined {
  if (Object.hasOwn(strand.own, name)) return strand.own[name];
  for (const scope of strand.outer) {
    if (Object.hasOwn(scope, name)) return scope[name];
  }
  return Object.hasOwn(walk.input.base, name) ? walk.input.base[name] : undefined;
}

function builtIn(walk: Walk, passes: readonly number[], name: string): Json | undefined {
  switch (name) {
    case 'NOW':
      return new Date(walk.host.now()).toISOString();
    case 'ELAPSED_MS':
      return walk.host.now() - walk.input.startedAt;
    case 'PROJECT_ROOT':
      return walk.input.project;
    case 'PERSONA_ID':
      return walk.input.persona;
    case 'iteration':
      return passes.at(-1) ?? 0;
    case 'input':
      return { ...walk.input.base, iteration: passes.at(-1) ?? 0 };
    default:
      return undefined;
  }
}
