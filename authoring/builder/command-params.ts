/** What the builder knows of commands, at the level of types: their names, and what they take. Nothing here exists at run time. */
import type { Json, JsonObject } from '../../language/json.ts';

/** Text that a run reads in place of a value of any type: it holds a reference. */
type Reference = `${string}$${string}`;

/** A value as a definition may write it: in each place a reference instead. Text may hold one anyway. */
type Referable<Value> = Json extends Value
  ? Value
  : Value extends string
    ? string extends Value
      ? Value
      : Value | Reference
    : Value extends number | boolean | null
      ? Value | Reference
      : Value extends readonly (infer Item)[]
        ? readonly Referable<Item>[] | Reference
        : { [Key in keyof Value]: Referable<Value[Key]> } | Reference;

/** What a step may give a command that takes `Params`. */
export type ParamsOf<Params> = { [Key in keyof Params]: Referable<Params[Key]> };

/** Refuses parameters that the command does not take, where a function returns them. */
export type Exactly<Written, Params> = Written & {
  [Key in Exclude<keyof Written, keyof Params>]: string extends keyof Params ? unknown : never;
};

/** The tools of MCP servers, which nothing is known of until their server is asked. */
export interface McpCommands {
  [tool: `mcp/${string}`]: JsonObject;
}
