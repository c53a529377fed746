/** A request without what it may not hold. What a model gave in a form that only its provider reads goes back as it is. */
import type { Masker } from '../../language/masking/masker.ts';
import type { AnswerBlock, Message, UserBlock } from '../../world/models/port/message.ts';
import type { Conversed } from './conversation.ts';

export function maskConversed(conversed: Conversed, masker: Masker): Conversed {
  if (masker.isEmpty) return conversed;
  const { system, messages } = conversed;
  return {
    ...(system === undefined ? {} : { system: masker.text(system) }),
    messages: messages.map(
      (message) => ({ ...message, blocks: message.blocks.map((block) => masked(block, masker)) }) as Message,
    ),
  };
}

function masked<Block extends UserBlock | AnswerBlock>(block: Block, masker: Masker): Block {
  switch (block.type) {
    case 'text':
    case 'tool-call':
      return masker.json(block);
    case 'tool-result':
      return { ...block, content: block.content.map((part) => masked(part, masker)) };
    case 'image':
    case 'opaque':
    case 'redacted-thinking':
    case 'thinking':
      return block;
    default:
      return block satisfies never;
  }
}
