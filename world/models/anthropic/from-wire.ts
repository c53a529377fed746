/** The events of an answer of Anthropic's Messages API, into an answer of ours. */
import type Anthropic from '@anthropic-ai/sdk';
import type { Json, JsonObject } from '../../../language/json.ts';
import type { Assembler, Ending } from '../answer/assembler.ts';
import { truncated } from '../http/call.ts';
import type { Guard } from '../http/guard.ts';
import { objectOf, textOf } from '../http/fields.ts';
import type { StopReason, TurnReply } from '../port/turn.ts';

const REASONS: Readonly<Record<Anthropic.StopReason, StopReason>> = {
  end_turn: 'end',
  tool_use: 'tool-calls',
  max_tokens: 'max-tokens',
  stop_sequence: 'stop-sequence',
  pause_turn: 'pause',
  refusal: 'refusal',
  model_context_window_exceeded: 'window-full',
};

type Counted = Partial<Record<keyof Anthropic.MessageDeltaUsage, unknown>> | null | undefined;

export async function readEvents(
  events: AsyncIterable<Anthropic.RawMessageStreamEvent>,
  assembler: Assembler,
  asked: { name: string; model: string; guard: Pick<Guard, 'requestId' | 'keep'> },
): Promise<Omit<TurnReply, 'author' | 'omitted'>> {
  let { model } = asked;
  let reason: StopReason | null = null;
  let isComplete = false;
  let counts: JsonObject = {};
  for await (const event of events) {
    switch (event.type) {
      case 'message_start':
        model = event.message.model;
        counts = later(counts, event.message.usage);
        break;
      case 'content_block_start':
        startBlock(assembler, String(event.index), event.content_block);
        break;
      case 'content_block_delta':
        addDelta(assembler, String(event.index), event.delta);
        break;
      case 'message_delta':
        // It counts from the beginning of the message: what it says replaces what was said before.
        counts = later(counts, event.usage);
        if (event.delta.stop_reason !== null) reason = REASONS[event.delta.stop_reason] ?? 'end';
        break;
      case 'message_stop':
        isComplete = true;
        break;
      case 'content_block_stop':
        break;
      default:
        event satisfies never;
    }
    assembler.heard(usageOf(counts));
  }
  if (!isComplete || reason === null) throw truncated(asked.name);
  await asked.guard.keep();
  return assembler.finish({ reason, usage: usageOf(counts), model, requestId: asked.guard.requestId });
}

/** A message that was not streamed, as it would have been. */
export function messageEvents(answer: JsonObject): JsonObject[] | null {
  const { content, stop_reason: reason = null, usage = null } = answer;
  if (!Array.isArray(content)) return null;
  return [
    { type: 'message_start', message: answer },
    ...content.map((block, index) => ({ type: 'content_block_start', index, content_block: block })),
    { type: 'message_delta', delta: { stop_reason: reason }, usage },
    { type: 'message_stop' },
  ];
}

function startBlock(
  assembler: Assembler,
  key: string,
  block: Anthropic.RawContentBlockStartEvent['content_block'],
): void {
  if (block.type === 'text') assembler.text(key, block.text);
  else if (block.type === 'thinking') {
    assembler.thinking(key, block.thinking);
    if (textOf(block.signature) !== '') assembler.signature(key, block.signature);
  } else if (block.type === 'redacted_thinking') assembler.redacted(key, block.data);
  else if (block.type === 'tool_use') {
    const given = (block.input ?? {}) as JsonObject;
    const input = Object.keys(given).length === 0 ? {} : { arguments: given };
    assembler.call(key, { id: block.id, name: block.name, ...input });
  } else assembler.opaque(key, block as unknown as Json);
}

function addDelta(assembler: Assembler, key: string, delta: Anthropic.RawContentBlockDelta): void {
  switch (delta.type) {
    case 'text_delta':
      assembler.text(key, delta.text);
      break;
    case 'thinking_delta':
      assembler.thinking(key, delta.thinking);
      break;
    case 'signature_delta':
      assembler.signature(key, delta.signature);
      break;
    case 'input_json_delta':
      assembler.call(key, { arguments: delta.partial_json });
      break;
    case 'citations_delta':
      break;
    default:
      delta satisfies never;
  }
}

function later(before: JsonObject, said: Counted): JsonObject {
  const given = Object.entries(said ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...before, ...Object.fromEntries(given as [string, Json][]) };
}

function usageOf(counts: JsonObject): Ending['usage'] {
  if (counts['output_tokens'] === undefined) return null;
  return {
    input: counts['input_tokens'],
    output: counts['output_tokens'],
    cacheRead: counts['cache_read_input_tokens'],
    cacheWrite: counts['cache_creation_input_tokens'],
    thinking: objectOf(counts['output_tokens_details'])['thinking_tokens'],
  };
}
