/**
 * What a model is shown of a conversation: a view over its rows, which stay as they are. What the
 * conversation begins with (turn 0: the definition's own prompt, system and messages) is always shown.
 */
import type { PlacedMessage } from '../../../prisma/store/contract/models/conversation-contract.ts';
import type { Message, ToolResultBlock } from '../../../world/models/port/message.ts';
import { textOf } from '../../../world/models/port/message.ts';
import { clearedResult } from '../prompts/prompts.ts';
import { shortenedText } from '../../../language/models/left-out.ts';

/** Results that are this short are never left out: the words in their place would be as long. */
export const shortResultMax = 400;

export interface Plan {
  /** Results of calls in turns before this one are left out. */
  resultsBefore: number;
  /** Results of the calls of one turn are cut to so many characters each. */
  cut: { turn: number; characters: number } | null;
  /** Turns before this one are left out. */
  turnsBefore: number;
  /** What stands in their place. */
  instead: string | null;
  /** The latest summary in it. */
  summary: { turns: number; text: string } | null;
}

export const NOTHING_LEFT_OUT: Plan = { resultsBefore: 1, cut: null, turnsBefore: 1, instead: null, summary: null };

export function shown(rows: readonly PlacedMessage[], plan: Plan): PlacedMessage[] {
  const { turnsBefore, instead } = plan;
  const opening = rows.filter(({ turn }) => turn === 0);
  const kept = rows.filter(({ turn }) => turn >= Math.max(1, turnsBefore));
  return [
    ...opening,
    ...(instead === null ? [] : [{ turn: 0, part: Number.MAX_SAFE_INTEGER, message: insteadMessage(instead) }]),
    ...kept.map((row) => shownRow(row, plan)),
  ];
}

const insteadMessage = (text: string): PlacedMessage['message'] => ({ role: 'user', blocks: [{ type: 'text', text }] });

export function shownRow(
  row: PlacedMessage,
  { resultsBefore, cut }: Pick<Plan, 'resultsBefore' | 'cut'>,
): PlacedMessage {
  if (row.turn === 0) return row;
  if (row.turn < resultsBefore) return withResults(row, cleared);
  return cut?.turn === row.turn ? withResults(row, (block) => cutTo(block, cut.characters)) : row;
}

function withResults(row: PlacedMessage, change: (block: ToolResultBlock) => ToolResultBlock): PlacedMessage {
  const message = row.message as unknown as Message;
  if (message.role !== 'user' || !message.blocks.some(({ type }) => type === 'tool-result')) return row;
  const blocks = message.blocks.map((block) => (block.type === 'tool-result' ? change(block) : block));
  return { ...row, message: { ...message, blocks } as unknown as PlacedMessage['message'] };
}

function cleared(block: ToolResultBlock): ToolResultBlock {
  const text = textOf(block.content);
  const hasPicture = block.content.some(({ type }) => type === 'image');
  if (text.length <= shortResultMax && !hasPicture) return block;
  return { ...block, content: [{ type: 'text', text: clearedResult.render({ whole: text.length }) }] };
}

function cutTo(block: ToolResultBlock, characters: number): ToolResultBlock {
  const content = block.content.map((inner) =>
    inner.type === 'text' ? { ...inner, text: shortenedText(inner.text, characters) } : inner,
  );
  return { ...block, content };
}
