/**
 * What a model is told besides its prompt. It is put together once, before the first turn is asked, and is a
 * row of the conversation from then on, with what was left out and why: whoever takes the turn again, on this
 * worker or another, tells the model the same.
 */
import type { TurnRequest } from '../../interpreter/contract.ts';
import type { LeftOut } from '../../language/models/left-out.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/json.ts';
import type { Conversations, PlacedMessage } from '../../prisma/store/contract/models/conversation-contract.ts';
import type { Tool } from '../../world/models/port/turn.ts';
import type { ModelFacts } from '../../world/models/records/facts.ts';
import { estimateRequest } from '../../world/models/request/estimate.ts';
import { fitContext, roomFor, type ContextPart } from '../../world/models/request/fit-context.ts';
import { CONTEXT, readRows } from './conversation.ts';
import { context as prompt } from './prompts/prompts.ts';

interface Asked {
  rows: readonly PlacedMessage[];
  facts: Pick<ModelFacts, 'window'>;
  tools: readonly Tool[];
}

/** The conversation with its context, and which of our prompts that is. */
export async function withContext(
  conversations: Conversations,
  request: TurnRequest,
  handle: string,
  { rows, facts, tools }: Asked,
): Promise<{ rows: readonly PlacedMessage[]; prompts: { [name: string]: number } }> {
  const { conversation, turn, opening, settings } = request;
  const context = opening?.context;
  if (turn !== 1 || context === undefined) return { rows, prompts: {} };
  const of = { handle, conversation };
  const prompts = { [prompt.name]: prompt.version };
  if (rows.some(({ part }) => part === CONTEXT)) return { rows, prompts };
  const collected = context.sources === undefined ? NOTHING : await collectedAs(conversations, handle, context.sources);
  const schema = isJsonObject(settings.schema) ? { schema: settings.schema } : {};
  const sent = estimateRequest({ ...readRows(rows), ...schema, model: request.model, tools });
  const room = roomFor({ window: facts.window, sent, maxTokens: settings.maxTokens, hasTools: tools.length > 0 });
  const variables = context.variables.map(({ name, text }) => ({ name: `variable ${name}`, text }));
  const { parts, put, leftOut } = fitContext({ variables, sources: collected.parts }, room);
  const missing: LeftOut[] = [...leftOut, ...context.leftOut, ...collected.leftOut];
  if (parts.length === 0 && missing.length === 0) return { rows, prompts: {} };
  const message: JsonObject = {
    role: 'user',
    blocks: parts.length === 0 ? [] : [{ type: 'text', text: prompt.render({ parts }) }],
    context: { room, put, leftOut: missing } as unknown as Json,
  };
  await conversations.add(of, [{ turn: 0, part: CONTEXT, message }]);
  return { rows: await conversations.read(of, turn), prompts };
}

export interface Collected {
  parts: ContextPart[];
  leftOut: LeftOut[];
}

const NOTHING: Collected = { parts: [], leftOut: [] };

/** What `rag/build` has collected under this key. */
async function collectedAs(conversations: Conversations, handle: string, key: string): Promise<Collected> {
  const [row] = await conversations.read({ handle, conversation: key });
  if (row === undefined)
    return { parts: [], leftOut: [{ name: 'sources', why: `nothing was collected for this pass (${key})` }] };
  const { blocks, leftOut } = row.message;
  return {
    parts: (Array.isArray(blocks) ? blocks.filter(isJsonObject) : []).map(({ name, text }) => ({
      name: typeof name === 'string' ? name : 'source',
      text: typeof text === 'string' ? text : '',
    })),
    leftOut: (Array.isArray(leftOut) ? leftOut : []) as unknown as LeftOut[],
  };
}
