/** What the settings of a step make of a request, and the commands that it offers as tools. */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { TurnSettings } from '../../interpreter/effect.ts';
import { EFFORTS, type Effort, type Tool } from '../../world/models/port/turn.ts';
import { parametersOf } from '../../operations/parameters.ts';
import type { Registry } from '../../operations/registry.ts';

export function optionsOf({ temperature, maxTokens, thinking, schema }: TurnSettings): {
  temperature?: number;
  maxTokens?: number;
  thinking?: Effort;
  schema?: JsonObject;
} {
  const effort = EFFORTS.find((one) => one === thinking);
  return {
    ...defined({ temperature, maxTokens, thinking: effort }),
    ...(isJsonObject(schema) ? { schema } : {}),
  };
}

export function toolsOf(tools: Tool[], { isFinal }: TurnSettings): { tools?: Tool[]; toolChoice?: 'none' } {
  if (tools.length === 0) return {};
  return { tools, ...(isFinal === true ? { toolChoice: 'none' as const } : {}) };
}

/**
 * Commands as tools: a name, a sentence, and the JSON Schema of an object. Those that this worker has; a call of another
 * is answered by whoever runs it.
 */
export function toolsFor(registry: Pick<Registry, 'find'>, names: readonly string[]): Tool[] {
  return names.flatMap((name): Tool[] => {
    const command = registry.find(name);
    return command === undefined
      ? []
      : [{ name, description: command.description ?? `Runs the command ${name}.`, parameters: parametersOf(command) }];
  });
}
