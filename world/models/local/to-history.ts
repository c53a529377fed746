/** A conversation as node-llama-cpp keeps one: calls stand with their results in what the model said. */
import type { ChatHistoryItem, ChatModelResponse } from 'node-llama-cpp';
import { textOf, type AssistantMessage, type Message, type ToolResultBlock } from '../port/message.ts';

export function toHistory(system: string | null, messages: readonly Message[]): ChatHistoryItem[] {
  const history: ChatHistoryItem[] = system === null ? [] : [{ type: 'system', text: system }];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'user') {
      const text = textOf(message.blocks);
      // Results have gone into the item before, and the model goes on from them.
      if (text !== '') history.push({ type: 'user', text });
      continue;
    }
    const said = response(message, resultsAfter(messages, index));
    const last = history.at(-1);
    if (last?.type === 'model') last.response.push(...said);
    else history.push({ type: 'model', response: said });
  }
  if (history.at(-1)?.type !== 'model') history.push({ type: 'model', response: [] });
  return history;
}

function resultsAfter(messages: readonly Message[], index: number): Map<string, ToolResultBlock> {
  const next = messages[index + 1];
  const results = next?.role === 'user' ? next.blocks.filter((block) => block.type === 'tool-result') : [];
  return new Map(results.map((result) => [result.callId, result]));
}

function response({ blocks }: AssistantMessage, results: Map<string, ToolResultBlock>): ChatModelResponse['response'] {
  let isFirst = true;
  return blocks.flatMap((block): ChatModelResponse['response'] => {
    if (block.type === 'text') return [block.text];
    if (block.type !== 'tool-call') return [];
    const result = results.get(block.id);
    const said = textOf(result?.content ?? []);
    const startsNewChunk = isFirst;
    isFirst = false;
    return [
      {
        type: 'functionCall',
        name: block.name,
        params: block.input,
        result: result?.isError === true ? { error: said } : said,
        startsNewChunk,
      },
    ];
  });
}
