/** A request without what it may not hold. What a model gave in a form that only its provider reads goes back as it is. */
import { maskJson, maskText, type Mask } from '../../language/secrets.ts';
import type { AnswerBlock, Message, UserBlock } from '../models/port/message.ts';
import type { Conversed } from './conversation.ts';

export function maskConversed(conversed: Conversed, masks: readonly Mask[]): Conversed {
  if (masks.length === 0) return conversed;
  const { system, messages } = conversed;
  return {
    ...(system === undefined ? {} : { system: maskText(system, masks) }),
    messages: messages.map(
      (message) => ({ ...message, blocks: message.blocks.map((block) => masked(block, masks)) }) as Message,
    ),
  };
}

function masked<Block extends UserBlock | AnswerBlock>(block: Block, masks: readonly Mask[]): Block {
  switch (block.type) {
    case 'text':
    case 'tool-call':
      return maskJson(block, masks);
    case 'tool-result':
      return { ...block, content: block.content.map((part) => masked(part, masks)) };
    case 'image':
    case 'opaque':
    case 'redacted-thinking':
    case 'thinking':
      return block;
    default:
      return block satisfies never;
  }
}
