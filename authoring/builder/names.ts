/**
 * What a builder knows of variables, at the level of types: a record of names that grows with each
 * step, and the references that may be written with it. Nothing here exists at run time.
 */
import type { Json, JsonObject } from '../../language/json.ts';

declare const open: unique symbol;

/** A value whose fields are not known beforehand: whatever follows the name is accepted. */
export interface Open {
  readonly [open]: true;
}

/** What every result has, besides its own. */
export interface AnyResult {
  output: Open;
  data: Open;
  success: boolean;
  error: string;
  duration_ms: number;
  durationMs: number;
}

/** What it printed may be JSON, of which any path is read. */
export interface ShellResult extends AnyResult {
  exitCode: number;
  exit_code: number;
  stdout: Open;
  stderr: Open;
  /** With \`onUnknown\`: nobody knows how the process ended. */
  unknown: boolean;
}

export interface EmitResult extends AnyResult {
  event: string;
}

export interface LoopResult extends AnyResult {
  iterations: number;
}

export interface SleepResult extends AnyResult {
  until: string;
}

export interface ApprovalResult extends AnyResult {
  choice: string;
  approved: boolean;
  note: string;
  data: Open;
  by: string;
  /** Of `approvers`: who has approved. */
  approvals: Open;
}

export interface NestedResult extends AnyResult {
  success: boolean;
  outcome: string;
  iterations: number;
  results: Open;
  failureCount: number;
}

/** What the engine supplies everywhere. */
export interface BuiltIns {
  NOW: string;
  ELAPSED_MS: number;
  PROJECT_ROOT: string;
  PERSONA_ID: string;
  RUN_HANDLE: string;
  RUN_NAME: string;
  iteration: number;
  event: Open;
  input: Open;
}

/** `Scope` once a step has set `Name`; a step that sets nothing leaves it as it is. */
export type With<Scope, Name, Shape> = [Name] extends [string]
  ? { [Key in keyof Scope | Name]: Key extends Name ? Shape : Key extends keyof Scope ? Scope[Key] : never }
  : Scope;

/** What is in sight after blocks of steps that may have run. */
export type Joined<First, Second> = {
  [Key in keyof First | keyof Second]: Key extends keyof Second
    ? Second[Key]
    : Key extends keyof First
      ? First[Key]
      : never;
};

type FieldsOf<Shape> = Shape extends Open
  ? `.${string}` | `[${string}`
  : Shape extends readonly unknown[]
    ? '.length' | `[${number}]`
    : Shape extends object
      ? { [Key in keyof Shape & string]: `.${Key}` | `.${Key}${FieldsOf<Shape[Key]>}` }[keyof Shape & string]
      : never;

/** Everything that may follow a `$`: a name that is set, and the fields its value has. */
export type PathOf<Scope> = { [Name in keyof Scope & string]: Name | `${Name}${FieldsOf<Scope[Name]>}` }[keyof Scope &
  string];

/** Writes a reference: `ref('build.exitCode')` is `$build.exitCode`. */
export type Ref<Scope> = (path: PathOf<Scope & BuiltIns>) => `$${string}`;

/** A value, or one made with references. */
export type Given<Scope, Value> = Value | ((ref: Ref<Scope>) => Value);

/** The shape of an input, from its default. */
export type ShapeOf<Value> = Value extends string
  ? string
  : Value extends number
    ? number
    : Value extends boolean
      ? boolean
      : Value extends Json[] | { [key: string]: Json }
        ? Value
        : Open;

/** A JSON Schema of an object, as `inputSchema` has it. */
export interface InputSchema extends JsonObject {
  type: 'object';
  properties: { [name: string]: JsonObject };
}

/** The inputs that a schema declares, each as its type says. */
export type InputsOf<Schema extends InputSchema> = {
  [Name in keyof Schema['properties'] & string]: ValueOf<Schema['properties'][Name]>;
};

type ValueOf<Property> = Property extends { readonly type: 'string' }
  ? string
  : Property extends { readonly type: 'number' | 'integer' }
    ? number
    : Property extends { readonly type: 'boolean' }
      ? boolean
      : Open;
