/** A request as chat completions take it. */
import type OpenAI from 'openai';
import type { AssistantMessage, ImageBlock, Message, ToolResultBlock, UserMessage } from '../port/message.ts';
import { callsOf, textOf } from '../port/message.ts';
import type { Effort, TurnRequest } from '../port/turn.ts';
import type { WireNames } from '../request/wire-names.ts';
import type { Dialect } from './dialect.ts';
import { defined } from '../../../language/defined.ts';

type Wire = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type WireMessage = OpenAI.Chat.ChatCompletionMessageParam;

const EFFORTS: Readonly<Record<Effort, 'none' | 'low' | 'medium' | 'high' | 'xhigh'>> = {
  off: 'none',
  low: 'low',
  medium: 'medium',
  high: 'high',
  max: 'xhigh',
};

export function toWire(request: TurnRequest, dialect: Dialect, names: WireNames): Wire {
  const { model, system, messages, tools, toolChoice, schema, temperature, maxTokens, stop, thinking } = request;
  const toolNames = namesOfCalls(messages, names);
  return {
    model,
    stream: true,
    messages: [
      ...(system === undefined || system === '' ? [] : [{ role: dialect.system, content: system } as WireMessage]),
      ...messages.flatMap((message) =>
        message.role === 'user' ? userMessages(message, dialect, toolNames) : [answer(message, dialect, names)],
      ),
    ],
    ...(dialect.streamUsage ? { stream_options: { include_usage: true } } : {}),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function' as const,
            function: { name: names.wire(name), description, parameters },
          })),
          tool_choice: toolChoice ?? 'auto',
        }),
    ...(schema === undefined ? {} : { response_format: format(schema, dialect) }),
    ...defined({ temperature }),
    ...(maxTokens === undefined ? {} : { [dialect.maxTokens]: maxTokens }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop: [...stop] }),
    ...(thinking === undefined || !dialect.effort ? {} : { reasoning_effort: EFFORTS[thinking] }),
  };
}

function format(schema: NonNullable<TurnRequest['schema']>, dialect: Dialect): NonNullable<Wire['response_format']> {
  if (dialect.schema === 'json_object') return { type: 'json_object', schema } as never;
  return { type: 'json_schema', json_schema: { name: 'answer', schema, strict: isStrict(schema) } };
}

/** Strict schemas name every property as required and allow no other; another schema is a hint. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  const isObject = type === 'object' || properties !== undefined;
  const names = Object.keys(properties ?? {});
  const given = Array.isArray(required) ? required : [];
  if (isObject && (additionalProperties !== false || names.some((name) => !given.includes(name)))) return false;
  return Object.values(schema).every(isStrict);
}

function namesOfCalls(messages: readonly Message[], names: WireNames): Map<string, string> {
  return new Map(messages.flatMap((message) => callsOf(message).map(({ id, name }) => [id, names.wire(name)])));
}

/** A message for each result, and one for the rest; a result's images go to the rest, since a result is text. */
function userMessages({ blocks }: UserMessage, dialect: Dialect, toolNames: Map<string, string>): WireMessage[] {
  const results = blocks.filter((block) => block.type === 'tool-result');
  const shown = results.flatMap(({ content }) => content.filter((block) => block.type === 'image'));
  const rest = [...shown, ...blocks.filter((block) => block.type !== 'tool-result')];
  const content = rest.map((block) =>
    block.type === 'text' ? { type: 'text' as const, text: block.text } : image(block),
  );
  const [only] = rest;
  const isText = rest.length === 1 && only?.type === 'text';
  return [
    ...results.map((result) => resultMessage(result, dialect, toolNames)),
    ...(rest.length === 0 ? [] : [{ role: 'user' as const, content: isText ? only.text : content }]),
  ];
}

function resultMessage(result: ToolResultBlock, dialect: Dialect, toolNames: Map<string, string>): WireMessage {
  const text = textOf(result.content);
  const said = text === '' ? '(see the image)' : text;
  const name = dialect.toolResultName ? { name: toolNames.get(result.callId) ?? '' } : {};
  return { role: 'tool', tool_call_id: result.callId, content: result.isError ? `Error: ${said}` : said, ...name };
}

const image = ({ mediaType, data }: ImageBlock): OpenAI.Chat.ChatCompletionContentPartImage => ({
  type: 'image_url',
  image_url: { url: `data:${mediaType};base64,${data}` },
});

/** Thoughts stay behind: this wire has no place where they go back. */
function answer(message: AssistantMessage, dialect: Dialect, names: WireNames): WireMessage {
  const text = textOf(message.blocks);
  const calls = callsOf(message).map(({ id, name, input, beside = {} }) => ({
    id,
    type: 'function' as const,
    function: { name: names.wire(name), arguments: JSON.stringify(input) },
    ...beside,
  }));
  const empty = { null: { content: null }, empty: { content: '' }, omit: {} }[dialect.emptyContent];
  return {
    role: 'assistant',
    ...(text === '' ? empty : { content: text }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
}
