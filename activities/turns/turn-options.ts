/** What the settings of a step make of a request. */
import { isJsonObject, type JsonObject } from '../../language/json.ts';
import { defined } from '../../language/defined.ts';
import type { TurnSettings } from '../../interpreter/effect.ts';
import { EFFORTS, type Effort, type Tool } from '../../world/models/port/turn.ts';

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
