/**
 * Results of steps, kept beside the variables of their strand under names that begin with `@`. So
 * they take part in whatever happens to variables (segments, branches, continue-as-new) and need
 * nothing of their own; they are no outputs of the run, and a nested run does not inherit them.
 */
import { Budget } from '../language/expression/budget.ts';
import { parsedText, readJson } from '../language/expression/json-text.ts';
import { entryOf } from '../language/catalogue.ts';
import { isJsonObject, type Json, type JsonObject } from '../language/json.ts';
import type { Step } from '../language/model.ts';
import { isSafeName, ownProperty, property, textOf } from '../language/expression/scope.ts';
import type { RunInput, Strand } from './host.ts';
import { isResultKey, keptResultsOf, WHOLE } from './kept-results.ts';
import type { Ending, Walk } from './walk-state.ts';
import type { Variables } from './position.ts';
import { definitionPathOf } from './edited-paths.ts';

/** Keeps of a step that ended what the definition reads of it. The last result of a step counts. */
export function keepResult(
  walk: Walk,
  strand: Strand,
  step: Step,
  path: string,
  ending: Ending,
  durationMs: number,
): void {
  if ('cancelled' in ending) return;
  const value =
    'value' in ending
      ? ending.value
      : { output: '', success: false, error: ending.failure.message, code: ending.failure.code };
  for (const { key, fields, besides } of keptResultsOf(walk.input.definition).byStep.get(
    definitionPathOf(walk, path),
  ) ?? []) {
    const kept: [string, Json][] = [];
    if (fields.has(WHOLE)) {
      if (isJsonObject(value)) kept.push(...Object.entries(value));
      kept.push(['output', outputOf(walk.input, step, value)]);
    }
    for (const name of [...fields, ...[...besides].filter((beside) => !isSet(ending, beside))]) {
      const field =
        name === WHOLE || !isSafeName(name) ? undefined : fieldOf(walk.input, step, value, name, durationMs);
      if (field !== undefined) kept.push([name, field]);
    }
    strand.own[key] = Object.fromEntries(kept);
  }
}

/** A sentinel that nobody waits for has only begun. */
const isUnknown = (step: Step): boolean => step.type === 'sentinel' && step.await === false;

/** Whether the variable that the step has set has the field. */
const isSet = (ending: Ending, field: string): boolean =>
  'value' in ending && property(ending.value, field) !== undefined;

function fieldOf(input: RunInput, step: Step, value: Json, name: string, durationMs: number): Json | undefined {
  const own = isJsonObject(value) ? ownProperty(value, name) : undefined;
  if (own !== undefined) return own;
  switch (name) {
    case 'output':
      return outputOf(input, step, value);
    case 'data':
      return step.type === 'shell' && isJsonObject(value) ? printed(value) : (parsedText(value, new Budget()) ?? value);
    case 'success':
      return isUnknown(step) ? undefined : true;
    case 'exit_code':
      return isJsonObject(value) ? value['exitCode'] : undefined;
    case 'exitCode':
      return isJsonObject(value) ? value['exit_code'] : undefined;
    case 'duration_ms':
    case 'durationMs':
      return durationMs;
    default:
      // A text that is JSON has fields too.
      return typeof value === 'string' ? fieldOfText(value, name) : undefined;
  }
}

function fieldOfText(text: string, name: string): Json | undefined {
  const parsed = parsedText(text, new Budget());
  return isJsonObject(parsed) ? ownProperty(parsed, name) : undefined;
}

function outputOf({ catalogue }: RunInput, step: Step, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const field =
    step.type === 'shell' ? 'output' : step.type === 'command' ? entryOf(catalogue, step.command).textField : undefined;
  return ownProperty(value, 'output') ?? (field === undefined ? undefined : ownProperty(value, field)) ?? value;
}

/** What a shell printed, as a value where it is JSON. */
function printed(value: JsonObject): Json {
  const text = textOf(value['stdout']).trim();
  return readJson(text) ?? text;
}

/** The kept results whose keys begin like this, by what follows. */
export function resultsUnder(prefix: string, walk: Walk, read: (key: string) => Json | undefined): JsonObject {
  const results: [string, Json][] = [];
  for (const key of keptResultsOf(walk.input.definition).keys) {
    const value = key.startsWith(prefix) ? read(key) : undefined;
    if (value !== undefined) results.push([key.slice(prefix.length), value]);
  }
  return Object.fromEntries(results);
}

export function withoutResults(variables: Variables): Variables {
  const entries = Object.entries(variables);
  const isFree = entries.every(([name]) => !isResultKey(name));
  return isFree ? variables : Object.fromEntries(entries.filter(([name]) => !isResultKey(name)));
}
