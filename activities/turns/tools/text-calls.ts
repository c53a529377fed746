/**
 * Calls that a model without tools of its own writes into its answer. Only the final text is read, only
 * names that the step offers count, and an answer that calls nothing known is an answer.
 */
import { readJson } from '../../../language/expression/json-text.ts';
import { fencesIn } from '../../../language/models/fences.ts';
import { isJsonObject, type Json } from '../../../language/json.ts';
import type { ToolCallBlock } from '../../models/port/message.ts';
import type { Tool } from '../../models/port/turn.ts';
import { wireNames } from '../../models/request/wire-names.ts';

const callsMax = 50;
/** Of one kind, whether or not they call something. */
const formsMax = 1_000;

/** The ways in which models write calls; each is looked for in one pass. */
const FORMS: readonly ((text: string) => Written[])[] = [
  (text) => between(text, '<tool_call>', '</tool_call>').flatMap((body) => written(readJson(body.trim()))),
  (text) =>
    between(text, '<function=', '</function>').flatMap((body) => {
      const end = body.indexOf('>');
      const name = body.slice(0, Math.max(0, end));
      return /^[A-Za-z0-9_/-]+$/.test(name) ? [{ name, input: readJson(body.slice(end + 1).trim()) ?? {} }] : [];
    }),
  (text) =>
    fencesIn(text, (word) => ['', 'json', 'tool_call'].includes(word))
      .slice(0, formsMax)
      .flatMap(({ body }) => written(readJson(body.trim()))),
];

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

/** What stands between the two, from left to right. */
function between(text: string, open: string, close: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (found.length < formsMax) {
    const start = text.indexOf(open, at);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) break;
    found.push(text.slice(start + open.length, end));
    at = end + close.length;
  }
  return found;
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
