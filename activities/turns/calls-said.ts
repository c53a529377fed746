/** What the calls of an agent segment say of how far they are: each goes on with what it said itself, in a later attempt. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { CommandContext } from '../../operations/command.ts';

export class CallsSaid {
  readonly #before: JsonObject;
  readonly #said = new Map<string, Json>();

  /** `resumed`: the details of the segment's attempt before. */
  constructor(resumed: Json | undefined) {
    const calls = isJsonObject(resumed) ? resumed['under'] : undefined;
    this.#before = isJsonObject(calls) ? calls : {};
  }

  /** The beat itself is the segment's. */
  contextOf(key: string, context: CommandContext): CommandContext {
    const resumed = this.#before[key] ?? null;
    if (resumed !== null) this.#said.set(key, resumed);
    const heartbeat = (details?: Json): void => {
      if (details !== undefined) this.#said.set(key, details);
      context.heartbeat();
    };
    return { ...context, resumed, heartbeat };
  }

  end(key: string): void {
    this.#said.delete(key);
  }

  get said(): JsonObject {
    return this.#said.size === 0 ? {} : { under: Object.fromEntries(this.#said) };
  }
}
