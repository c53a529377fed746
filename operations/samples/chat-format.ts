/** A conversation in the chat format that training programs read: messages, tools, and calls as functions. */
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import { wireName } from '../../language/models/tool-names.ts';

export type ChatPart = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } };

export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | ChatPart[] }
  | { role: 'assistant'; content: string | null; tool_calls?: ChatCall[] }
  | { role: 'tool'; tool_call_id: string; content: string };

export interface ChatCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface ChatTool {
  type: 'function';
  function: { name: string; description: string; parameters: Json };
}

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

const blocksOf = (value: Json | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

const joined = (blocks: readonly JsonObject[]): string =>
  blocks.map((block) => (block['type'] === 'text' ? textOf(block['text']) : '')).join('');

/** A message as the store keeps it: results of calls are messages of their own, and thoughts are left out. */
export function chatMessages(message: JsonObject): ChatMessage[] {
  const { role, text } = message;
  const blocks = blocksOf(message['blocks']);
  if (role === 'system') return [{ role, content: textOf(text) }];
  if (role === 'assistant') return [assistantMessage(blocks)];
  const results = blocks.filter(({ type }) => type === 'tool-result').map(resultMessage);
  const said = blocks.filter(({ type }) => type === 'text' || type === 'image');
  return said.length === 0 ? results : [...results, { role: 'user', content: contentOf(said) }];
}

function assistantMessage(blocks: readonly JsonObject[]): ChatMessage {
  const text = joined(blocks);
  const calls = blocks
    .filter(({ type }) => type === 'tool-call')
    .map(({ id, name, input, invalid }): ChatCall => ({
      id: textOf(id),
      type: 'function',
      function: { name: wireName(textOf(name)), arguments: textOf(invalid ?? input) },
    }));
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}

const resultMessage = ({ callId, content }: JsonObject): ChatMessage => ({
  role: 'tool',
  tool_call_id: textOf(callId),
  content: joined(blocksOf(content)),
});

function contentOf(blocks: readonly JsonObject[]): string | ChatPart[] {
  if (blocks.every(({ type }) => type === 'text')) return joined(blocks);
  return blocks.map((block) =>
    block['type'] === 'text'
      ? { type: 'text', text: textOf(block['text']) }
      : { type: 'image_url', image_url: { url: `data:${textOf(block['mediaType'])};base64,${textOf(block['data'])}` } },
  );
}

export const chatTool = ({ name, description, parameters }: JsonObject): ChatTool => ({
  type: 'function',
  function: { name: wireName(textOf(name)), description: textOf(description), parameters: parameters ?? {} },
});
