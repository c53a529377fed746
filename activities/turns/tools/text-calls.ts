/**
 * Calls that a model without tools of its own writes into its answer. Only the final text is read, only
 * names that the step offers count, and an answer that calls nothing known is an answer.
 */
import { readJson } from '../../../language/expression/json-text.ts';
import { isJsonObject } from '../../../language/json.ts';
import type { ToolCallBlock } from '../../../world/models/port/message.ts';
import type { Tool } from '../../../world/models/port/turn.ts';
import { wireNames } from '../../../world/models/request/wire-names.ts';
import { FORMS, written } from './text-forms.ts';

const callsMax = 50;

export function callsInText(text: string, tools: readonly Tool[]): ToolCallBlock[] {
  const names = wireNames(tools);
  const offered = new Set(tools.map(({ name }) => name));
  const found = FORMS.map((form) => form(text)).find((calls) => calls.length > 0);
  const calls = found ?? written(readJson(text.trim()));
  return calls
    .map(({ name, input }) => ({ name: names.ours(name), input }))
    .filter(({ name }) => offered.has(name))
    .slice(0, callsMax)
    .map(({ name, input }, index) => ({
      type: 'tool-call',
      id: `text-${index}`,
      name,
      ...(isJsonObject(input) ? { input } : { input: {}, invalid: JSON.stringify(input) }),
    }));
}
