/**
 * The result of a shell wherever it stands: what a nested run gives (`$child.tests`, `$child.results[0].tests`),
 * an item of a list, a variable of the run around. A step's own result is kept with these fields; a value is
 * told by its shape, and gives them when they are read.
 */
import { isJsonObject, type Json } from '../json.ts';
import type { Budget } from './budget.ts';
import { ownProperty } from './scope.ts';
import { parsedWhole } from './json-text.ts';

/** A field of it that every result has, and the value has not. */
export function ofShellResult(value: Json | undefined, key: string | number, budget: Budget): Json | undefined {
  if ((key !== 'data' && key !== 'duration_ms' && key !== 'lines') || !isJsonObject(value ?? null)) return undefined;
  const result = value as { [name: string]: Json };
  const stdout = ownProperty(result, 'stdout');
  if (typeof stdout !== 'string' || typeof ownProperty(result, 'exitCode') !== 'number') return undefined;
  if (key === 'lines') {
    budget.scan(stdout.length);
    return linesOf(stdout);
  }
  return key === 'data' ? parsedWhole(stdout, budget) : ownProperty(result, 'durationMs');
}

/** The lines of a text, as programs print them: an empty text has none, and the end of the last line begins no other. */
export function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}
