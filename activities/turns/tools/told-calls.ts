/** Which calls of an answer are made, and which are only said. */
import type { TurnSettings } from '../../../interpreter/effect.ts';
import { textOf, type AnswerBlock, type ToolCallBlock } from '../../../world/models/port/message.ts';
import type { Tool, TurnReply } from '../../../world/models/port/turn.ts';
import { callsInText } from './text-calls.ts';

/** What the run goes on with, and calls that are not performed: of a turn that has none, or written where nobody reads them. */
export interface Told {
  blocks: AnswerBlock[];
  barred: string[];
  unread: string[];
}

export function toldBy(
  { blocks, stopReason }: TurnReply,
  { parseToolCalls, isFinal }: TurnSettings,
  tools: readonly Tool[],
): Told {
  const made = blocks.filter((block) => block.type === 'tool-call');
  const isWhole = stopReason === 'end' || stopReason === 'stop-sequence';
  const inText = made.length === 0 && isWhole ? callsInText(textOf(blocks), tools) : [];
  const read = parseToolCalls === true ? [...made, ...inText] : made;
  const unread = parseToolCalls === true || isFinal === true ? [] : namesOf(inText);
  if (isFinal !== true || read.length === 0)
    return { blocks: made.length === 0 ? [...blocks, ...read] : blocks, barred: [], unread };
  return { blocks: blocks.filter(({ type }) => type !== 'tool-call'), barred: namesOf(read), unread };
}

const namesOf = (calls: readonly ToolCallBlock[]): string[] => [...new Set(calls.map(({ name }) => name))].slice(0, 5);
