/**
 * Calls that a model without tools of its own writes into its answer. Only the final text is read, only
 * names that the step offers count, and an answer that calls nothing known is an answer.
 */
import { readJson } from '../../../language/expression/json-text.ts';
import { isJsonObject, type Json } from '../../../language/json.ts';
import type { ToolCallBlock } from '../../models/port/message.ts';
import type { Tool } from '../../models/port/turn.ts';
import { wireNames } from '../../models/request/wire-names.ts';

const callsMax = 50;
const FORMS = [
  /<tool_call>([^]*?)<\/tool_call>/g,
  /<function=([A-Za-z0-9_/-]+)>([^]*?)<\/function>/g,
  /^[ \t]*```(?:json|tool_call)?[ \t]*\r?\n([^]*?)\r?\n?[ \t]*```[ \t]*$/gm,
];

export function callsInText(text: string, tools: readonly Tool[]): ToolCallBlock[] {
  const names = wireNames(tools);
  const offered = new Set(tools.map(({ name }) => name));
  const found = FORMS.map((form) =>
    [...text.matchAll(form)].flatMap(([, first = '', second]) =>
      second === undefined ? written(readJson(first.trim())) : [{ name: first, input: readJson(second.trim()) ?? {} }],
    ),
  ).find((calls) => calls.length > 0);
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

interface Written {
  name: string;
  input: Json;
}

function written(value: Json | undefined): Written[] {
  if (Array.isArray(value)) return value.flatMap((item) => written(item));
  if (!isJsonObject(value)) return [];
  const called = isJsonObject(value['function']) ? value['function'] : value;
  const name = called['name'] ?? called['tool'] ?? called['function'];
  if (typeof name !== 'string') return [];
  const given = called['arguments'] ?? called['input'] ?? called['parameters'] ?? called['params'] ?? {};
  return [{ name, input: typeof given === 'string' ? (readJson(given) ?? given) : given }];
}
