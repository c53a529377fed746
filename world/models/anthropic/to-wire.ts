/** A request as Anthropic's Messages API takes it. */
import type Anthropic from '@anthropic-ai/sdk';
import type { AnswerBlock, ImageBlock, Message, TextBlock, UserBlock } from '../port/message.ts';
import type { Effort, TurnRequest } from '../port/turn.ts';
import type { ModelFacts } from '../records/facts.ts';
import type { WireNames } from '../request/wire-names.ts';
import { defined } from '../../../language/defined.ts';

/** Of an answer, where neither the step nor the model's record bounds it. */
const OUTPUT_TOKENS = 32_000;

/** Tokens of thought, of the models that take a number of them. */
const BUDGETS: Readonly<Record<Exclude<Effort, 'off'>, number>> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  max: 32_000,
};
/** The answer needs room beside its thought. */
const ANSWER_TOKENS_MIN = 1024;

export function toWire(
  request: TurnRequest,
  facts: ModelFacts,
  names: WireNames,
): Anthropic.MessageCreateParamsStreaming {
  const { system, tools, stop, schema, cache, thinking } = request;
  const mark = cache === undefined ? {} : { cache_control: { type: 'ephemeral' as const, ttl: cache } };
  const room = Math.min(facts.maxOutput ?? OUTPUT_TOKENS, request.maxTokens ?? OUTPUT_TOKENS);
  const thoughts = thinkingOf(thinking, facts, room);
  const effort = effortOf(thinking, facts);
  const format = schema === undefined ? {} : { format: { type: 'json_schema' as const, schema } };
  const output = { ...effort, ...format };
  return {
    model: request.model,
    max_tokens: thoughts.maxTokens,
    stream: true,
    messages: request.messages.map((message) => toMessage(message, names)),
    ...(system === undefined || system === '' ? {} : { system: [{ type: 'text', text: system, ...mark }] }),
    ...(tools === undefined
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            name: names.wire(name),
            description,
            input_schema: { ...parameters, type: 'object' as const },
          })),
          tool_choice: toolChoice(request),
        }),
    ...(stop === undefined || stop.length === 0 ? {} : { stop_sequences: [...stop] }),
    ...thoughts.thinking,
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...defined({ temperature: request.temperature }),
    // Without a block of its own it marks the last one that can be kept.
    ...mark,
  };
}

function toolChoice({ toolChoice: choice }: TurnRequest): Anthropic.ToolChoice {
  return { type: choice === 'required' ? 'any' : (choice ?? 'auto') };
}

function effortOf(effort: Effort | undefined, { thinking }: ModelFacts): { effort?: Exclude<Effort, 'off'> } {
  if (effort === undefined || effort === 'off' || thinking === null || thinking.kind === 'budget') return {};
  return { effort };
}

function thinkingOf(
  effort: Effort | undefined,
  facts: ModelFacts,
  room: number,
): { maxTokens: number; thinking: { thinking?: Anthropic.ThinkingConfigParam } } {
  const kind = facts.thinking?.kind;
  if (effort === undefined || kind === undefined || kind === 'effort') return { maxTokens: room, thinking: {} };
  if (effort === 'off') return { maxTokens: room, thinking: { thinking: { type: 'disabled' } } };
  if (kind !== 'budget')
    return { maxTokens: room, thinking: { thinking: { type: 'adaptive', display: 'summarized' } } };
  const wanted = Math.min(BUDGETS[effort], (facts.maxOutput ?? OUTPUT_TOKENS) - ANSWER_TOKENS_MIN);
  // What the step asked for is room for the answer; the thought comes on top, as far as the model goes.
  const maxTokens = Math.min(facts.maxOutput ?? OUTPUT_TOKENS, room + wanted);
  const budget = Math.max(1024, Math.min(wanted, maxTokens - Math.min(room, ANSWER_TOKENS_MIN)));
  return { maxTokens, thinking: { thinking: { type: 'enabled', budget_tokens: budget } } };
}

function toMessage(message: Message, names: WireNames): Anthropic.MessageParam {
  if (message.role === 'user') return { role: 'user', content: message.blocks.map(toUserBlock) };
  return { role: 'assistant', content: message.blocks.map((block) => toAnswerBlock(block, names)) };
}

function toUserBlock(block: UserBlock): Anthropic.ContentBlockParam {
  if (block.type !== 'tool-result') return toContent(block);
  return {
    type: 'tool_result',
    tool_use_id: block.callId,
    content: block.content.map(toContent),
    ...(block.isError ? { is_error: true } : {}),
  };
}

function toContent(block: TextBlock | ImageBlock): Anthropic.TextBlockParam | Anthropic.ImageBlockParam {
  if (block.type === 'text') return { type: 'text', text: block.text };
  return { type: 'image', source: { type: 'base64', media_type: block.mediaType, data: block.data } };
}

function toAnswerBlock(block: AnswerBlock, names: WireNames): Anthropic.ContentBlockParam {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'tool-call':
      return { type: 'tool_use', id: block.id, name: names.wire(block.name), input: block.input };
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: block.signature ?? '' };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'opaque':
      return block.data as unknown as Anthropic.ContentBlockParam;
    default:
      return block satisfies never;
  }
}
