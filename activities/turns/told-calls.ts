/**
 * Which calls of an answer are made, and which are only said. A model without tools of its own writes its calls into its
 * answer: only the final text is read, only names that the step offers count, and an answer that calls nothing known is
 * an answer.
 */
import type { TurnSettings } from '../../interpreter/effect.ts';
import { textOf, type AnswerBlock, type ToolCallBlock } from '../../world/models/port/message.ts';
import type { Tool, TurnReply } from '../../world/models/port/turn.ts';
import { readJson } from '../../language/expression/json-text.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { wireNames } from '../../world/models/request/wire-names.ts';
import { fencesIn } from '../../language/models/fences.ts';

/** What the run goes on with, and calls that are not performed: of a turn that has none, or written where nobody reads them. */
export interface Told {
  blocks: AnswerBlock[];
  barred: string[];
  unread: string[];
}

export function toldBy(
  { blocks, stopReason }: TurnReply,
  { parseToolCalls, isFinal }: TurnSettings,
  tools: readonly Tool[],
): Told {
  const made = blocks.filter((block) => block.type === 'tool-call');
  const isWhole = stopReason === 'end' || stopReason === 'stop-sequence';
  const inText = made.length === 0 && isWhole ? callsInText(textOf(blocks), tools) : [];
  const read = parseToolCalls === true ? [...made, ...inText] : made;
  const unread = parseToolCalls === true || isFinal === true ? [] : namesOf(inText);
  if (isFinal !== true || read.length === 0)
    return { blocks: made.length === 0 ? [...blocks, ...read] : blocks, barred: [], unread };
  return { blocks: blocks.filter(({ type }) => type !== 'tool-call'), barred: namesOf(read), unread };
}

const namesOf = (calls: readonly ToolCallBlock[]): string[] => [...new Set(calls.map(({ name }) => name))].slice(0, 5);

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

/** Of one kind, whether or not they call something. */
const formsMax = 1_000;
const NAME = /^[\w./-]{1,200}$/;

interface Written {
  name: string;
  input: Json;
}

type Form = (text: string) => Written[];

const PAIRS: readonly [string, string][] = [
  ['<tool_call>', '</tool_call>'],
  ['<|tool_call|>', '<|/tool_call|>'],
  ['<function_call>', '</function_call>'],
  ['<tool_calls>', '</tool_calls>'],
  ['<|START_ACTION|>', '<|END_ACTION|>'],
];

/** Before a value of JSON that nothing ends. */
const MARKS = ['[TOOL_CALLS]', '<|python_tag|>', 'functools', '<|tool_call|>', '<tool_call>'];

/** The ways in which models write calls into their text, as their makers taught them. Each is looked for in one pass. */
const FORMS: readonly Form[] = [
  (text) => PAIRS.flatMap(([open, close]) => between(text, open, close).flatMap(inTags)),
  (text) => between(text, '<function=', '</function>').flatMap(inFunction),
  (text) => between(text, '<invoke ', '</invoke>').flatMap(inInvoke),
  (text) => between(text, '<|tool▁call▁begin|>', '<|tool▁call▁end|>').flatMap((body) => named(body, '<|tool▁sep|>')),
  (text) =>
    between(text, '<|tool_call_begin|>', '<|tool_call_end|>').flatMap((body) =>
      named(body, '<|tool_call_argument_begin|>'),
    ),
  (text) => between(`${text}<|call|>`, 'to=functions.', '<|call|>').flatMap((body) => named(body, '<|message|>')),
  (text) =>
    fencesIn(text, (word) => ['', 'json', 'tool_call', 'tool_code'].includes(word))
      .slice(0, formsMax)
      .flatMap(({ body }) => written(readJson(body.trim()))),
  (text) => MARKS.flatMap((mark) => afterMark(text, mark)),
];

/** JSON; a function in tags; or a name with keys and values. */
function inTags(body: string): Written[] {
  const found = written(readJson(body.trim()));
  return found.length > 0 || body.includes('<function=') ? found : withKeys(body);
}

/** `NAME` and then `<arg_key>K</arg_key><arg_value>V</arg_value>`, again and again. */
function withKeys(body: string): Written[] {
  const end = body.indexOf('<arg_key>');
  const name = (end < 0 ? body : body.slice(0, end)).trim();
  if (!NAME.test(name)) return [];
  const keys = between(body, '<arg_key>', '</arg_key>');
  const values = between(body, '<arg_value>', '</arg_value>');
  return [{ name, input: objectOf(keys.map((key, index) => [key.trim(), values[index] ?? ''])) }];
}

/** `NAME>` and then JSON, or `<parameter=K>V</parameter>` again and again. */
function inFunction(body: string): Written[] {
  const end = body.indexOf('>');
  const name = body.slice(0, Math.max(0, end)).trim();
  if (!NAME.test(name)) return [];
  const rest = body.slice(end + 1);
  const given = between(rest, '<parameter=', '</parameter>').map((parameter): [string, string] => {
    const at = parameter.indexOf('>');
    return [parameter.slice(0, Math.max(0, at)).trim(), parameter.slice(at + 1)];
  });
  return [{ name, input: given.length > 0 ? objectOf(given) : (readJson(rest.trim()) ?? {}) }];
}

/** `name="NAME">` and then `<parameter name="K">V</parameter>`, again and again. */
function inInvoke(body: string): Written[] {
  const name = nameIn(body);
  if (name === null) return [];
  const given = between(body, '<parameter ', '</parameter>').flatMap((parameter): [string, string][] => {
    const key = nameIn(parameter);
    return key === null ? [] : [[key, parameter.slice(parameter.indexOf('>') + 1)]];
  });
  return [{ name, input: objectOf(given) }];
}

const nameIn = (text: string): string | null => /^\s*name="([^"<>]{1,200})"[^>]{0,100}>/.exec(text)?.[1] ?? null;

/** A name, something of the form's own, and arguments, in a fence or not. */
function named(body: string, sign: string): Written[] {
  const at = body.indexOf(sign);
  if (at < 0) return [];
  const words = body.slice(0, at).trim().split(/\s+/);
  const rest = body.slice(at + sign.length);
  // Some write the name behind the sign, before a fence.
  const [fence] = fencesIn(rest, (word) => ['', 'json'].includes(word));
  const name = fence === undefined ? (words[0] ?? '') : rest.trim().split(/\s+/)[0];
  const bare = (name ?? '').replace(/^functions\./, '').replace(/:\d+$/, '');
  if (!NAME.test(bare)) return [];
  return [{ name: bare, input: readJson((fence?.body ?? rest).trim()) ?? {} }];
}

function afterMark(text: string, mark: string): Written[] {
  const at = text.indexOf(mark);
  if (at < 0) return [];
  const rest = text
    .slice(at + mark.length)
    .replaceAll(/<\/?[|\w]+>/g, '')
    .trim();
  return written(readJson(rest));
}

/** What is JSON is a value; the rest is a text. */
const objectOf = (entries: readonly [string, string][]): JsonObject =>
  Object.fromEntries(
    entries.map(([key, value]) => {
      const text = value.replace(/^\n/, '').replace(/\n$/, '');
      const read = readJson(text.trim());
      return [key, read === undefined || typeof read === 'string' ? text : read];
    }),
  );

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

function written(value: Json | undefined): Written[] {
  if (Array.isArray(value)) return value.flatMap((item) => written(item));
  if (!isJsonObject(value)) return [];
  const called = isJsonObject(value['function']) ? value['function'] : value;
  const name = called['name'] ?? called['tool_name'] ?? called['tool'] ?? called['function'];
  if (typeof name !== 'string') return [];
  const given = called['arguments'] ?? called['input'] ?? called['parameters'] ?? called['params'] ?? {};
  return [{ name, input: typeof given === 'string' ? (readJson(given) ?? given) : given }];
}
