/**
 * A conversation, as every provider's wire is made from it and as transcripts keep it. Blocks of an answer
 * stand in the order in which the model gave them, and go back to it byte for byte.
 */
import type { Json, JsonObject } from '../../../language/json.ts';

export interface TextBlock {
  type: 'text';
  text: string;
}

export interface ImageBlock {
  type: 'image';
  mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Base64, without a `data:` prefix. */
  data: string;
}

export interface ToolCallBlock {
  type: 'tool-call';
  /** The provider's, or one of ours where it gave none; unique within its turn, not within a conversation. */
  id: string;
  /** The command's name (`code/write`) where the model named one that it was given; else what it wrote. */
  name: string;
  input: JsonObject;
  /** The arguments as the model wrote them, where they are no JSON object; `input` is empty then. */
  invalid?: string;
  /** What the provider sent with the call and wants back with it, as it was: Gemini's signature of the thought before. */
  beside?: JsonObject;
}

export interface ToolResultBlock {
  type: 'tool-result';
  /** The id of the call in the turn before. */
  callId: string;
  content: (TextBlock | ImageBlock)[];
  isError: boolean;
}

export interface ThinkingBlock {
  type: 'thinking';
  text: string;
  /** What the provider proves the thought with; absent where it signs none. */
  signature?: string;
}

export interface RedactedThinkingBlock {
  type: 'redacted-thinking';
  data: string;
}

/** A block of a kind that only its provider understands. */
export interface OpaqueBlock {
  type: 'opaque';
  data: Json;
}

export type UserBlock = TextBlock | ImageBlock | ToolResultBlock;
export type AnswerBlock = TextBlock | ToolCallBlock | ThinkingBlock | RedactedThinkingBlock | OpaqueBlock;

export interface UserMessage {
  role: 'user';
  blocks: UserBlock[];
  /** Where neither the definition nor a call said it: the name of the prompt. */
  prompt?: string;
  /** Of what a person told: who it was, and under which id. */
  by?: string;
  id?: string;
}

export interface AssistantMessage {
  role: 'assistant';
  blocks: AnswerBlock[];
  /** `provider/model` that gave it: only to that one do its thoughts, opaque blocks and what stood beside calls go back. */
  author: string;
}

export type Message = UserMessage | AssistantMessage;

export const callsOf = (message: Message): ToolCallBlock[] =>
  message.role === 'assistant' ? message.blocks.filter((block) => block.type === 'tool-call') : [];

export const textOf = (blocks: readonly (UserBlock | AnswerBlock)[]): string =>
  blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
