/** Tokens counted from text, where no provider counts them: about four characters a token. */
import type { AnswerBlock, ToolResultBlock, UserBlock } from '../port/message.ts';
import type { TurnRequest } from '../port/turn.ts';

export const CHARACTERS_A_TOKEN = 4;
/** About what a picture of a screen costs, whatever its bytes. */
const IMAGE_TOKENS = 1500;
/** What a message costs beside its text. */
export const MESSAGE_TOKENS = 4;

export const estimateLength = (characters: number): number => Math.ceil(characters / CHARACTERS_A_TOKEN);
export const estimateText = (text: string): number => estimateLength(text.length);

export function estimateBlocks(blocks: readonly (UserBlock | AnswerBlock)[]): number {
  return blocks.reduce((sum, block) => sum + estimateBlock(block), 0);
}

function estimateBlock(block: UserBlock | AnswerBlock): number {
  switch (block.type) {
    case 'text':
    case 'thinking':
      return estimateText(block.text);
    case 'image':
      return IMAGE_TOKENS;
    case 'tool-call':
      return estimateText(block.name) + estimateText(block.invalid ?? JSON.stringify(block.input));
    case 'tool-result':
      return estimateResult(block);
    case 'redacted-thinking':
      return estimateText(block.data);
    case 'opaque':
      return estimateText(JSON.stringify(block.data));
    default:
      return block satisfies never;
  }
}

const estimateResult = ({ content }: ToolResultBlock): number => estimateBlocks(content);

export function estimateRequest({ system, messages, tools, schema }: TurnRequest): number {
  const fixed = [system ?? '', ...(tools ?? []).map((tool) => JSON.stringify(tool)), JSON.stringify(schema ?? '')];
  return (
    fixed.reduce((sum, text) => sum + estimateText(text), 0) +
    messages.reduce((sum, { blocks }) => sum + MESSAGE_TOKENS + estimateBlocks(blocks), 0)
  );
}
