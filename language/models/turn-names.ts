/** What `stopWhen` of a model step reads besides the names that every expression does: how its turns stand. */
export const TURN_NAMES: ReadonlySet<string> = new Set(['turns', 'toolCalls', 'text', 'usage', 'model']);
