/**
 * How expressions and templates see a run's variables: a reader of names, and the pure rules for
 * following a path and for turning a value into text.
 *
 * Only own properties of plain JSON values are read, and three names are never read at all, so no
 * path reaches a prototype or a constructor.
 */
import type { Json, JsonObject } from '../json.ts';

export interface ScopeReader {
  /** The value of a variable or a built-in; names come without their `$`. */
  get(name: string): Json | undefined;
  has(name: string): boolean;
  /** Whether somebody gives the name a value somewhere: where it has none, it is not the shell's. */
  isOfRun?(name: string): boolean;
  /** The result of the step with this label, where the variable of that name lacks a field (`{{build.success}}`). */
  result?(label: string): Json | undefined;
  /** One of `STEP_FIELDS` of the step with this label, where the variable of that name lacks it (`$build.data`). */
  stepField?(label: string, field: string): Json | undefined;
  /** For a variable that holds a command's result: the field that stands for it in text. */
  textField?(name: string): string | undefined;
  /** What stands for a value in a text, where that is not its own text. */
  shownAs?(value: Json): string | undefined;
}

/** Something that went wrong while evaluating: data, never thrown past `language/`. */
export interface Fault {
  code: FaultCode;
  message: string;
}

/** Each has its words in docs/problems.md. */
export const FAULT_CODES = [
  'EXPRESSION_INVALID',
  'EXPRESSION_TYPE',
  'EXPRESSION_BUDGET',
  'VALUE_TOO_LARGE',
  'NUMBER_CHANGES',
  'SHELL_REFERENCE_UNSAFE',
] as const;
export type FaultCode = (typeof FAULT_CODES)[number];

/** Names the interpreter supplies; a definition cannot assign them. */
export const BUILT_INS: ReadonlySet<string> = new Set([
  'NOW',
  'ELAPSED_MS',
  'PROJECT_ROOT',
  'PERSONA_ID',
  'RUN_HANDLE',
  'RUN_NAME',
  'iteration',
  'event',
  'input',
]);

/** Fields of a model's result beside the reply. */
export const MODEL_FIELDS: readonly string[] = ['text', 'toolCalls', 'usage', 'model', 'turns', 'stopReason'];

/** Fields that every result has, whatever the step's own value lacks; and those of a model's. */
export const STEP_FIELDS: ReadonlySet<string> = new Set([
  ...MODEL_FIELDS,
  'output',
  'data',
  'lines',
  'success',
  'exit_code',
  'exitCode',
  'error',
  'duration_ms',
  'durationMs',
]);

const UNSAFE_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function isSafeName(name: string): boolean {
  return !UNSAFE_NAMES.has(name);
}

/** A scope over the own properties of one object. */
export function scopeOf(variables: JsonObject): ScopeReader {
  return {
    get: (name) => ownProperty(variables, name),
    has: (name) => ownProperty(variables, name) !== undefined,
  };
}

export function ownProperty(value: JsonObject, name: string): Json | undefined {
  return isSafeName(name) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** One step down a path: an own property, an index, or `length`. */
export function property(value: Json | undefined, key: string | number): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (typeof value === 'string' || Array.isArray(value)) {
    if (key === 'length') return value.length;
    const index = typeof key === 'number' ? key : indexOf(key);
    return Number.isInteger(index) && index >= 0 && index < value.length ? value[index] : undefined;
  }
  if (typeof value !== 'object') return undefined;
  const own = ownProperty(value, String(key));
  return own === undefined ? listOf(value)?.[typeof key === 'number' ? key : indexOf(key)] : own;
}

/**
 * An array, or the one that an object stands for: what a watch returns has `lines`, and `length` says
 * of how many, so it can be counted, indexed and walked like the list that it is.
 */
export function listOf(value: Json | undefined): Json[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const lines = ownProperty(value, 'lines');
  return Array.isArray(lines) && ownProperty(value, 'length') === lines.length ? lines : undefined;
}

/** `"0"`, `"12"`: a part of a path that counts; anything else gives NaN. */
function indexOf(key: string): number {
  return /^(?:0|[1-9]\d{0,9})$/.test(key) ? Number(key) : Number.NaN;
}

export function textOf(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** What stands for a variable that is used as text: the declared text field where it is a command's result. */
export function textValue(scope: ScopeReader, name: string, value: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const field = scope.textField?.(name);
  return (field === undefined ? undefined : ownProperty(value, field)) ?? value;
}
