/** A request as `/api/chat` of Ollama takes it. */
import type { ChatRequest, Message as WireMessage } from 'ollama';
import { callsOf, textOf, type AssistantMessage, type Message, type UserMessage } from '../port/message.ts';
import type { Effort, TurnRequest } from '../port/turn.ts';
import type { ModelFacts } from '../records/facts.ts';
import type { WireNames } from '../request/wire-names.ts';
import { defined } from '../../../language/defined.ts';

/** Fields that the server takes, and the package's types do not name. */
type Wire = ChatRequest & { stream: true; truncate: boolean; shift: boolean };
type Chatted = WireMessage & { tool_call_id?: string };

export function toWire(request: TurnRequest, facts: ModelFacts, names: WireNames): Wire {
  const { model, system, messages, tools, schema, temperature, maxTokens, stop, thinking } = request;
  const window = request.window ?? facts.window;
  const called = new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, names.wire(name)])));
  return {
    model,
    stream: true,
    messages: [
      ...(system === undefined || system === '' ? [] : [{ role: 'system', content: system }]),
      ...messages.flatMap((message) => toMessages(message, names, called)),
    ],
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name: names.wire(name), description, parameters: parameters as never },
          })),
        }),
    ...defined({ format: schema }),
    ...(thinking === undefined ? {} : { think: think(thinking, facts) }),
    options: {
      ...(window === null ? {} : { num_ctx: window }),
      ...defined({ temperature, num_predict: maxTokens }),
      ...(stop === undefined || stop.length === 0 ? {} : { stop: [...stop] }),
    },
    // Without these the server drops the oldest messages and says nothing.
    truncate: false,
    shift: false,
  };
}

function think(effort: Effort, { thinking }: ModelFacts): boolean | 'low' | 'medium' | 'high' {
  if (effort === 'off') return false;
  if (thinking?.kind !== 'effort') return true;
  return effort === 'max' ? 'high' : effort;
}

function toMessages(message: Message, names: WireNames, called: Map<string, string>): Chatted[] {
  return message.role === 'user' ? fromUser(message, called) : [fromModel(message, names)];
}

function fromUser({ blocks }: UserMessage, called: Map<string, string>): Chatted[] {
  const results = blocks.filter((block) => block.type === 'tool-result');
  const shown = results.flatMap(({ content }) => content.filter((block) => block.type === 'image'));
  const images = [...shown, ...blocks.filter((block) => block.type === 'image')].map(({ data }) => data);
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).filter((part) => part !== '');
  return [
    ...results.map(({ callId, content, isError }) => ({
      role: 'tool',
      content: `${isError ? 'Error: ' : ''}${textOf(content)}`,
      tool_name: called.get(callId) ?? '',
      tool_call_id: callId,
    })),
    ...(text.length === 0 && images.length === 0
      ? []
      : [{ role: 'user', content: text.join('\n\n'), ...(images.length === 0 ? {} : { images }) }]),
  ];
}

function fromModel({ blocks }: AssistantMessage, names: WireNames): Chatted {
  const calls = blocks.filter((block) => block.type === 'tool-call');
  const thoughts = blocks.map((block) => (block.type === 'thinking' ? block.text : '')).join('');
  return {
    role: 'assistant',
    content: textOf(blocks),
    ...(thoughts === '' ? {} : { thinking: thoughts }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            function: { name: names.wire(name), arguments: input },
          })),
        }),
  };
}
