/**
 * A conversation as a provider takes it, from one as it was stored. What is stored does not change:
 *
 * - each call has a result, in the order of the calls, at the head of the next message (a call that was
 *   interrupted gets one that says so), and each result has a call;
 * - call ids are unique in the conversation and of characters that every provider takes;
 * - thoughts and opaque blocks go to the model that gave them, and to no other;
 * - no empty text, no empty message; what the user says in a row is one message, and the first is the user's.
 */
import type {
  AnswerBlock,
  AssistantMessage,
  Message,
  TextBlock,
  ToolCallBlock,
  ToolResultBlock,
  UserBlock,
  UserMessage,
} from '../port/message.ts';
import { callsOf } from '../port/message.ts';

const INTERRUPTED = 'The call was interrupted, and its outcome is not known.';
const ID = /^[A-Za-z0-9_-]{1,64}$/;

export function mendMessages(stored: readonly Message[], author: string): Message[] {
  const messages = joined(stored.map((message) => withoutEmpty(forReader(message, author))));
  const ids = new Set<string>();
  const mended: Message[] = [];
  let calls: ToolCallBlock[] = [];
  let renamed = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'user') {
      mended.push(answering(message, calls, renamed));
      calls = [];
      continue;
    }
    if (calls.length > 0) mended.push(answering({ role: 'user', blocks: [] }, calls, renamed));
    calls = callsOf(message);
    renamed = newIds(calls, ids, mended.length);
    mended.push(withIds(message, renamed));
  }
  if (calls.length > 0) mended.push(answering({ role: 'user', blocks: [] }, calls, renamed));
  return mended.filter(({ blocks }) => blocks.length > 0);
}

function joined(messages: readonly Message[]): Message[] {
  const all: Message[] = [];
  for (const message of messages.filter(({ blocks }) => blocks.length > 0)) {
    const last = all.at(-1);
    if (last?.role === 'user' && message.role === 'user')
      all[all.length - 1] = { role: 'user', blocks: [...last.blocks, ...message.blocks] };
    else all.push(message);
  }
  if (all[0]?.role === 'assistant') all.unshift({ role: 'user', blocks: [{ type: 'text', text: '(continued)' }] });
  return all;
}

function forReader(message: Message, author: string): Message {
  if (message.role === 'user' || message.author === author) return message;
  const blocks = message.blocks.flatMap((block): AnswerBlock[] => {
    if (block.type === 'text') return [block];
    if (block.type !== 'tool-call') return [];
    const { beside: _beside, ...call } = block;
    return [call];
  });
  return { ...message, blocks };
}

const isEmptyText = (block: UserBlock | AnswerBlock): boolean => block.type === 'text' && block.text.trim() === '';

function withoutEmpty(message: Message): Message {
  if (message.role === 'user') return { ...message, blocks: message.blocks.filter((block) => !isEmptyText(block)) };
  const blocks = message.blocks.filter((block) => !isEmptyText(block));
  const says = blocks.some(({ type }) => type !== 'thinking' && type !== 'redacted-thinking');
  // An answer that was cut while it was thought about is no answer that could be gone on with.
  return { ...message, blocks: says ? blocks : [] };
}

function answering(
  { blocks }: UserMessage,
  calls: readonly ToolCallBlock[],
  renamed: Map<string, string>,
): UserMessage {
  const results = new Map<string, ToolResultBlock>();
  const rest: UserBlock[] = [];
  for (const block of blocks) {
    if (block.type === 'tool-result') results.set(block.callId, block);
    else rest.push(block);
  }
  const given = calls.map(({ id }): ToolResultBlock => {
    const result = results.get(id);
    const callId = renamed.get(id) ?? id;
    if (result === undefined) return { type: 'tool-result', callId, content: [plain(INTERRUPTED)], isError: true };
    const content = result.content.filter((block) => !isEmptyText(block));
    return { ...result, callId, content: content.length > 0 ? content : [plain('(no output)')] };
  });
  return { role: 'user', blocks: [...given, ...rest] };
}

const plain = (text: string): TextBlock => ({ type: 'text', text });

function newIds(calls: readonly ToolCallBlock[], taken: Set<string>, turn: number): Map<string, string> {
  const ids = new Map<string, string>();
  for (const [index, { id }] of calls.entries()) {
    const fits = ID.test(id) && !taken.has(id);
    const used = fits ? id : `call_${turn}_${index}`;
    taken.add(used);
    ids.set(id, used);
  }
  return ids;
}

function withIds(message: AssistantMessage, ids: Map<string, string>): AssistantMessage {
  const blocks = message.blocks.map((block) =>
    block.type === 'tool-call' ? { ...block, id: ids.get(block.id) ?? block.id } : block,
  );
  return { ...message, blocks };
}
