/**
 * What a name in a definition means at one place of a run: built-ins, then the strand's own
 * variables, then the scopes around it, then the run's inputs and inherited variables; and where no
 * variable is called that, results of steps (`steps`, `loop`, `named`, a label) and `env`.
 */
import type { Json, JsonObject } from '../language/json.ts';
import { property, STEP_FIELDS, type ScopeReader } from '../language/expression/scope.ts';
import type { Strand } from './host.ts';
import { bodyAround, keptResultsOf } from './kept-results.ts';
import type { Walk } from './walk-state.ts';
import { resultsUnder } from './results.ts';
import { definitionPathOf } from './edited-paths.ts';

/** `path`: the step or the loop that reads; `loop.0` counts from where the nearest loop around it begins. */
export function namesAt(walk: Walk, strand: Strand, passes: readonly number[], path: string): ScopeReader {
  const result = (label: string): Json | undefined => variable(walk, strand, `@named.${label}`);
  const get = (name: string): Json | undefined => {
    const value = builtIn(walk, passes, name) ?? variable(walk, strand, name);
    if (value !== undefined) return value;
    // A variable that is not set is nothing, though fields of the step that would set it be kept.
    return (
      ofSteps(walk, strand, path, name) ??
      (keptResultsOf(walk.input.definition).variables.has(name) ? undefined : result(name))
    );
  };
  return {
    get,
    result,
    has: (name) => get(name) !== undefined,
    textField: (name) => walk.textFields.get(name),
    stepField: (label, field) => (STEP_FIELDS.has(field) ? property(result(label), field) : undefined),
  };
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

function ofSteps(walk: Walk, strand: Strand, path: string, name: string): JsonObject | undefined {
  const read = (key: string): Json | undefined => variable(walk, strand, key);
  switch (name) {
    case 'steps':
      return resultsUnder('@steps.', walk, read);
    case 'loop':
      return resultsUnder(`@${bodyAround(definitionPathOf(walk, path))}.`, walk, read);
    case 'named':
      return resultsUnder('@named.', walk, read);
    case 'env':
      return environmentOf(walk);
    default:
      return undefined;
  }
}

/** Only what the definition lists; the values are those of when the run was started. */
function environmentOf({ input: { definition, env = {} } }: Walk): JsonObject {
  const listed = (definition.env ?? []).filter((name) => Object.hasOwn(env, name));
  return Object.fromEntries(listed.map((name) => [name, env[name] ?? null]));
}
