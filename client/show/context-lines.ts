/** What of the context went into a conversation, and what was left out and why, as lines for people. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';

/** Empty for a message that is no context. */
export function contextLines(message: JsonObject): string[] {
  const told = isJsonObject(message['context']) ? message['context'] : message;
  return [
    ...objectsIn(told['put']).map(
      ({ name, tokens, cut }) => `in: ${textOf(name)} (about ${textOf(tokens)} tokens${cut === true ? ', cut' : ''})`,
    ),
    ...objectsIn(told['leftOut']).map(({ name, why }) => `left out: ${textOf(name)}: ${textOf(why)}`),
  ];
}

const objectsIn = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
